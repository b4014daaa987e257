/** Web pages that may use the API from a browser (Fetch standard, "CORS protocol"). */

import { invalid, ownWords } from '../ground/errors.ts';
import { deleteIfThere, type Store } from '../store/store.ts';

const DOCUMENT = { collection: 'sys', id: 'cors' } as const;

export interface CorsSettings {
  /** Origins as browsers send them, or only `*` for any. */
  readonly origins: readonly string[];
  /** Allowed headers, besides those that Vault clients send. */
  readonly headers: readonly string[];
  readonly allowsCredentials: boolean;
}

const ANY = '*';

/** Reads the settings; undefined while CORS is disabled, which changes no response. */
export const readCors = (store: Store): Promise<CorsSettings | undefined> =>
  store.read((view) => view.get<CorsSettings>(DOCUMENT));

/**
 * Writes the settings.
 * @throws `invalid` with Vault's messages
 */
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

/** Headers that Vault clients send. */
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
