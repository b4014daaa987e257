import { type KeyObject, verify } from 'node:crypto';
import { invalid, unsupported } from '../ground/errors.ts';
import { isEdwardsKey, keyOfSshBlob, sshBlob, sshSignatureName } from './ssh-key.ts';
import { mpint, SshReader, string, uint32 } from './ssh-wire.ts';

/*
 * Signatures of files and messages with SSH keys: OpenSSH's PROTOCOL.sshsig, version 1. What is signed is not the message but
 * its hash, together with a namespace, so that a signature for one purpose is none for another.
 */

const MAGIC = 'SSHSIG';
const VERSION = 1;
const BEGIN = '-----BEGIN SSH SIGNATURE-----';
const END = '-----END SSH SIGNATURE-----';
const COLUMNS = 70;
/** The longest signature is one of a large RSA key, twice: with its public key. */
const MAX_BYTES = 1 << 16;

/** How messages are hashed; both are read, and SHA-512 is written. */
export type SshHash = 'sha256' | 'sha512';

export interface SshSignature {
  readonly key: KeyObject;
  readonly namespace: string;
  readonly hash: SshHash;
  /** E.g. `rsa-sha2-512`. */
  readonly algorithm: string;
  readonly signature: Buffer;
}

/** What the key signs. @param digest of the message, with the hash that is named. */
export const sshSignedData = (namespace: string, hash: SshHash, digest: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(MAGIC), string(namespace), string(''), string(hash), string(digest)]);

/**
 * Whether bytes begin as what SSH keys sign. OpenSSH has the preamble so that a signature of it is never one of anything else
 * (PROTOCOL.sshsig, section "Signed Data").
 */
export const isSshSignedData = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.subarray(0, SSH_PREAMBLE_BYTES)).toString('latin1') === MAGIC;

/** As many bytes tell {@link isSshSignedData}. */
export const SSH_PREAMBLE_BYTES = MAGIC.length;

/**
 * The signature of {@link sshSignedData} in SSH's form.
 * @param raw of ECDSA `r` and `s` padded and joined (IEEE P1363), of the others as it is.
 */
export function sshSignatureOf(
  key: KeyObject,
  namespace: string,
  hash: SshHash,
  raw: Uint8Array,
): SshSignature {
  return { key, namespace, hash, algorithm: sshSignatureName(key), signature: signatureBytes(key, raw) };
}

/** @param raw as of {@link sshSignatureOf}. */
function signatureBytes(key: KeyObject, raw: Uint8Array): Buffer {
  const half = raw.length / 2;
  return key.asymmetricKeyType === 'ec'
    ? Buffer.concat([mpint(raw.subarray(0, half)), mpint(raw.subarray(half))])
    : Buffer.from(raw);
}

/** A signature as it travels in SSH: the name of its algorithm and its bytes (RFC 4253, section 6.6). */
export interface WireSignature {
  /** E.g. `rsa-sha2-256`. */
  readonly algorithm: string;
  readonly bytes: Buffer;
}

/** @param raw as of {@link sshSignatureOf}. @param rsaHash what an RSA key has signed with. */
export function wireSignatureOf(key: KeyObject, raw: Uint8Array, rsaHash: SshHash): WireSignature {
  const algorithm = key.asymmetricKeyType === 'rsa' ? RSA_NAMES[rsaHash] : sshSignatureName(key);
  return { algorithm, bytes: signatureBytes(key, raw) };
}

export const printWireSignature = ({ algorithm, bytes }: WireSignature): Buffer =>
  Buffer.concat([string(algorithm), string(bytes)]);

/** The inverse. @throws `invalid` */
export function parseWireSignature(blob: Buffer): WireSignature {
  const reader = new SshReader(blob, 'this SSH signature');
  const [algorithm, bytes] = [reader.text(), reader.string()];
  reader.end();
  return { algorithm, bytes };
}

/** What the text of {@link armorSshSignature} holds. */
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

/** The text that `ssh-keygen -Y sign` would write. */
export function armorSshSignature(signature: SshSignature): string {
  const lines =
    sshSignatureBytes(signature)
      .toString('base64')
      .match(new RegExp(`.{1,${COLUMNS}}`, 'g')) ?? [];
  return [BEGIN, ...lines, END, ''].join('\n');
}

export const isSshSignature = (text: string): boolean => text.trimStart().startsWith(BEGIN);

