import { isUtf8 } from 'node:buffer';
import { closeSync, fstatSync, openSync, readFileSync, readSync, type Stats } from 'node:fs';
import { type CofferError, placed, unavailable } from './errors.ts';

const ANY_RIGHT = 0o077;
const ALL_BUT_READING_BY_GROUP = 0o037;
const WRITING = 0o022;
const ROOT = 0;
/** Mode of a file with a secret, for "chmod". */
const PRIVATE = '600';
/** Paths of inherited descriptors: the process that opened them is responsible. */
const HANDED_OVER = /^\/(?:dev\/(?:stdin|fd\/\d+)|proc\/(?:self|thread-self|\d+)\/fd\/\d+)$/;

/** Begins the hint for a file that was probably named by mistake. */
export const UNLIKELY = 'check the path: this does not look like a file with a secret';

/**
 * Refuses a file with a secret that other users may read or write, like PostgreSQL and ssh: only its owner may, who
 * must be the user of this process or root; a file of root may be readable for its group. Pipes and other special files
 * have no such permissions, nor has any file on platforms without numeric users (Windows).
 * @param field parameter that names the file
 * @throws `unavailable` with the command that fixes it
 * @see docs/decisions/0115
 */
export function refuseExposed(path: string, stats: Stats, field?: string): void {
  const forbidden = stats.uid === ROOT ? ALL_BUT_READING_BY_GROUP : ANY_RIGHT;
  refuseOthers(path, stats, { forbidden, mend: PRIVATE, field });
}

/**
 * Whether the owner of a file or link is trusted: the user of this process, or root. Without numeric users (Windows),
 * every owner is.
 * @param behind user who became root with sudo, as Git accepts it
 */
export function isOfTrustedOwner({ uid }: Pick<Stats, 'uid'>, behind?: number): boolean {
  const own = process.geteuid?.();
  if (own === undefined || uid === own || uid === ROOT) return true;
  return own === ROOT && uid === behind;
}

/** Like `refuseExposed`, for a file that other users may read, but not write. */
export function refuseWritable(path: string, stats: Stats, field?: string): void {
  refuseOthers(path, stats, { forbidden: WRITING, mend: 'go-w', field });
}

/**
 * Reads a file with a secret.
 * @throws as `refuseExposed`; the platform's error if it cannot be read
 */
export function readPrivateFile(path: string, field?: string): string {
  const descriptor = openSync(path, 'r');
  try {
    refuseExposed(path, fstatSync(descriptor), field);
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}

/** Number of bytes at the beginning of a file that tell whether it may be a secret. */
const HEAD_BYTES = 4096;
/**
 * What files with secrets of several lines contain: private keys in PEM, of age and its plugins, recovery shares, and
 * passwords as in `.pgpass` (host:port:database:user:password).
 */
const SECRET_OF_LINES =
  /PRIVATE KEY|AGE-(?:SECRET-KEY|PLUGIN)-|^coffer-share\.|^[^:\n]+:(?:\d+|\*):[^:\n]+:[^:\n]+:[^:\n]+$/im;

/** Whether a file may be one with a secret: a text of one line, bytes, or private keys; true if it cannot be read. */
function mayBeSecret(path: string): boolean {
  const head = Buffer.alloc(HEAD_BYTES);
  try {
    const descriptor = openSync(path, 'r');
    try {
      const bytes = head.subarray(0, readSync(descriptor, head, 0, HEAD_BYTES, 0));
      const text = bytes.toString('latin1').trim();
      return !text.includes('\n') || SECRET_OF_LINES.test(text) || !isUtf8(bytes);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return true;
  } finally {
    head.fill(0);
  }
}

interface ModeRule {
  readonly forbidden: number;
  readonly mend: string;
  readonly field: string | undefined;
}

/**
 * Checks owner and permissions.
 * @param mend argument of "chmod" in the hint
 */
function refuseOthers(path: string, stats: Stats, { forbidden, mend, field }: ModeRule): void {
  const own = process.geteuid?.();
  if (own === undefined || !stats.isFile() || HANDED_OVER.test(path)) return;
  const { uid, mode } = stats;
  // Other programs need a file that was named by mistake, such as /etc/passwd, with the permissions that it has.
  const isOther = (): boolean => mend === PRIVATE && !mayBeSecret(path);
  const refused = (reason: string): CofferError =>
    unavailable(placed`${{ file: path }} ${reason}`, {
      field,
      hint: isOther()
        ? `${UNLIKELY}; such a file must be readable only by its owner`
        : uid === own
          ? placed`run "chmod ${mend} ${{ file: path }}"`
          : placed`run "chown ${own} ${{ file: path }} && chmod ${mend} ${{ file: path }}" as root`,
    });
  if (uid !== own && uid !== ROOT) throw refused(`belongs to user ${uid}, you are user ${own}`);
  if ((mode & forbidden) !== 0) throw refused(`can be ${mode & WRITING ? 'written' : 'read'} by others`);
}
