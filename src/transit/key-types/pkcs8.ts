import { createPrivateKey, type KeyObject } from 'node:crypto';
import { wipe } from '../../ground/bytes.ts';
import { invalid } from '../../ground/errors.ts';
import { ownWords } from '../../ground/own-words.ts';
import { derElement, INTEGER, OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE } from './der.ts';

/** Imports private keys: PKCS#8 (RFC 5208) in DER, including two forms that `node:crypto` does not read as intended. */

/** DER prefix of an Ed25519 seed (RFC 8410); it is constant. */
export const ED25519_PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Creates the private key of a 32-byte seed, which is copied. */
export function ed25519FromSeed(seed: Uint8Array): KeyObject {
  const der = Buffer.concat([ED25519_PKCS8_PREFIX, seed]);
  try {
    return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  } finally {
    wipe(der);
  }
}

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
