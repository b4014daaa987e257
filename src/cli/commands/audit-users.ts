import { meantText, nearest } from '../../ground/nearness.ts';
import type { Session } from '../session.ts';
import { type AuditEntry, HASH_PREFIX, loginName, SHORT_ACCESSOR, userText } from './audit-table.ts';

/** Names of an audit log that are kept to find one that is near to a mistyped one. */
const MOST_NAMES = 10_000;

/** Users of an audit log, of which one may be asked for by any name that a table shows. */
export class AuditUsers {
  readonly #asked: string | undefined;
  readonly #names = new Set<string>();
  #isFound = false;

  /**
   * Creates it.
   * @param asked name of a user or token; undefined to accept all
   */
  constructor(asked: string | undefined) {
    this.#asked = asked;
  }

  /** Takes note of a request, whether it is shown or not. */
  see(entry: AuditEntry): void {
    if (this.#asked === undefined || this.#isFound) return;
    this.#isFound = this.accepts(entry);
    if (this.#names.size >= MOST_NAMES) return;
    // The display name of a login begins with the name of its method.
    const names = [entry.who, entry.who.replace(/^[^-]*-/, ''), userText(entry), loginName(entry.path) ?? ''];
    for (const name of names) if (name !== '' && name !== '-') this.#names.add(name);
  }

  /** Whether a request is of the user. */
  accepts(entry: AuditEntry): boolean {
    const asked = this.#asked;
    const { who, accessor, path } = entry;
    if (asked === undefined || who === asked || accessor === asked || userText(entry) === asked) return true;
    const bare = accessor.replace(HASH_PREFIX, '');
    if (asked.length >= SHORT_ACCESSOR && bare.startsWith(asked)) return true;
    // A login itself has no token yet.
    return who.endsWith(`-${asked}`) || loginName(path)?.toLowerCase() === asked.toLowerCase();
  }

  /**
   * Says that the log has no request of the user, which an empty result alone would not tell from one whose requests
   * the other options exclude.
   * @param log the log in messages
   */
  sayIfMissing(session: Session, log: string): void {
    if (this.#asked === undefined || this.#isFound) return;
    const near = nearest(this.#asked, [...this.#names]);
    const meant = near.length === 0 ? '' : ` (${meantText(near)})`;
    session.say(`No requests of user "${this.#asked}" in ${log}${meant}`);
  }
}
