import {
  createECDH,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign as nodeSign,
  verify as nodeVerify,
} from 'node:crypto';
import { wipe } from '../../ground/bytes.ts';
import { attempt, type CofferError, failingAs, invalid, ownWords } from '../../ground/errors.ts';
import { curveNamed, ECDSA_CURVES, type EcdsaCurve } from './curves.ts';
import { derElement, INTEGER, SEQUENCE } from './der.ts';
import {
  certifiedBy,
  fromBase64Url,
  importingPairs,
  type KeyPair,
  keyOf,
  openKeyPair,
  pkcs8Of,
  refusedBackup,
  requireKeyKind,
  requireRestorable,
  spkiOf,
  spkiPemOf,
  storedKey,
  toBase64Url,
  unknownFormat,
} from './key-pair.ts';
import type {
  BackupForm,
  BackupMaterial,
  KeyType,
  Marshaling,
  SignatureOptions,
  Signing,
} from './key-type.ts';
import { DIGEST_HASHES } from './prehash/digest-hash.ts';
import type { EcdsaEncoding } from './prehash/ecdsa-digest.ts';

const ENCODINGS: Readonly<Record<Marshaling, EcdsaEncoding>> = { asn1: 'der', jws: 'ieee-p1363' };

/** Loads the implementation that signs digests of the caller. */
const digestSigner = () => import('./prehash/ecdsa-digest.ts');

/** Whether the input is hashed; `none` was checked before the key type was called. */
const hashesInput = ({ hash, prehashed }: SignatureOptions): boolean => !prehashed && hash !== 'none';

const nodeHashOf = ({ hash }: SignatureOptions): string =>
  hash === 'none' ? '' : DIGEST_HASHES[hash].nodeName;

/** `AlgorithmIdentifier` of ECDSA signatures in certificates by their hash, DER in hexadecimal (RFC 5758, 3.2). */
const CERTIFIED: Readonly<Record<EcdsaCurve['hash'], string>> = {
  sha256: '300a06082a8648ce3d040302',
  sha384: '300a06082a8648ce3d040303',
  sha512: '300a06082a8648ce3d040304',
};

const signingOn = ({ coordinateBytes, hash }: EcdsaCurve): Signing<KeyPair> => ({
  signsHashes: true,
  certification: certifiedBy(hash, CERTIFIED[hash]),
  sign(pair, input, options) {
    const key = pair.privateKey;
    const dsaEncoding = ENCODINGS[options.marshaling];
    if (hashesInput(options)) return nodeSign(nodeHashOf(options), input, { key, dsaEncoding });
    return digestSigner().then(({ signEcdsaDigest }) => signEcdsaDigest(key, input, dsaEncoding));
  },
  verify(pair, input, signature, options) {
    const key = pair.publicKey;
    const numbers = joinedNumbers(signature, options.marshaling, coordinateBytes);
    if (numbers === undefined) return false;
    if (hashesInput(options)) {
      return nodeVerify(nodeHashOf(options), input, { key, dsaEncoding: 'ieee-p1363' }, numbers);
    }
    return digestSigner().then(({ verifyEcdsaDigest }) => verifyEcdsaDigest(key, input, numbers));
  },
});

/**
 * Checks the curve of a key.
 * @throws `invalid` with Vault's message
 */
export function requireCurve(key: KeyObject, curve: EcdsaCurve): void {
  requireKeyKind(key, 'ec', 'ecdsa');
  const given = key.asymmetricKeyDetails?.namedCurve ?? 'unknown';
  if (given === curve.opensslName) return;
  const name = curveNamed(given)?.jwkName ?? given;
  throw invalid(`invalid curve: expected ${curve.jwkName}, got ${name}`, { field: 'type' });
}

const sec1 = (key: KeyObject): string => key.export({ format: 'pem', type: 'sec1' }).toString();
const pkcs8Pem = (key: KeyObject): string => key.export({ format: 'pem', type: 'pkcs8' }).toString();

