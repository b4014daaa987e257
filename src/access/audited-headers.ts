/** Which headers of requests stand in the audit trail. */

import { invalid } from '../ground/errors.ts';
import { ownWords } from '../ground/own-words.ts';
import { deleteIfThere } from '../store/delete-if-there.ts';
import type { Store } from '../store/store.ts';

const DOCUMENT = { collection: 'sys', id: 'audited-headers' } as const;
/** Each of them is looked for in every request. */
const MOST_HEADERS = 100;
/** A token of RFC 9110, which is all that can be the name of a header. */
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]{1,128}$/;
/** These carry what somebody gets in with. They are hashed, whatever was said. */
const SECRET: readonly string[] = ['authorization', 'cookie', 'proxy-authorization', 'x-vault-token'];

/** How one header is told. */
export interface AuditedHeader {
  /** As a keyed hash, as values of parameters are. */
  readonly hmac: boolean;
}

/** By name, in lower case. */
export type AuditedHeaders = Readonly<Record<string, AuditedHeader>>;

/** As the protocol hands them over: names in lower case. */
export type SentHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A header of a request that is to be recorded. */
export interface RecordedHeader extends AuditedHeader {
  readonly name: string;
  readonly values: readonly string[];
}

const NONE: AuditedHeaders = {};
const NOTHING: readonly RecordedHeader[] = [];

export class HeadersInTrail {
  readonly #store: Store;
  #revision = '';
  #headers = NONE;

  constructor(store: Store) {
    this.#store = store;
  }

  read(): Promise<AuditedHeaders> {
    return this.#store.read(async (view) => (await view.get<AuditedHeaders>(DOCUMENT)) ?? NONE);
  }

  /**
   * Has a header recorded from now on.
   * @param name in any case.
   * @throws `invalid` for what no header is called, for one more than a hundred, and for credentials in clear.
   */
  async write(name: string, hmac: boolean): Promise<void> {
    const known = name.toLowerCase();
    if (!NAME.test(known)) throw invalid(ownWords('that is not the name of a header'), { field: 'header' });
    if (!hmac && SECRET.includes(known)) {
      throw invalid(`${known} holds credentials, which are not recorded in clear`, {
        field: 'hmac',
        hint: 'set hmac to true',
      });
    }
    await this.#store.transact(async (tx) => {
      const { [known]: _, ...others } = (await tx.get<AuditedHeaders>(DOCUMENT)) ?? NONE;
      if (Object.keys(others).length >= MOST_HEADERS) {
        throw invalid(`at most ${MOST_HEADERS} headers can be recorded`, { field: 'header' });
      }
      tx.put(DOCUMENT, { ...others, [known]: { hmac } });
    });
  }

  /** One that is not recorded is no error. */
  async remove(name: string): Promise<void> {
    const known = name.toLowerCase();
    await this.#store.transact(async (tx) => {
      const before = (await tx.get<AuditedHeaders>(DOCUMENT)) ?? NONE;
      if (!Object.hasOwn(before, known)) return;
      const { [known]: _, ...others } = before;
      if (Object.keys(others).length === 0) await deleteIfThere(tx, DOCUMENT);
      else tx.put(DOCUMENT, others);
    });
  }

  /** Whether `of` knows what holds at a revision of the store. */
  isAsOf(revision: string): boolean {
    return revision === this.#revision;
  }

  /** Reads what holds. @param revision the store's, since the request came in. */
  async follow(revision: string): Promise<void> {
    this.#headers = await this.read();
    this.#revision = revision;
  }

  /** Those of a request that are to be recorded, as of the revision that was read last. */
  of(sent: SentHeaders | undefined): readonly RecordedHeader[] {
    if (sent === undefined || this.#headers === NONE) return NOTHING;
    return Object.entries(this.#headers).flatMap(([name, { hmac }]) => {
      const value = Object.hasOwn(sent, name) ? sent[name] : undefined;
      return value === undefined ? [] : [{ name, hmac, values: [value].flat() }];
    });
  }
}
