import type { KeyObject } from 'node:crypto';
import type { Random } from '../../ground/random.ts';
import type { DigestHashName } from './prehash/digest-hash.ts';
import type { SaltLength } from './prehash/rsa-digest.ts';

/** Given at once where possible: an extra turn of the event loop costs more than a small encryption. */
export type MaybePromise<T> = T | Promise<T>;

/** The key of one version as the store holds it; base64. */
export interface StoredMaterial {
  /**
   * Raw bytes of a symmetric key and of an identity of age, PKCS#8 DER of any other private key.
   * Absent when only the public key is known (an imported public key).
   */
  readonly secret?: string;
  /** SubjectPublicKeyInfo DER; the raw bytes of a recipient of age. Absent for symmetric keys. */
  readonly publicKey?: string;
}

/**
 * Everything that Coffer knows about one type of key. A capability is there or it is not; nobody outside this folder
 * asks which type it is. A new type is one value of this kind and one line in the registry (index.ts).
 *
 * `M` is the opened material, private to the type; callers hand back what `open` gave them.
 */
export interface KeyType<M = unknown> {
  /** As on the wire: `aes256-gcm96`. */
  readonly name: string;
  /** Present: programs of the Vault family call the type otherwise; these names are taken as well. */
  readonly familyNames?: readonly FamilyName[];
  /** Present: keys of this type encrypt and decrypt with associated data, and may be convergent. */
  readonly aead?: Aead<M>;
  /** Present: keys of this type encrypt to a public key. */
  readonly publicKeyEncryption?: PublicKeyEncryption<M>;
  /** Present: keys of this type sign and verify. */
  readonly signing?: Signing<M>;
  /** Present: with the public key of somebody else, keys of this type agree on a secret. */
  readonly agreement?: KeyAgreement<M>;
  /** Present: a key may be `derived`: each context has a key of its own. */
  readonly derivation?: Derivation<M>;
  /** Present: versions have a public key that may be shown. */
  readonly publicKey?: PublicKey<M>;
  /** Present: the key's length is chosen at creation (`key_size`). */
  readonly size?: { readonly minimumBytes: number; readonly maximumBytes: number };
  /** Present: key material may be brought in from outside. */
  readonly importing?: Importing<M>;
  readonly backup: BackupForm;

  /**
   * Makes the key of a new version. Slow work (RSA) happens off the event loop.
   * @param keyBytes the length chosen at creation; only types with `size` look at it.
   */
  generate(random: Random, keyBytes: number): MaybePromise<StoredMaterial>;
  /** `generate` takes milliseconds to seconds: it is not to be waited for by those who want to write to the store. */
  readonly generatesSlowly?: boolean;
  /** Parses stored material; work that an operation may not need is put off until it does. */
  open(stored: StoredMaterial): M;
  /** Present: the key itself, base64, answers HMACs, and versions get no HMAC key of their own. */
  hmacKeyOf?(stored: StoredMaterial): string;
  /**
   * The secret half as `export/encryption-key` and `export/signing-key` print it; present where the type encrypts or
   * signs. The material has a secret half.
   * @throws `invalid` when the type has no such format.
   */
  exportSecret?(material: M, format: ExportFormat): string;
}

/** A name that a program of the Vault family has for a type. @see docs/decisions/0022 */
export interface FamilyName {
  readonly name: string;
  /** What `parameter_set` has to say beside it; absent where the name alone says which type is meant. */
  readonly parameterSet?: string;
  /** Keys with this name are printed raw, in base64, where no format is asked for. */
  readonly raw?: true;
}

/** How an export is printed; the empty text is the type's usual form. `der` is base64. */
export type ExportFormat = '' | 'raw' | 'der' | 'pem';

export interface Aead<M> {
  /** 12 or 24. */
  readonly nonceBytes: number;
  /** Makes the material ready for many messages; the caller keeps the result. A heavy dependency is loaded here. */
  cipher(material: M): MaybePromise<AeadCipher>;
}

