import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';

/** A store as an earlier release made it, with all that is known of what is in it. Bytes are hexadecimal. */
export interface EarlierStore {
  readonly about: string;
  /** As COFFER_MASTER_KEY has it. */
  readonly masterKey: string;
  readonly passphrase: string;
  readonly keyFile: string;
  /** Any two open it. */
  readonly shares: readonly string[];
  /** Of the policy `orders`. */
  readonly token: string;
  readonly rootToken: string;
  readonly policy: string;
  /** In the default mount. */
  readonly keys: readonly string[];
  readonly encrypted: readonly {
    readonly key: string;
    readonly plaintext: string;
    readonly context?: string;
    readonly mount?: string;
    readonly ciphertext: string;
  }[];
  readonly signed: readonly { readonly key: string; readonly input: string; readonly signature: string }[];
  readonly hmacs: readonly { readonly key: string; readonly input: string; readonly hmac: string }[];
  /** Of the second version, as PEM or base64. */
  readonly publicKeys: Readonly<Record<string, string>>;
  /** A small file. */
  readonly envelope: string;
  readonly backup: string;
  /** By their paths. */
  readonly files: Readonly<Record<string, string>>;
  /** What is different where a writer was killed after it had decided on a workspace `late`, and before it was in its place. */
  readonly interrupted: {
    readonly added: Readonly<Record<string, string>>;
    readonly removed: readonly string[];
  };
}

export const EARLIER_STORES = fileURLToPath(new URL('../vectors/earlier-stores/', import.meta.url));

/** Compressed JSON: a backup has the same bytes as the files once more. */
export const fileOf = (commit: string): string => join(EARLIER_STORES, `${commit}.json.br`);

export const earlierStore = (commit: string): EarlierStore =>
  JSON.parse(brotliDecompressSync(readFileSync(fileOf(commit))).toString()) as EarlierStore;