/** ECDSA (FIPS 186-5) on one curve. */
function ecdsaType(curve: EcdsaCurve): KeyType<KeyPair> {
  const type = `ecdsa-${curve.jwkName.replace('-', '').toLowerCase()}`;
  return {
    name: type,
    protocols: curve.sshName === undefined ? [] : ['ssh', 'pkcs11'],
    signing: signingOn(curve),
    importing: importingPairs(
      (key) => requireCurve(key, curve),
      (key) => requireRestorable(() => ecdsaFromBackup(ecdsaToBackup(key), curve)),
    ),
    agreement: {
      secretWith: async (pair, peer) =>
        (await import('./ecdh.ts')).sharedSecret(pair.privateKey, peer, { type, curve: curve.opensslName }),
    },
    open: openKeyPair,
    generate: () => storedKey(generateKeyPairSync('ec', { namedCurve: curve.opensslName }).privateKey),
    // Vault prints these texts without the final newline, unlike those of RSA keys.
    exportSecret(pair, format) {
      if (format === '') return sec1(pair.privateKey).trim();
      if (format === 'pem') return pkcs8Pem(pair.privateKey).trim();
      if (format === 'der') return pkcs8Of(pair.privateKey);
      throw unknownFormat('ec', format);
    },
    publicKey: {
      label: curve.jwkName,
      print: (pair) => spkiPemOf(pair.publicKey),
      export(pair, format) {
        if (format === 'raw') throw unknownFormat('ec', format);
        return format === 'der' ? spkiOf(pair.publicKey) : spkiPemOf(pair.publicKey).trim();
      },
    },
    backup: ecdsaBackup(curve),
  };
}

const ecdsaBackup = (curve: EcdsaCurve): BackupForm => ({
  ...(curve.backupNumber === undefined ? {} : { openbao: curve.backupNumber, vault: curve.backupNumber }),
  readMs: 4,
  read: (entry) => storedKey(ecdsaFromBackup(entry, curve)),
  write: (stored) => ecdsaToBackup(keyOf(stored)),
});

/** Converts a key to a backup's numbers; without the scalar if it is public. */
export function ecdsaToBackup(key: KeyObject): BackupMaterial {
  const jwk = key.export({ format: 'jwk' });
  const point = { x: fromBase64Url(jwk.x), y: fromBase64Url(jwk.y) };
  if (key.type === 'public') return { ec: point, publicKey: spkiPemOf(key) };
  return { ec: { ...point, d: fromBase64Url(jwk.d) }, publicKey: spkiPemOf(createPublicKey(key)) };
}

/**
 * Converts a backup's numbers to a key, private if the scalar is present.
 * @throws `invalid` if the point is not on the curve, or scalar, point and `public_key` do not match
 */
export function ecdsaFromBackup(material: BackupMaterial, curve: EcdsaCurve): KeyObject {
  const { ec, publicKey: pem } = material;
  if (ec === undefined) throw refusedBackup('has no point of an elliptic curve');
  const limit = 1n << BigInt(8 * curve.coordinateBytes);
  if ([ec.x, ec.y, ec.d ?? 1n].some((value) => value < 0n || value >= limit) || ec.d === 0n) {
    throw refusedBackup(`has a number that is out of range for ${curve.jwkName}`);
  }
  const jwk = {
    kty: 'EC',
    crv: curve.jwkName,
    x: toBase64Url(ec.x, curve.coordinateBytes),
    y: toBase64Url(ec.y, curve.coordinateBytes),
  };
  const publicKey = onCurve(() => createPublicKey({ key: jwk, format: 'jwk' }), curve);
  if (pem !== undefined && !isSamePublicKey(pem, publicKey)) throw mismatch();
  if (ec.d === undefined) return publicKey;
  const d = toBase64Url(ec.d, curve.coordinateBytes);
  if (!isScalarOf(d, jwk, curve)) throw mismatch();
  return onCurve(() => createPrivateKey({ key: { ...jwk, d }, format: 'jwk' }), curve);
}

const onCurve = (make: () => KeyObject, curve: EcdsaCurve): KeyObject =>
  failingAs(() => refusedBackup(`has a point that is not on ${curve.jwkName}`), make);

