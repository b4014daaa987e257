import { tryParseMasterKey } from '../store/master-key.ts';
import type { Credential } from '../store/slots/credential.ts';

/**
 * What may unlock the store, in a form that can be handed to a process that starts later. Bytes are in base64.
 * A server that is unsealed keeps what unsealed it, because a process that ends has to be replaced.
 */
export type UnsealKey =
  | { readonly kind: 'raw' | 'key-file' | 'command'; readonly bytes: string }
  | { readonly kind: 'passphrase'; readonly text: string }
  | { readonly kind: 'shares'; readonly texts: readonly string[] };

const SOURCE = 'the key given';

/** Keys as credentials, which may be offered again and again. */
export const credentialsOf = (keys: readonly UnsealKey[]): readonly Credential[] =>
  keys.map((key): Credential => {
    if (key.kind === 'passphrase') return { source: SOURCE, kind: 'passphrase', reveal: () => key.text };
    if (key.kind === 'shares') return { source: SOURCE, kind: 'shares', reveal: () => key.texts };
    const { kind, bytes } = key;
    return { source: SOURCE, kind, reveal: () => Buffer.from(bytes, 'base64') };
  });

/** The same credentials, telling `remember` of every key that they reveal. */
export const remembering = (
  credentials: readonly Credential[],
  remember: (key: UnsealKey) => void,
): readonly Credential[] =>
  credentials.map((credential): Credential => {
    const { source, kind } = credential;
    if (kind === 'passphrase') {
      return { source, kind, reveal: () => told(credential.reveal(), (text) => remember({ kind, text })) };
    }
    if (kind === 'shares') {
      return { source, kind, reveal: () => told(credential.reveal(), (texts) => remember({ kind, texts })) };
    }
    const rememberBytes = (bytes: Uint8Array) =>
      remember({ kind, bytes: Buffer.from(bytes).toString('base64') });
    return { source, kind, reveal: () => told(credential.reveal(), rememberBytes) };
  });

async function told<T>(
  revealed: T | undefined | Promise<T | undefined>,
  tell: (value: T) => void,
): Promise<T | undefined> {
  const value = await revealed;
  if (value !== undefined) tell(value);
  return value;
}

const MIN_KEY_FILE_BYTES = 32;

/** Everything that one text may be: a master key, the content of a key file, or a passphrase. */
export function keysInText(text: string): readonly UnsealKey[] {
  const raw = tryParseMasterKey(text);
  const bytes = Buffer.from(text).toString('base64');
  const keys: UnsealKey[] = [{ kind: 'passphrase', text }];
  if (raw !== undefined) keys.push({ kind: 'raw', bytes: raw.toString('base64') });
  if (Buffer.byteLength(text) >= MIN_KEY_FILE_BYTES) keys.push({ kind: 'key-file', bytes });
  return keys;
}

const SHARE =
  /^coffer-share\.1\.(?<slot>[0-9a-f]{16})\.\d{1,3}of(?<count>\d{1,3})\.need(?<threshold>\d{1,3})\.[0-9a-f]{66}\.[0-9a-f]{8}$/;
/** A share has some 130 characters; people may break it into lines. */
const MAX_SHARE_LENGTH = 512;

/**
 * What a recovery share says of itself; undefined for any other text. Strangers may send shares to a sealed server, which
 * keeps them, so they are as short and as few as shares are.
 */
export function shareIn(text: string): { slot: string; count: number; threshold: number } | undefined {
  if (text.length > MAX_SHARE_LENGTH) return undefined;
  const compact = text.replaceAll(/\s/g, '').toLowerCase();
  const { slot, count, threshold } = SHARE.exec(compact)?.groups ?? {};
  return slot === undefined ? undefined : { slot, count: Number(count), threshold: Number(threshold) };
}
