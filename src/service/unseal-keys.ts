import { decodeBase64, encodeBase64 } from '../ground/base64.ts';
import { utf8, wipe } from '../ground/bytes.ts';
import { tryParseMasterKey } from '../store/master-key.ts';
import { isMeantAsShare } from '../store/slots/shares.ts';
import { MIN_KEY_FILE_BYTES } from '../store/slots/slot-secret.ts';
import type { Credential } from '../store/slots/unlock.ts';

/**
 * Unseal key. An unsealed server keeps the keys that unsealed it, because a process that exits has to be replaced; as
 * bytes, so that `forget` can overwrite them.
 * @see docs/decisions/0064
 */
export interface UnsealKey {
  readonly kind: Exclude<Credential['kind'], 'recipient'>;
  /** The key; of recovery shares, the text of each. */
  readonly parts: readonly Uint8Array[];
}

/** Unseal key as plain JSON, for another process. Parts are in base64. */
export interface SentUnsealKey {
  readonly kind: UnsealKey['kind'];
  readonly parts: readonly string[];
}

export const printKeys = (keys: readonly UnsealKey[]): readonly SentUnsealKey[] =>
  keys.map(({ kind, parts }) => ({ kind, parts: parts.map(encodeBase64) }));

export const parseKeys = (keys: readonly SentUnsealKey[]): readonly UnsealKey[] =>
  keys.map(({ kind, parts }) => ({ kind, parts: parts.map((part) => decodeBase64(part)) }));

/** Overwrites keys that are no longer needed. */
export function forget(keys: readonly UnsealKey[]): void {
  for (const { parts } of keys) wipe(...parts);
}

const SOURCE = 'the key given';

/** Converts keys to credentials, which can be revealed repeatedly. */
export const credentialsOf = (keys: readonly UnsealKey[]): readonly Credential[] =>
  keys.map(({ kind, parts }): Credential => {
    if (kind !== 'shares') return { source: SOURCE, kind, reveal: () => Buffer.concat(parts) };
    return { source: SOURCE, kind, reveal: () => parts.map((part) => String(Buffer.from(part))) };
  });

/** Wraps credentials so that every revealed key is passed to `remember`. */
export const remembering = (
  credentials: readonly Credential[],
  remember: (key: UnsealKey) => void,
): readonly Credential[] =>
  credentials.map((credential): Credential => {
    const { kind } = credential;
    if (kind === 'recipient') {
      // The secret of such a slot is a key like any other, which opens it without the private key.
      const rememberKey = (secret: Uint8Array | 'none') =>
        secret === 'none' ? undefined : remember({ kind: 'raw', parts: [ownBytes(secret)] });
      return { ...credential, reveal: (wrapped) => told(credential.reveal(wrapped), rememberKey) };
    }
    if (kind === 'shares') {
      const rememberTexts = (texts: readonly string[]) => remember({ kind, parts: texts.map(ownBytes) });
      return { ...credential, reveal: () => told(credential.reveal(), rememberTexts) };
    }
    const rememberBytes = (secret: string | Uint8Array) => remember({ kind, parts: [ownBytes(secret)] });
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

/** Returns every key that a text may be: a master key, the content of a key file, or a passphrase. */
export function keysInText(text: string): readonly UnsealKey[] {
  const bytes = utf8(text);
  const raw = tryParseMasterKey(bytes);
  const keys: UnsealKey[] = [{ kind: 'passphrase', parts: [bytes] }];
  if (raw !== undefined) keys.push({ kind: 'raw', parts: [raw] });
  if (bytes.length >= MIN_KEY_FILE_BYTES) keys.push({ kind: 'key-file', parts: [bytes] });
  return keys;
}

const SHARE =
  /^coffer-share\.1\.(?<slot>[0-9a-f]{16})\.\d{1,3}of(?<count>\d{1,3})\.need(?<threshold>\d{1,3})\.[0-9a-f]{66}\.[0-9a-f]{8}$/;
/** Maximum length of a share, in characters: a share has some 130, and users may break it into lines. */
const MAX_SHARE_LENGTH = 512;

/** Whether a text is meant as one recovery share, although it may be mistyped. */
export const isShareText = (text: string): boolean => text.length <= MAX_SHARE_LENGTH && isMeantAsShare(text);

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
