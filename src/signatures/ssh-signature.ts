import { type KeyObject, verify } from 'node:crypto';
import { curveOf } from '../ground/curves.ts';
import { invalid, unsupported } from '../ground/errors.ts';
import { rsaNumbers } from '../ground/foreign-keys.ts';
import { isEdwardsKey, keyOfSshBlob, requireSshKey, sshBlob, sshSignatureName } from './ssh-key.ts';
import { mpint, SshReader, string, uint32 } from './ssh-wire.ts';

/*
 * Signatures of files and messages with SSH keys: OpenSSH's PROTOCOL.sshsig, version 1. The signed data is the hash of
 * the message with a namespace, so that a signature for one purpose is not valid for another.
 */

const MAGIC = 'SSHSIG';
const VERSION = 1;
const BEGIN = '-----BEGIN SSH SIGNATURE-----';
const END = '-----END SSH SIGNATURE-----';
const COLUMNS = 70;
/** Maximum size in bytes: the longest signature is that of a large RSA key, with its public key. */
const MAX_BYTES = 1 << 16;

/** Hash of messages; both can be read, and SHA-512 is written. */
type SshHash = 'sha256' | 'sha512';

export interface SshSignature {
  readonly key: KeyObject;
  readonly namespace: string;
  readonly hash: SshHash;
  /** E.g. `rsa-sha2-512`. */
  readonly algorithm: string;
  readonly signature: Buffer;
}

/**
 * Returns the data that the key signs.
 * @param digest digest of the message with `hash`
 */
export const sshSignedData = (namespace: string, hash: SshHash, digest: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(MAGIC), string(namespace), string(''), string(hash), string(digest)]);

/**
 * Whether bytes begin like data that SSH keys sign. OpenSSH's preamble ensures that a signature of it is never valid
 * for anything else (PROTOCOL.sshsig, section "Signed Data").
 */
export const isSshSignedData = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.subarray(0, SSH_PREAMBLE_BYTES)).toString('latin1') === MAGIC;

/** Number of bytes that {@link isSshSignedData} needs. */
export const SSH_PREAMBLE_BYTES = MAGIC.length;

/**
 * Converts the signature of {@link sshSignedData} to SSH's form.
 * @param raw for ECDSA, `r` and `s` padded and concatenated (IEEE P1363); otherwise unchanged
 */
export function sshSignatureOf(
  key: KeyObject,
  namespace: string,
  hash: SshHash,
  raw: Uint8Array,
): SshSignature {
  return { key, namespace, hash, algorithm: sshSignatureName(key), signature: signatureBytes(key, raw) };
}

/**
 * Encodes a raw signature.
 * @param raw as for {@link sshSignatureOf}
 */
function signatureBytes(key: KeyObject, raw: Uint8Array): Buffer {
  const half = raw.length / 2;
  return key.asymmetricKeyType === 'ec'
    ? Buffer.concat([mpint(raw.subarray(0, half)), mpint(raw.subarray(half))])
    : Buffer.from(raw);
}

/** Signature in SSH's encoding: the name of its algorithm and its bytes (RFC 4253, section 6.6). */
interface WireSignature {
  /** E.g. `rsa-sha2-256`. */
  readonly algorithm: string;
  readonly bytes: Buffer;
}

/**
 * Converts a raw signature.
 * @param raw as for {@link sshSignatureOf}
 * @param rsaHash hash of an RSA signature
 */
export function wireSignatureOf(key: KeyObject, raw: Uint8Array, rsaHash: SshHash): WireSignature {
  const algorithm = key.asymmetricKeyType === 'rsa' ? RSA_NAMES[rsaHash] : sshSignatureName(key);
  return { algorithm, bytes: signatureBytes(key, raw) };
}

export const printWireSignature = ({ algorithm, bytes }: WireSignature): Buffer =>
  Buffer.concat([string(algorithm), string(bytes)]);

/**
 * Parses a signature, the inverse.
 * @throws `invalid`
 */
export function parseWireSignature(blob: Buffer): WireSignature {
  const reader = new SshReader(blob, 'this SSH signature');
  const [algorithm, bytes] = [reader.text(), reader.string()];
  reader.end();
  return { algorithm, bytes };
}

/** Returns the content of the text of {@link armorSshSignature}. */
export const sshSignatureBytes = ({ key, namespace, hash, algorithm, signature }: SshSignature): Buffer =>
  Buffer.concat([
    Buffer.from(MAGIC),
    uint32(VERSION),
    string(sshBlob(key)),
    string(namespace),
    string(''),
    string(hash),
    string(Buffer.concat([string(algorithm), string(signature)])),
  ]);

/** Formats the text that `ssh-keygen -Y sign` would write. */
export function armorSshSignature(signature: SshSignature): string {
  const lines =
    sshSignatureBytes(signature)
      .toString('base64')
      .match(new RegExp(`.{1,${COLUMNS}}`, 'g')) ?? [];
  return [BEGIN, ...lines, END, ''].join('\n');
}

