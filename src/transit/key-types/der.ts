import { createPrivateKey, type KeyObject } from 'node:crypto';
import { invalid, ownWords } from '../../ground/errors.ts';
import { rawKeys } from './raw-keys.ts';

/** Subset of DER (ITU-T X.690) that key and signature formats need. */

export const INTEGER = 0x02;
const OCTET_STRING = 0x04;
const OBJECT_IDENTIFIER = 0x06;
export const SEQUENCE = 0x30;

/** DER element: its content, and the position after it. */
interface DerElement {
  readonly content: Uint8Array;
  readonly end: number;
}

/** Maximum number of bytes of a long-form length, the same as in Vault and OpenBao. */
const LONGEST_LENGTH = 4;

/** Reads the element with this tag at `at`; undefined if there is none, or its length is not minimal. */
export function derElement(bytes: Uint8Array, at: number, tag: number): DerElement | undefined {
  const short = bytes[at + 1];
  if (bytes[at] !== tag || short === undefined) return undefined;
  if (short < 0x80) return within(bytes, at + 2, short);
  const count = short - 0x80;
  const digits = bytes.subarray(at + 2, at + 2 + count);
  if (count > LONGEST_LENGTH || digits.length < count) return undefined;
  const length = digits.reduce((sum, digit) => 256 * sum + digit, 0);
  const isShortest = length >= 0x80 && digits[0] !== 0;
  return isShortest ? within(bytes, at + 2 + count, length) : undefined;
}

function within(bytes: Uint8Array, start: number, length: number): DerElement | undefined {
  const end = start + length;
  return end <= bytes.length ? { content: bytes.subarray(start, end), end } : undefined;
}

/** Imports private keys: PKCS#8 (RFC 5208) in DER, including two forms that `node:crypto` does not read as intended. */

/** Creates the private key of a 32-byte seed, which is copied. */
export const ed25519FromSeed = (seed: Uint8Array): KeyObject =>
  rawKeys.createPrivateKey({ key: seed, format: 'raw-private', asymmetricKeyType: 'ed25519' });

/**
 * Parses an imported private key.
 * @throws `invalid` with Vault's messages
 */
export function privateKeyFromPkcs8(bytes: Uint8Array): KeyObject {
  try {
    return otherForm(bytes) ?? createPrivateKey({ key: Buffer.from(bytes), format: 'der', type: 'pkcs8' });
  } catch {
    // OpenSSL's reasons differ by version and may reveal something about the key.
    throw invalid(ownWords('error parsing asymmetric key: not a PKCS#8 private key'), {
      field: 'ciphertext',
      hint: 'wrap the key in PKCS#8 DER form',
    });
  }
}

/** Contents of object identifiers, in hex. */
const RSASSA_PSS = '2a864886f70d01010a';
const EC_PUBLIC_KEY = '2a8648ce3d0201';
/**
 * Curve identifier from before RFC 8410 (draft-josefsson-pkix-newcurves), with which NSS writes Ed25519 keys like EC
 * keys.
 */
const NSS_ED25519 = '2b06010401da470f01';
const SEED_BYTES = 32;

/**
 * Parses a key in one of these forms: an RSA key with the identifier of RSASSA-PSS, whose parameters Vault ignores as
 * well; an Ed25519 key as NSS writes it, as ECPrivateKey (RFC 5915) on a curve of that name.
 * @returns undefined for any other form
 */
function otherForm(bytes: Uint8Array): KeyObject | undefined {
  const parts = pkcs8Parts(bytes);
  if (parts?.algorithm === RSASSA_PSS) {
    return createPrivateKey({ key: Buffer.from(parts.privateKey), format: 'der', type: 'pkcs1' });
  }
  if (parts?.algorithm !== EC_PUBLIC_KEY || parts.curve !== NSS_ED25519) return undefined;
  const seed = ecPrivateKey(parts.privateKey);
  return seed?.length === SEED_BYTES ? ed25519FromSeed(seed) : undefined;
}

/**
 * Splits PKCS#8.
 * @returns identifiers in hex, the curve empty if the parameters are something else; undefined if it is not PKCS#8
 */
function pkcs8Parts(bytes: Uint8Array) {
  const info = derElement(bytes, 0, SEQUENCE)?.content;
  const version = info && derElement(info, 0, INTEGER);
  const identifier = version && derElement(info, version.end, SEQUENCE);
  const privateKey = identifier && derElement(info, identifier.end, OCTET_STRING);
  const algorithm = identifier && derElement(identifier.content, 0, OBJECT_IDENTIFIER);
  if (identifier === undefined || algorithm === undefined || privateKey === undefined) return undefined;
  const curve = derElement(identifier.content, algorithm.end, OBJECT_IDENTIFIER);
  return { algorithm: hex(algorithm.content), curve: hex(curve?.content), privateKey: privateKey.content };
}

function ecPrivateKey(bytes: Uint8Array): Uint8Array | undefined {
  const key = derElement(bytes, 0, SEQUENCE)?.content;
  const version = key && derElement(key, 0, INTEGER);
  return version && derElement(key, version.end, OCTET_STRING)?.content;
}

const hex = (bytes: Uint8Array = new Uint8Array()): string => Buffer.from(bytes).toString('hex');
