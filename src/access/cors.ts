/** Which web pages may use the API from within a browser (Fetch standard, "CORS protocol"). */

import { invalid } from '../ground/errors.ts';
import { ownWords } from '../ground/own-words.ts';
import { deleteIfThere } from '../store/delete-if-there.ts';
import type { Store } from '../store/store.ts';

const DOCUMENT = { collection: 'sys', id: 'cors' } as const;

export interface CorsSettings {
  /** As browsers send them, or `*` alone for any. */
  readonly origins: readonly string[];
  /** Beside those that clients of the family send. */
  readonly headers: readonly string[];
  readonly allowsCredentials: boolean;
}

const ANY = '*';

/** Undefined while no page may use it: then nothing is different for anybody. */
export const readCors = (store: Store): Promise<CorsSettings | undefined> =>
  store.read((view) => view.get<CorsSettings>(DOCUMENT));

/** @throws `invalid` in the words of the family. */
export async function writeCors(store: Store, settings: CorsSettings): Promise<void> {
  const { origins } = settings;
  if (origins.length === 0) {
    throw invalid(ownWords('at least one origin or the wildcard must be provided'), {
      field: 'allowed_origins',
    });
  }
  if (origins.includes(ANY) && origins.length > 1) {
    throw invalid(ownWords("to allow all origins the '*' must be the only value for allowed_origins"), {
      field: 'allowed_origins',
    });
  }
  await store.transact(async (tx) => tx.put(DOCUMENT, settings));
}

export async function removeCors(store: Store): Promise<void> {
  await store.transact((tx) => deleteIfThere(tx, DOCUMENT));
}

export const allowsOrigin = ({ origins }: CorsSettings, origin: string): boolean =>
  origins.includes(ANY) || origins.includes(origin);

/** What clients of the family send. */
const USUAL_HEADERS = [
  'Content-Type',
  'Authorization',
  'X-Vault-Token',
  'X-Vault-MFA',
  'X-Vault-No-Request-Forwarding',
  'X-Vault-Wrap-Format',
  'X-Vault-Wrap-TTL',
  'X-Vault-AWS-IAM-Server-ID',
  'X-Vault-Policy-Override',
  'X-Requested-With',
] as const;

export const allowedHeaders = ({ headers }: CorsSettings): readonly string[] => [
  ...USUAL_HEADERS,
  ...headers,
];