/** One key, ready for use. */
export interface AeadCipher {
  /** @returns ciphertext and 16-byte tag, in parts that the caller joins. */
  encrypt(nonce: Uint8Array, plaintext: Uint8Array, associatedData?: Uint8Array): readonly Uint8Array[];
  /**
   * @param sealed ciphertext and tag joined; may be too short to hold a tag.
   * @throws `invalid` with the type's text when it is not authentic.
   */
  decrypt(nonce: Uint8Array, sealed: Uint8Array, associatedData?: Uint8Array): Buffer;
}

export interface PublicKeyEncryption<M> {
  /** The one padding there is, as `padding_scheme` names it; absent where nothing is padded. */
  readonly paddingScheme?: string;
  /** @param hash of the padding, where there is one. @throws `invalid` when the plaintext is too long for the key. */
  encrypt(material: M, plaintext: Uint8Array, hash?: DigestHashName): Buffer;
  /** @throws `invalid`, in the same words for every cause, so that nobody learns from them. */
  decrypt(material: M, ciphertext: Uint8Array, hash?: DigestHashName): Buffer;
}

/** `pkcs1v15` and `none` are for RSA; `marshaling` shapes the signatures of ECDSA. */
export interface SignatureOptions {
  readonly hash: DigestHashName | 'none';
  /** The input is the digest already. */
  readonly prehashed: boolean;
  /** As given by the caller; empty for the type's default. Each type refuses what it does not know. */
  readonly signatureAlgorithm: string;
  readonly marshaling: Marshaling;
  readonly saltLength: SaltLength;
  /** Bound into the signature; only types that say `bindsContexts` are given one. At most 255 bytes. */
  readonly context?: Uint8Array;
}

/** `asn1`: DER of r and s. `jws`: r and s padded and joined (RFC 7515). */
export type Marshaling = 'asn1' | 'jws';

export interface Signing<M> {
  /** Present: the input is hashed first, by the hash that the caller names, and the hash may be signed in its place. */
  readonly signsHashes?: true;
  /** Present: a signature may be bound to a context (RFC 8032, FIPS 204, FIPS 205). */
  readonly bindsContexts?: true;
  /** The material has a secret half. @throws `invalid` when options or input do not fit the key. */
  sign(material: M, input: Uint8Array, options: SignatureOptions, random: Random): MaybePromise<Buffer>;
  /**
   * @returns whether the signature is one of this input; false for bytes that could never be one.
   * @throws `invalid` when the signature cannot even be parsed, or the options do not fit the key.
   */
  verify(
    material: M,
    input: Uint8Array,
    signature: Uint8Array,
    options: SignatureOptions,
  ): MaybePromise<boolean>;
  readonly certification: Certification<M>;
}

/** What certificates (X.509, RFC 5280) are about: a public key, and one way of signing that is written as they want it. */
export interface Certification<M> {
  /** The `AlgorithmIdentifier` of the signatures, DER; absent where it is that of the public key. */
  readonly algorithm?: Buffer;
  publicKey(material: M): KeyObject;
  /** The material has a secret half. */
  sign(material: M, bytes: Uint8Array): MaybePromise<Buffer>;
}

export interface KeyAgreement<M> {
  /**
   * The secret that the holders of either private key and the other public key have in common (NIST SP 800-56A, 5.7.1.2).
   * The material has a secret half; the caller overwrites the result.
   * @param peer a public key in PEM.
   * @throws `invalid` when that is no key on the same curve.
   */
  secretWith(material: M, peer: string): MaybePromise<Buffer>;
}

/** Key derivation functions by their number in the stored document: NIST SP 800-108 counter mode, HKDF-SHA256. */
export const KDF_COUNTER = 0;
export const KDF_HKDF = 1;
export type Kdf = typeof KDF_COUNTER | typeof KDF_HKDF;

