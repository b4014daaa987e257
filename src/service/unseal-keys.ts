import { decodeBase64, encodeBase64 } from '../ground/base64.ts';
import { utf8, wipe } from '../ground/bytes.ts';
import { tryParseMasterKey } from '../store/master-key.ts';
import type { Credential } from '../store/slots/credential.ts';

/**
 * Unseal key. An unsealed server keeps the keys that unsealed it, because a process that exits has to be replaced; as
 * bytes, so that `forget` can overwrite them.
 * @see docs/decisions/0064
 */
export type UnsealKey =
  | { readonly kind: 'raw' | 'key-file' | 'command' | 'passphrase'; readonly bytes: Uint8Array }
  | { readonly kind: 'shares'; readonly texts: readonly Uint8Array[] };

/** Unseal key as plain JSON, for another process. Bytes are in base64. */
export type SentUnsealKey =
  | { readonly kind: 'raw' | 'key-file' | 'command' | 'passphrase'; readonly bytes: string }
  | { readonly kind: 'shares'; readonly texts: readonly string[] };

export const printKeys = (keys: readonly UnsealKey[]): readonly SentUnsealKey[] =>
  keys.map((key) =>
    key.kind === 'shares'
      ? { kind: key.kind, texts: key.texts.map(encodeBase64) }
      : { kind: key.kind, bytes: encodeBase64(key.bytes) },
  );

export const parseKeys = (keys: readonly SentUnsealKey[]): readonly UnsealKey[] =>
  keys.map((key) =>
    key.kind === 'shares'
      ? { kind: key.kind, texts: key.texts.map((text) => decodeBase64(text)) }
      : { kind: key.kind, bytes: decodeBase64(key.bytes) },
  );

/** Overwrites keys that are no longer needed. */
export function forget(keys: readonly UnsealKey[]): void {
  for (const key of keys) wipe(...(key.kind === 'shares' ? key.texts : [key.bytes]));
}

const SOURCE = 'the key given';

/** Converts keys to credentials, which can be revealed repeatedly. */
export const credentialsOf = (keys: readonly UnsealKey[]): readonly Credential[] =>
  keys.map((key): Credential => {
    if (key.kind !== 'shares') {
      return { source: SOURCE, kind: key.kind, reveal: () => Buffer.from(key.bytes) };
    }
    return {
      source: SOURCE,
      kind: key.kind,
      reveal: () => key.texts.map((text) => String(Buffer.from(text))),
    };
  });

/** Wraps credentials so that every revealed key is passed to `remember`. */
export const remembering = (
  credentials: readonly Credential[],
  remember: (key: UnsealKey) => void,
): readonly Credential[] =>
  credentials.map((credential): Credential => {
    const { kind } = credential;
    if (kind === 'shares') {
      const rememberTexts = (texts: readonly string[]) => remember({ kind, texts: texts.map(ownBytes) });
      return { ...credential, reveal: () => told(credential.reveal(), rememberTexts) };
    }
    if (kind === 'recipient') {
      // The secret of such a slot is a key like any other, which opens it without the private key.
      const rememberKey = (secret: Uint8Array | 'none') =>
        secret === 'none' ? undefined : remember({ kind: 'raw', bytes: ownBytes(secret) });
      return { ...credential, reveal: (wrapped) => told(credential.reveal(wrapped), rememberKey) };
    }
    const rememberBytes = (secret: string | Uint8Array) => remember({ kind, bytes: ownBytes(secret) });
    if (kind === 'passphrase')
      return { ...credential, reveal: () => told(credential.reveal(), rememberBytes) };
    return { ...credential, reveal: () => told(credential.reveal(), rememberBytes) };
  });

const ownBytes = (secret: string | Uint8Array): Uint8Array =>
  typeof secret === 'string' ? utf8(secret) : Buffer.from(secret);

async function told<T>(
  revealed: T | undefined | Promise<T | undefined>,
  tell: (value: T) => void,
): Promise<T | undefined> {
  const value = await revealed;
  if (value !== undefined) tell(value);
  return value;
}

const MIN_KEY_FILE_BYTES = 32;

/** Returns every key that a text may be: a master key, the content of a key file, or a passphrase. */
export function keysInText(text: string): readonly UnsealKey[] {
  const bytes = utf8(text);
  const raw = tryParseMasterKey(bytes);
  const keys: UnsealKey[] = [{ kind: 'passphrase', bytes }];
  if (raw !== undefined) keys.push({ kind: 'raw', bytes: raw });
  if (bytes.length >= MIN_KEY_FILE_BYTES) keys.push({ kind: 'key-file', bytes });
  return keys;
}

const SHARE =
  /^coffer-share\.1\.(?<slot>[0-9a-f]{16})\.\d{1,3}of(?<count>\d{1,3})\.need(?<threshold>\d{1,3})\.[0-9a-f]{66}\.[0-9a-f]{8}$/;
/** Maximum length of a share, in characters: a share has some 130, and users may break it into lines. */
const MAX_SHARE_LENGTH = 512;

/**
 * Parses a recovery share; undefined for any other text. Unauthenticated clients may send shares to a sealed server,
 * which keeps them, so their length and number are bounded.
 */
export function shareIn(text: string): { slot: string; count: number; threshold: number } | undefined {
  if (text.length > MAX_SHARE_LENGTH) return undefined;
  const compact = text.replaceAll(/\s/g, '').toLowerCase();
  const { slot, count, threshold } = SHARE.exec(compact)?.groups ?? {};
  return slot === undefined ? undefined : { slot, count: Number(count), threshold: Number(threshold) };
}
