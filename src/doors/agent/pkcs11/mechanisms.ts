import { HASHES, type HashNames, MOST_DIGEST_BYTES, SHA1, SHA224, SHA256, SHA384, SHA512 } from './hashes.ts';
import { refuse } from './return-values.ts';
import { MECHANISM as M, type Mechanism } from './rpc/mechanisms.ts';

/** What this token can do with its keys, and how it asks the store for it. */

/** The kinds of keys, as `node:crypto` calls them. */
export type KeyKind = 'ec' | 'rsa';

/** How a signature is asked for, in the words of the transit API, but for the input, which is a digest always. */
export interface SignatureWords {
  readonly algorithm: string;
  readonly signature_algorithm?: string;
  readonly salt_length?: string;
  readonly marshaling_algorithm?: string;
}

/** A way to sign that was chosen with its parameters. */
export interface Scheme {
  readonly words: SignatureWords;
  /** Made here of what comes; undefined where a program brings the digest, or what stands for it. */
  readonly hash: HashNames | undefined;
  /** Whether something is of a length that can be signed. */
  fits(digest: Buffer): boolean;
}

/** `CKF_…` of what can be done with a mechanism. */
const CAN = { encrypt: 0x100, decrypt: 0x200, digest: 0x400, sign: 0x800, verify: 0x2000 } as const;
/** Prime fields, named curves, and points that are not compressed. */
const EC_FLAGS = 0x100_0000 | 0x80_0000 | 0x10_0000;

const SIZES: Readonly<Record<KeyKind, readonly [least: number, most: number]>> = {
  ec: [256, 521],
  rsa: [2048, 4096],
};

interface SigningMechanism {
  readonly kind: KeyKind;
  scheme(mechanism: Mechanism): Scheme;
}

/** Bytes of PKCS #1 v1.5 padding around what is signed. */
const PKCS1_BYTES = 11;
const MOST_MODULUS_BYTES = 512;

const isNonEmpty = ({ length }: Buffer): boolean => length > 0;
const isOf = (hash: HashNames) => (digest: Buffer) => digest.length === hash.bytes;

/** No parameter, which the codec sees to. */
const ecdsa = (hash?: HashNames): SigningMechanism => ({
  kind: 'ec',
  scheme: () => ({
    // Of the hash only the digest counts, whose leftmost bits are signed.
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
    // The store's API has no way to say "none": 0 stands for the longest there.
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

/** @throws `Refused` for a mechanism that this token does not have. */
export function mechanismInfo(type: number): readonly [leastBits: number, mostBits: number, flags: number] {
  const signing = SIGNING.get(type);
  if (signing !== undefined) {
    const flags = CAN.sign | CAN.verify | (signing.kind === 'ec' ? EC_FLAGS : 0);
    return [...SIZES[signing.kind], flags];
  }
  if (type === M.rsaOaep) return [...SIZES.rsa, CAN.encrypt | CAN.decrypt];
  return DIGESTS.has(type) ? [0, 0, CAN.digest] : refuse('mechanismInvalid');
}

/** What keys of a kind are used with, for those who ask the key. */
export const mechanismsOf = (kind: KeyKind): readonly number[] => [
  ...[...SIGNING].flatMap(([type, signing]) => (signing.kind === kind ? [type] : [])),
  ...(kind === 'rsa' ? [M.rsaOaep] : []),
];

/** How to sign, or how was signed. @throws `Refused` */
export function schemeOf(mechanism: Mechanism, kind: KeyKind): Scheme {
  const signing = SIGNING.get(mechanism.type) ?? refuse('mechanismInvalid');
  if (signing.kind !== kind) return refuse('keyTypeInconsistent');
  return signing.scheme(mechanism);
}

/** The way in which RSA keys of the store encrypt is one: OAEP with SHA-256 and no label. @throws `Refused` */
export function requireOaep({ type, oaep }: Mechanism, kind: KeyKind): void {
  if (type !== M.rsaOaep) refuse('mechanismInvalid');
  if (kind !== 'rsa') refuse('keyTypeInconsistent');
  const isOurs =
    oaep?.hash === SHA256.mechanism &&
    oaep.maskGeneration === SHA256.maskGeneration &&
    oaep.label.length === 0;
  if (!isOurs) refuse('mechanismParameterInvalid');
}

/** @throws `Refused` */
export const digestOf = ({ type }: Mechanism): HashNames => DIGESTS.get(type) ?? refuse('mechanismInvalid');