export interface Derivation<M> {
  /** Those that give a usable key; the counter mode only makes 32 bytes. */
  readonly kdfs: readonly Kdf[];
  /** Length of a derived key. */
  readonly keyBytes: number;
  /** The input keying material; a copy that the caller overwrites. The material has a secret half. */
  inputKey(material: M): Buffer;
  /** The material of the derived key. The bytes are copied; the caller overwrites them. */
  materialOf(derivedKey: Uint8Array): M;
}

export interface PublicKey<M> {
  /** What key read calls the algorithm: `P-256`, `ed25519`, `rsa-2048`. */
  readonly label: string;
  /** As key read shows it: PEM (SubjectPublicKeyInfo), or base64 of the raw bytes where peers do so. */
  print(material: M): string;
  /** As `export/public-key` prints it. @throws `invalid` when the type has no such format. */
  export(material: M, format: ExportFormat): string;
}

export interface Importing<M> {
  /**
   * @param bytes raw key of a symmetric type, PKCS#8 DER of an asymmetric one.
   * @throws `invalid` when they are not a key of this type.
   */
  secret(bytes: Uint8Array): MaybePromise<StoredMaterial>;
  /** Present: a public key alone may be imported. @param text PEM (SubjectPublicKeyInfo), or a recipient of age. @throws `invalid`. */
  publicKey?(text: string): StoredMaterial;
  /**
   * Present: age writes private keys of this type as a text.
   * @returns what `secret` takes; undefined for the text of another type. The caller overwrites it.
   * @throws `invalid` when the text is mistyped.
   */
  identityBytes?(text: string): Buffer | undefined;
  /** The inverse of `secret`, for a transfer to another server; a copy that the caller overwrites. */
  secretBytes(material: M): Buffer;
}

/**
 * How keys of the type look in a backup document of the Vault family. A type without a number of OpenBao's is written by its
 * name, which peers refuse instead of misreading it.
 * @see docs/decisions/0022
 */
export interface BackupForm {
  /** The type's number in OpenBao's documents; absent when it does not have the type. */
  readonly openbao?: number;
  /** The type's number in Vault's documents, where types that differ in `parameterSet` share one; absent when it does not have the type. */
  readonly vault?: number;
  /** Earlier releases wrote its name, and such a backup is still read. */
  readonly wasNamed?: true;
  /**
   * What `read` costs at most, in milliseconds of today's processors: whoever restores many versions has to send as much.
   * Absent where nothing has to be computed.
   */
  readonly readMs?: number;
  /** @throws `invalid` when the entry is not a key of this type: wrong length, point off the curve, halves that differ. */
  read(entry: BackupMaterial): MaybePromise<StoredMaterial>;
  /**
   * Present: what shows that a key works takes too long to be done for every version. It is done for the latest one; signing
   * with another one finds out.
   * @throws `invalid` when it does not.
   */
  probe?(stored: StoredMaterial): Promise<void>;
  write(stored: StoredMaterial): MaybePromise<BackupMaterial>;
}

/** The part of a backup's entry that holds the key itself. What is null there is absent here. */
export interface BackupMaterial {
  /** `key` */
  readonly key?: Uint8Array;
  /** `ec_x`, `ec_y`, `ec_d`; without `d` only the public key is held. */
  readonly ec?: { readonly x: bigint; readonly y: bigint; readonly d?: bigint };
  /** `rsa_key` */
  readonly rsa?: RsaNumbers;
  /** `rsa_public_key` */
  readonly rsaPublic?: { readonly n: bigint; readonly e: bigint };
  /** `public_key` as it stands there. */
  readonly publicKey?: string;
}

/** An RSA private key (RFC 8017, 3.2). */
export interface RsaNumbers {
  readonly n: bigint;
  readonly e: bigint;
  readonly d: bigint;
  readonly primes: readonly bigint[];
  /** Follows from the numbers above: written for peers, never believed when read. */
  readonly precomputed?: { readonly dp: bigint; readonly dq: bigint; readonly qInv: bigint };
}
