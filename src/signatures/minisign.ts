import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { utf8 } from '../ground/bytes.ts';
import { invalid, unsupported } from '../ground/errors.ts';
import { isEdwardsKey } from './ssh-key.ts';

/*
 * Signatures and keys of minisign (its page "Signature format"): Ed25519 over BLAKE2b-512 of the file, with a signed
 * comment. The older form, over the file itself, can be read.
 */

const KEY_ID_BYTES = 8;
const SIGNATURE_BYTES = 64;
const UNTRUSTED = 'untrusted comment: ';
const TRUSTED = 'trusted comment: ';
/** Algorithm of keys, and of signatures over the file itself. */
const PURE = 'Ed';
/** Algorithm of signatures over the hash of the file. */
const HASHED = 'ED';

export const MINISIGN_HASH = 'blake2b512';

interface MinisignKey {
  readonly key: KeyObject;
  readonly id: Buffer;
}

export interface MinisignSignature {
  readonly keyId: Buffer;
  /** Whether it is over the hash of the file instead of the file itself. */
  readonly hashed: boolean;
  readonly signature: Buffer;
  readonly comment: string;
  /** Signature of signature and comment. */
  readonly commentSignature: Buffer;
}

const rawKey = (key: KeyObject): Buffer => Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url');

/**
 * Requires an Ed25519 key.
 * @throws `unsupported`
 */
function requireMinisignKey(key: KeyObject): void {
  if (isEdwardsKey(key)) return;
  throw unsupported('minisign only supports Ed25519 keys', { hint: 'use an ed25519 key, or the format ssh' });
}

/**
 * Returns a key with its ID. minisign accepts any constant ID: ours is derived from the key.
 * @throws `unsupported`
 */
export function minisignKeyOf(key: KeyObject): MinisignKey {
  requireMinisignKey(key);
  return { key, id: createHash('sha256').update(rawKey(key)).digest().subarray(0, KEY_ID_BYTES) };
}

/** Formats an ID like minisign. */
export const minisignKeyName = (id: Buffer): string =>
  Buffer.from(id).reverse().toString('hex').toUpperCase();

/**
 * Formats a public key file.
 * @throws `unsupported`
 */
export function printMinisignKey(key: KeyObject): string {
  const { id } = minisignKeyOf(key);
  const base64 = Buffer.concat([Buffer.from(PURE), id, rawKey(key)]).toString('base64');
  return `${UNTRUSTED}minisign public key ${minisignKeyName(id)}\n${base64}\n`;
}

/** Parses such a file, or only its second line; undefined if it is malformed. */
export function parseMinisignKey(text: string): MinisignKey | undefined {
  const line = text
    .trim()
    .split(/\r?\n/)
    .filter((each) => !each.startsWith(UNTRUSTED));
  const bytes = Buffer.from(line[0] ?? '', 'base64');
  const isKey = line.length === 1 && /^RW[A-Za-z0-9+/]{54}$/.test(line[0] ?? '');
  if (!isKey) return undefined;
  const id = bytes.subarray(PURE.length, PURE.length + KEY_ID_BYTES);
  const x = bytes.subarray(PURE.length + KEY_ID_BYTES).toString('base64url');
  return { id, key: createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }) };
}

/** Returns the data of the second signature. */
export const minisignCommentData = (signature: Uint8Array, comment: string): Buffer =>
  Buffer.concat([signature, utf8(comment)]);

/** Formats a signature file. The comment must not contain line breaks. */
export function printMinisignSignature(found: MinisignSignature, untrusted: string): string {
  const algorithm = Buffer.from(found.hashed ? HASHED : PURE);
  return [
    `${UNTRUSTED}${untrusted}`,
    Buffer.concat([algorithm, found.keyId, found.signature]).toString('base64'),
    `${TRUSTED}${found.comment}`,
    found.commentSignature.toString('base64'),
    '',
  ].join('\n');
}

export const isMinisignSignature = (text: string): boolean => text.startsWith(UNTRUSTED);

/**
 * Parses a signature file.
 * @throws `invalid` if it is incomplete; `unsupported` for another algorithm
 */
export function parseMinisignSignature(text: string): MinisignSignature {
  const [, first = '', comment = '', second = '', ...rest] = text.replace(/\n$/, '').split(/\r?\n/);
  const bytes = strictBase64(first);
  const commentSignature = strictBase64(second);
  const isWhole =
    bytes?.length === PURE.length + KEY_ID_BYTES + SIGNATURE_BYTES &&
    commentSignature?.length === SIGNATURE_BYTES &&
    comment.startsWith(TRUSTED) &&
    rest.length === 0;
  if (!isWhole) throw invalid('the minisign signature is incomplete or damaged');
  const algorithm = bytes.subarray(0, PURE.length).toString('latin1');
  if (algorithm !== PURE && algorithm !== HASHED) throw unsupported('unknown minisign signature algorithm');
  return {
    keyId: bytes.subarray(PURE.length, PURE.length + KEY_ID_BYTES),
    hashed: algorithm === HASHED,
    signature: bytes.subarray(PURE.length + KEY_ID_BYTES),
    comment: comment.slice(TRUSTED.length),
    commentSignature,
  };
}

function strictBase64(text: string): Buffer | undefined {
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined;
}

/**
 * Verifies a signature.
 * @param data the file, or its {@link MINISIGN_HASH} if the signature is `hashed`
 */
export const verifyMinisign = (found: MinisignSignature, key: KeyObject, data: Uint8Array): boolean =>
  verify(null, data, key, found.signature);

export const verifyMinisignComment = (found: MinisignSignature, key: KeyObject): boolean =>
  verify(null, minisignCommentData(found.signature, found.comment), key, found.commentSignature);
