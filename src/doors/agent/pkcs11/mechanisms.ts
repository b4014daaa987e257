import { refuse } from './return-values.ts';
import { MECHANISM as M, type Mechanism } from './rpc/wire.ts';

/** Hash function with its names in the transit API and Node, and its PKCS #11 numbers. */
export interface HashNames {
  readonly transit: string;
  readonly node: string;
  readonly bytes: number;
  /** `CKM_…` */
  readonly mechanism: number;
  /** `CKG_MGF1_…` */
  readonly maskGeneration: number;
}

const SHA1 = { transit: 'sha1', node: 'sha1', bytes: 20, mechanism: M.sha1, maskGeneration: 1 };
const SHA224 = { transit: 'sha2-224', node: 'sha224', bytes: 28, mechanism: M.sha224, maskGeneration: 5 };
const SHA256 = { transit: 'sha2-256', node: 'sha256', bytes: 32, mechanism: M.sha256, maskGeneration: 2 };
const SHA384 = { transit: 'sha2-384', node: 'sha384', bytes: 48, mechanism: M.sha384, maskGeneration: 3 };
const SHA512 = { transit: 'sha2-512', node: 'sha512', bytes: 64, mechanism: M.sha512, maskGeneration: 4 };

const HASHES: readonly HashNames[] = [SHA1, SHA224, SHA256, SHA384, SHA512];
/** Longest digest, in bytes. */
const MOST_DIGEST_BYTES = 64;

/** Mechanisms of this token, and how they map to operations of the store. */

/** Key types by their names in `node:crypto`. */
export type KeyKind = 'ec' | 'rsa';

/** Signature parameters of the transit API, except for the input, which is always a digest. */
export interface SignatureWords {
  readonly algorithm: string;
  readonly signature_algorithm?: string;
  readonly salt_length?: string;
  readonly marshaling_algorithm?: string;
}

/** Signature mechanism with its parameters. */
export interface SigningScheme {
  readonly words: SignatureWords;
  /** Hash computed here from the data; undefined if a program supplies the digest, or an equivalent. */
  readonly hash: HashNames | undefined;
  /** Whether data has a length that can be signed. */
  fits(digest: Buffer): boolean;
}

/** `CKF_…` flags of a mechanism's functions. */
const CAN = { encrypt: 0x100, decrypt: 0x200, digest: 0x400, sign: 0x800, verify: 0x2000 } as const;
/** Prime fields, named curves, and uncompressed points. */
const EC_FLAGS = 0x100_0000 | 0x80_0000 | 0x10_0000;

const SIZES: Readonly<Record<KeyKind, readonly [least: number, most: number]>> = {
  ec: [256, 521],
  rsa: [2048, 4096],
};

interface SigningMechanism {
  readonly kind: KeyKind;
  scheme(mechanism: Mechanism): SigningScheme;
}

/** Minimum overhead of PKCS #1 v1.5 padding, in bytes. */
const PKCS1_BYTES = 11;
const MOST_MODULUS_BYTES = 512;

const isNonEmpty = ({ length }: Buffer): boolean => length > 0;
const isOf = (hash: HashNames) => (digest: Buffer) => digest.length === hash.bytes;

/** Mechanism without a parameter, which the codec enforces. */
const ecdsa = (hash?: HashNames): SigningMechanism => ({
  kind: 'ec',
  scheme: () => ({
    // Only the digest's length matters, of which the leftmost bits are signed.
    words: { algorithm: (hash ?? SHA256).transit, marshaling_algorithm: 'jws' },
    hash,
    fits: (digest) => isNonEmpty(digest) && digest.length <= MOST_DIGEST_BYTES,
  }),
});

const pkcs1 = (hash?: HashNames): SigningMechanism => ({
  kind: 'rsa',
  scheme: () => ({
    words: { algorithm: hash?.transit ?? 'none', signature_algorithm: 'pkcs1v15' },
    hash,
    fits: hash === undefined ? ({ length }) => length <= MOST_MODULUS_BYTES - PKCS1_BYTES : isOf(hash),
  }),
});

