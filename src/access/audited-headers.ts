/** Request headers that are recorded in the audit log. */

import { invalid, ownWords } from '../ground/errors.ts';
import { deleteIfThere, type Store } from '../store/store.ts';

const DOCUMENT = { collection: 'sys', id: 'audited-headers' } as const;
/** Maximum number of recorded headers, because each is looked up in every request. */
const MOST_HEADERS = 100;
/** Token of RFC 9110, the syntax of header names. */
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]{1,128}$/;
/** Headers with credentials. They are always hashed. */
const SECRET: readonly string[] = ['authorization', 'cookie', 'proxy-authorization', 'x-vault-token'];

/** Setting of one header. */
export interface AuditedHeader {
  /** Whether to record a keyed hash, as for parameters. */
  readonly hmac: boolean;
}

/** Settings by header name, in lower case. */
type AuditedHeaders = Readonly<Record<string, AuditedHeader>>;

/** Headers as received: names in lower case. */
export type SentHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Request header to record. */
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
   * Adds a header, or changes its setting.
   * @param name case-insensitive
   * @throws `invalid` for a malformed name, for more than a hundred headers, and for credentials in the clear
   */
  async write(name: string, hmac: boolean): Promise<void> {
    const known = name.toLowerCase();
    if (!NAME.test(known)) throw invalid(ownWords('not a valid header name'), { field: 'header' });
    if (!hmac && SECRET.includes(known)) {
      throw invalid(`${known} contains credentials: it can only be recorded as a hash`, {
        field: 'hmac',
        hint: 'use hmac=true',
      });
    }
    await this.#store.transact(async (tx) => {
      const { [known]: _, ...others } = (await tx.get<AuditedHeaders>(DOCUMENT)) ?? NONE;
      if (Object.keys(others).length >= MOST_HEADERS) {
        throw invalid(`at most ${MOST_HEADERS} headers can be recorded in the audit log`, {
          field: 'header',
        });
      }
      tx.put(DOCUMENT, { ...others, [known]: { hmac } });
    });
  }

  /** Removes a header; succeeds if it is not recorded. */
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

  /**
   * Reads the settings that `of` uses; undefined if they are known.
   * @param revision the store's revision, read after the request arrived
   */
  follow(revision: string): Promise<void> | undefined {
    if (revision === this.#revision) return undefined;
    return this.read().then((headers) => {
      this.#headers = headers;
      this.#revision = revision;
    });
  }

  /** Returns the headers of a request to record, by the settings that were read last. */
  of(sent: SentHeaders | undefined): readonly RecordedHeader[] {
    if (sent === undefined || this.#headers === NONE) return NOTHING;
    return Object.entries(this.#headers).flatMap(([name, { hmac }]) => {
      const value = Object.hasOwn(sent, name) ? sent[name] : undefined;
      return value === undefined ? [] : [{ name, hmac, values: [value].flat() }];
    });
  }
}