const isSamePublicKey = (pem: string, key: KeyObject): boolean =>
  attempt(() => createPublicKey({ key: pem, format: 'pem' }).equals(key), false);

/** Whether a scalar matches a point. OpenSSL does not compare them on import, so the point is computed again. */
function isScalarOf(d: string, point: { x: string; y: string }, curve: EcdsaCurve): boolean {
  const scalar = Buffer.from(d, 'base64url');
  try {
    const ecdh = createECDH(curve.opensslName);
    ecdh.setPrivateKey(scalar);
    const expected = Buffer.concat([
      Buffer.from([0x04]),
      Buffer.from(point.x, 'base64url'),
      Buffer.from(point.y, 'base64url'),
    ]);
    return ecdh.getPublicKey().equals(expected);
  } catch {
    return false;
  } finally {
    wipe(scalar);
  }
}

const mismatch = (): CofferError =>
  refusedBackup('has an elliptic-curve private key that does not match its public key');

/**
 * Extracts the two numbers of a signature, padded to the length of the curve's coordinates and concatenated; undefined
 * if no key on the curve can have made them. As in Vault, only the numbers matter: their leading zeros, and data after
 * them within the DER sequence, are ignored.
 * @throws `invalid` for bytes that are not DER where they should be: OpenSSL would only answer "not valid", and a
 * caller could not distinguish a signature of something else from bytes that are not a signature
 * @see docs/decisions/0128
 */
export function joinedNumbers(
  signature: Uint8Array,
  marshaling: Marshaling,
  coordinateBytes: number,
): Buffer | undefined {
  if (marshaling === 'jws') {
    const middle = signature.length >> 1;
    return joined(signature.subarray(0, middle), signature.subarray(middle), coordinateBytes);
  }
  const numbers = numbersInDer(signature);
  if (numbers !== undefined) return joined(numbers.r, numbers.s, coordinateBytes);
  // This length is that of the other marshaling: not valid, but not malformed either.
  if (signature.length === 2 * coordinateBytes) return undefined;
  throw invalid(ownWords('supplied signature is invalid'), { field: 'signature', hint: FIX });
}

const FIX = 'give the signature unchanged; one in the format jws needs marshaling_algorithm=jws';

function joined(r: Uint8Array, s: Uint8Array, coordinateBytes: number): Buffer | undefined {
  const halves = Buffer.alloc(2 * coordinateBytes);
  for (const [number, end] of [
    [r, coordinateBytes],
    [s, 2 * coordinateBytes],
  ] as const) {
    // If there are only zeros, keep the last one.
    const digits = number.subarray(number.findIndex((byte) => byte !== 0));
    if (digits.length > coordinateBytes) return undefined;
    halves.set(digits, end - digits.length);
  }
  return halves;
}

/**
 * Reads the numbers.
 * @throws `invalid` for data after the sequence
 */
function numbersInDer(signature: Uint8Array) {
  const sequence = derElement(signature, 0, SEQUENCE);
  if (sequence === undefined) return undefined;
  const r = integerAt(sequence.content, 0);
  const s = r && integerAt(sequence.content, r.end);
  if (r === undefined || s === undefined) return undefined;
  if (sequence.end !== signature.length) {
    throw invalid(ownWords('supplied signature contains extra data'), { field: 'signature', hint: FIX });
  }
  return { r: positive(r.content), s: positive(s.content) };
}

/** Reads a minimal integer, including zero and negative ones. */
function integerAt(bytes: Uint8Array, at: number) {
  const value = derElement(bytes, at, INTEGER);
  const [first, second] = value?.content ?? [];
  if (first === undefined) return undefined;
  const padded =
    second !== undefined && ((first === 0x00 && second < 0x80) || (first === 0xff && second >= 0x80));
  return padded ? undefined : value;
}

const NOTHING = new Uint8Array();

/** Replaces a negative number by zero, which is not valid in a signature either. */
const positive = (integer: Uint8Array): Uint8Array => ((integer[0] ?? 0) < 0x80 ? integer : NOTHING);

export const ecdsa = ECDSA_CURVES.map(ecdsaType);