export const isSshSignature = (text: string): boolean => text.trimStart().startsWith(BEGIN);

/**
 * Parses such a text.
 * @throws `invalid` if it is malformed; `unsupported` for another type
 */
export function parseSshSignature(text: string): SshSignature {
  const what = 'this SSH signature';
  const lines = text.trim().split(/\r?\n/);
  const base64 = lines.slice(1, -1).join('');
  const isArmored = lines[0] === BEGIN && lines.at(-1) === END && /^[A-Za-z0-9+/]+={0,2}$/.test(base64);
  if (!isArmored || base64.length > MAX_BYTES * 1.4) throw invalid(`${what} is incomplete or damaged`);
  const reader = new SshReader(Buffer.from(base64, 'base64'), what);
  if (reader.bytes(MAGIC.length).toString('latin1') !== MAGIC)
    throw invalid(`${what} is not an SSH signature`);
  const version = reader.uint32();
  if (version !== VERSION) throw unsupported(`${what} has the unsupported version ${version}`);
  const key = keyOfSshBlob(reader.string());
  const namespace = reader.text();
  reader.string();
  const hash = reader.text();
  if (hash !== 'sha256' && hash !== 'sha512') throw unsupported(`${what} uses an unknown hash`);
  const inner = new SshReader(reader.string(), what);
  reader.end();
  const algorithm = inner.text();
  const signature = inner.string();
  inner.end();
  return { key, namespace, hash, algorithm, signature };
}

/** Hashes of signature algorithms by name, without SHA-1. */
const RSA_HASHES: Readonly<Record<string, string>> = { 'rsa-sha2-256': 'sha256', 'rsa-sha2-512': 'sha512' };
const RSA_NAMES: Readonly<Record<SshHash, string>> = { sha256: 'rsa-sha2-256', sha512: 'rsa-sha2-512' };

/**
 * Verifies a signature of this hash by the key that it contains; the caller judges whether that key is the right one.
 * @param digest digest of the message with the signature's hash
 * @throws `invalid` if the signature names another type of key
 */
export function verifySshSignature(found: SshSignature, digest: Uint8Array): boolean {
  const { key, namespace, hash, algorithm, signature } = found;
  return verifyWireSignature(key, { algorithm, bytes: signature }, sshSignedData(namespace, hash, digest));
}

/**
 * Verifies a signature of the data.
 * @throws `invalid` if the signature names another type of key
 */
export function verifyWireSignature(
  key: KeyObject,
  { algorithm, bytes: signature }: WireSignature,
  data: Uint8Array,
): boolean {
  const rsaHash = RSA_HASHES[algorithm];
  if (key.asymmetricKeyType === 'rsa' && rsaHash !== undefined)
    return verify(rsaHash, data, key, paddedRsa(key, signature));
  if (algorithm !== sshSignatureName(key)) {
    throw invalid(`unsupported SSH signature algorithm ${JSON.stringify(algorithm.slice(0, 64))}`, {
      hint: 'sign again; with an RSA key, use rsa-sha2-256 or rsa-sha2-512',
    });
  }
  const curve = curveOf(key);
  if (curve === undefined) return verify(null, data, key, signature);
  const raw = rawEcdsa(signature, curve.coordinateBytes);
  return raw !== undefined && verify(curve.hash, data, { key, dsaEncoding: 'ieee-p1363' }, raw);
}

/** Pads an RSA signature: some programs omit leading zeros, and OpenSSH accepts that. */
function paddedRsa(key: KeyObject, signature: Buffer): Buffer {
  const missing = (rsaNumbers(key)?.modulus.length ?? 0) - signature.length;
  return missing > 0 ? Buffer.concat([Buffer.alloc(missing), signature]) : signature;
}

/** Returns `r` and `s` padded and concatenated; undefined for numbers that are too large. */
function rawEcdsa(signature: Buffer, bytes: number): Buffer | undefined {
  const reader = new SshReader(signature, 'this SSH signature');
  const numbers = [reader.mpint(), reader.mpint()];
  reader.end();
  if (numbers.some((number) => number.length > bytes)) return undefined;
  return Buffer.concat(numbers.map((number) => Buffer.concat([Buffer.alloc(bytes - number.length), number])));
}

/**
 * Returns the transit API parameters for raw SSH signatures of a key. By the older parameter name, the hash is not part
 * of the path, so that a policy for `sign/NAME` allows every type of key.
 */
export function sshSigning(key: KeyObject, rsaHash: SshHash = 'sha512'): Readonly<Record<string, string>> {
  if (isEdwardsKey(key)) return {};
  requireSshKey(key);
  const hash = curveOf(key)?.hash;
  if (hash !== undefined) return { algorithm: hash.replace('sha', 'sha2-'), marshaling_algorithm: 'jws' };
  return { algorithm: rsaHash.replace('sha', 'sha2-'), signature_algorithm: 'pkcs1v15' };
}