const pss = (made?: HashNames): SigningMechanism => ({
  kind: 'rsa',
  scheme({ pss: parameters }) {
    const { hash: number, maskGeneration, saltBytes = 0 } = parameters ?? {};
    const hash = HASHES.find(({ mechanism }) => mechanism === number);
    const isPossible =
      hash !== undefined && (made === undefined || made === hash) && hash.maskGeneration === maskGeneration;
    // The store's API cannot express "no salt": 0 means the longest there.
    if (!isPossible || saltBytes < 1 || saltBytes > MOST_MODULUS_BYTES)
      return refuse('mechanismParameterInvalid');
    return {
      words: { algorithm: hash.transit, signature_algorithm: 'pss', salt_length: String(saltBytes) },
      hash: made,
      fits: isOf(hash),
    };
  },
});

const SIGNING: ReadonlyMap<number, SigningMechanism> = new Map([
  [M.ecdsa, ecdsa()],
  [M.ecdsaSha1, ecdsa(SHA1)],
  [M.ecdsaSha224, ecdsa(SHA224)],
  [M.ecdsaSha256, ecdsa(SHA256)],
  [M.ecdsaSha384, ecdsa(SHA384)],
  [M.ecdsaSha512, ecdsa(SHA512)],
  [M.rsaPkcs, pkcs1()],
  [M.sha1RsaPkcs, pkcs1(SHA1)],
  [M.sha224RsaPkcs, pkcs1(SHA224)],
  [M.sha256RsaPkcs, pkcs1(SHA256)],
  [M.sha384RsaPkcs, pkcs1(SHA384)],
  [M.sha512RsaPkcs, pkcs1(SHA512)],
  [M.rsaPss, pss()],
  [M.sha1RsaPss, pss(SHA1)],
  [M.sha224RsaPss, pss(SHA224)],
  [M.sha256RsaPss, pss(SHA256)],
  [M.sha384RsaPss, pss(SHA384)],
  [M.sha512RsaPss, pss(SHA512)],
]);

const DIGESTS: ReadonlyMap<number, HashNames> = new Map(HASHES.map((hash) => [hash.mechanism, hash]));

export const MECHANISM_TYPES: readonly number[] = [...SIGNING.keys(), M.rsaOaep, ...DIGESTS.keys()];

/**
 * Returns the limits and flags of a mechanism.
 * @throws `Refused` for a mechanism that this token does not have
 */
export function mechanismInfo(type: number): readonly [leastBits: number, mostBits: number, flags: number] {
  const signing = SIGNING.get(type);
  if (signing !== undefined) {
    const flags = CAN.sign | CAN.verify | (signing.kind === 'ec' ? EC_FLAGS : 0);
    return [...SIZES[signing.kind], flags];
  }
  if (type === M.rsaOaep) return [...SIZES.rsa, CAN.encrypt | CAN.decrypt];
  return DIGESTS.has(type) ? [0, 0, CAN.digest] : refuse('mechanismInvalid');
}

/** Returns the mechanisms of a key type, for the key's attributes. */
export const mechanismsOf = (kind: KeyKind): readonly number[] => [
  ...[...SIGNING].flatMap(([type, signing]) => (signing.kind === kind ? [type] : [])),
  ...(kind === 'rsa' ? [M.rsaOaep] : []),
];

/**
 * Returns the signature scheme of a mechanism.
 * @throws `Refused`
 */
export function schemeOf(mechanism: Mechanism, kind: KeyKind): SigningScheme {
  const signing = SIGNING.get(mechanism.type) ?? refuse('mechanismInvalid');
  if (signing.kind !== kind) return refuse('keyTypeInconsistent');
  return signing.scheme(mechanism);
}

/**
 * Requires the store's only RSA encryption scheme: OAEP with SHA-256 and no label.
 * @throws `Refused`
 */
export function requireOaep({ type, oaep }: Mechanism, kind: KeyKind): void {
  if (type !== M.rsaOaep) refuse('mechanismInvalid');
  if (kind !== 'rsa') refuse('keyTypeInconsistent');
  const isOurs =
    oaep?.hash === SHA256.mechanism &&
    oaep.maskGeneration === SHA256.maskGeneration &&
    oaep.label.length === 0;
  if (!isOurs) refuse('mechanismParameterInvalid');
}

/**
 * Returns the hash of a digest mechanism.
 * @throws `Refused`
 */
export const digestOf = ({ type }: Mechanism): HashNames => DIGESTS.get(type) ?? refuse('mechanismInvalid');