/** @throws `invalid` for what is no such signature, `unsupported` for what is one of another kind. */
export function parseSshSignature(text: string): SshSignature {
  const what = 'this SSH signature';
  const lines = text.trim().split(/\r?\n/);
  const base64 = lines.slice(1, -1).join('');
  const isArmored = lines[0] === BEGIN && lines.at(-1) === END && /^[A-Za-z0-9+/]+={0,2}$/.test(base64);
  if (!isArmored || base64.length > MAX_BYTES * 1.4) throw invalid(`${what} is not whole`);
  const reader = new SshReader(Buffer.from(base64, 'base64'), what);
  if (reader.bytes(MAGIC.length).toString('latin1') !== MAGIC) throw invalid(`${what} is none`);
  const version = reader.uint32();
  if (version !== VERSION) throw unsupported(`${what} is of version ${version}, which is not known`);
  const key = keyOfSshBlob(reader.string());
  const namespace = reader.text();
  reader.string();
  const hash = reader.text();
  if (hash !== 'sha256' && hash !== 'sha512') throw unsupported(`${what} has an unknown hash`);
  const inner = new SshReader(reader.string(), what);
  reader.end();
  const algorithm = inner.text();
  const signature = inner.string();
  inner.end();
  return { key, namespace, hash, algorithm, signature };
}

/** Hashes of signatures by their names. SHA-1 is not among them. */
const RSA_HASHES: Readonly<Record<string, string>> = { 'rsa-sha2-256': 'sha256', 'rsa-sha2-512': 'sha512' };
const RSA_NAMES: Readonly<Record<SshHash, string>> = { sha256: 'rsa-sha2-256', sha512: 'rsa-sha2-512' };
/** The hash of a curve (RFC 5656, section 6.2.1), by the length of a coordinate. */
const CURVES: Readonly<Record<string, { readonly hash: string; readonly bytes: number }>> = {
  'ecdsa-sha2-nistp256': { hash: 'sha256', bytes: 32 },
  'ecdsa-sha2-nistp384': { hash: 'sha384', bytes: 48 },
  'ecdsa-sha2-nistp521': { hash: 'sha512', bytes: 66 },
};

/**
 * Whether it is the signature of this hash, by the key that it names itself: whether that is the right one is the caller's to
 * judge.
 * @param digest of the message, with the hash that the signature names.
 * @throws `invalid` when the signature has the name of another kind of key.
 */
export function verifySshSignature(found: SshSignature, digest: Uint8Array): boolean {
  const { key, namespace, hash, algorithm, signature } = found;
  return verifyWireSignature(key, { algorithm, bytes: signature }, sshSignedData(namespace, hash, digest));
}

/** Whether a key has signed the data. @throws `invalid` when the signature has the name of another kind of key. */
export function verifyWireSignature(
  key: KeyObject,
  { algorithm, bytes: signature }: WireSignature,
  data: Uint8Array,
): boolean {
  const rsaHash = RSA_HASHES[algorithm];
  if (key.asymmetricKeyType === 'rsa' && rsaHash !== undefined)
    return verify(rsaHash, data, key, paddedRsa(key, signature));
  if (algorithm !== sshSignatureName(key)) {
    throw invalid(`this SSH signature is one of the kind ${JSON.stringify(algorithm.slice(0, 64))}`, {
      hint: 'it does not belong to the key in it, or uses SHA-1',
    });
  }
  const curve = CURVES[algorithm];
  if (curve === undefined) return verify(null, data, key, signature);
  const raw = rawEcdsa(signature, curve.bytes);
  return raw !== undefined && verify(curve.hash, data, { key, dsaEncoding: 'ieee-p1363' }, raw);
}

/** Some programs leave zeros in front away, and OpenSSH takes that. */
function paddedRsa({ asymmetricKeyDetails }: KeyObject, signature: Buffer): Buffer {
  const missing = Math.ceil((asymmetricKeyDetails?.modulusLength ?? 0) / 8) - signature.length;
  return missing > 0 ? Buffer.concat([Buffer.alloc(missing), signature]) : signature;
}

/** `r` and `s` padded and joined; undefined for numbers that are too large. */
function rawEcdsa(signature: Buffer, bytes: number): Buffer | undefined {
  const reader = new SshReader(signature, 'this SSH signature');
  const numbers = [reader.mpint(), reader.mpint()];
  reader.end();
  if (numbers.some((number) => number.length > bytes)) return undefined;
  return Buffer.concat(numbers.map((number) => Buffer.concat([Buffer.alloc(bytes - number.length), number])));
}

/**
 * The hash of SSH signatures of a key, in the words of the transit API, and how to ask for the raw signature. Under this name
 * the hash is no part of the path, so that a policy for `sign/NAME` allows every kind of key.
 */
export function sshSigning(key: KeyObject, rsaHash: SshHash = 'sha512'): Readonly<Record<string, string>> {
  if (isEdwardsKey(key)) return {};
  const hash = CURVES[sshSignatureName(key)]?.hash;
  if (hash !== undefined) return { algorithm: hash.replace('sha', 'sha2-'), marshaling_algorithm: 'jws' };
  return { algorithm: rsaHash.replace('sha', 'sha2-'), signature_algorithm: 'pkcs1v15' };
}
