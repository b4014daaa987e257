import type { KeyObject } from 'node:crypto';
import type { MaybePromise } from '../../ground/maybe-promise.ts';
import type { Random } from '../../ground/random.ts';
import type { DigestHashName } from './prehash/digest-hash.ts';
import type { SaltLength } from './prehash/rsa-digest.ts';

/** Key of one version as stored; base64. */
export interface StoredMaterial {
  /**
   * Raw bytes of a symmetric key or age identity, PKCS#8 DER of any other private key. Absent if only the public key is
   * known (an imported public key).
   */
  readonly secret?: string;
  /** SubjectPublicKeyInfo DER; the raw bytes of an age recipient. Absent for symmetric keys. */
  readonly publicKey?: string;
}

/**
 * Key type, with everything that Coffer knows about it. Each capability is an optional member; code outside this folder
 * never asks for the type itself. To add a type, add a value of this kind and a line in the registry (index.ts).
 *
 * `M` is the opened material, private to the type; callers pass back the result of `open`.
 */
export interface KeyType<M = unknown> {
  /** Name in the API: `aes256-gcm96`. */
  readonly name: string;
  /** Other names of the type in Vault and OpenBao, which are accepted as well. */
  readonly familyNames?: readonly FamilyName[];
  /** Protocols of other programs in which keys of this type have a form; absent for none. */
  readonly protocols?: readonly KeyProtocol[];
  /** Present if keys of this type encrypt and decrypt with associated data, and may be convergent. */
  readonly aead?: Aead<M>;
  /** Present if keys of this type encrypt to a public key. */
  readonly publicKeyEncryption?: PublicKeyEncryption<M>;
  /** Present if keys of this type sign and verify. */
  readonly signing?: Signing<M>;
  /** Present if keys of this type agree on a secret with the public key of a peer. */
  readonly agreement?: KeyAgreement<M>;
  /** Present if a key may be `derived`: each context has a key of its own. */
  readonly derivation?: Derivation<M>;
  /** Present if versions have a public key. */
  readonly publicKey?: PublicKey<M>;
  /** Present if the key's length is chosen at creation (`key_size`). */
  readonly size?: { readonly minimumBytes: number; readonly maximumBytes: number };
  /** Present if key material can be imported. */
  readonly importing?: Importing<M>;
  readonly backup: BackupForm;

  /**
   * Generates the key of a new version. Slow work (RSA) happens off the event loop.
   * @param keyBytes length chosen at creation; only used by types with `size`
   */
  generate(random: Random, keyBytes: number): MaybePromise<StoredMaterial>;
  /** Whether `generate` takes milliseconds to seconds, so that it must not run while the write lock is held. */
  readonly generatesSlowly?: boolean;
  /** Parses stored material; work that an operation may not need is deferred. */
  open(stored: StoredMaterial): M;
  /** Present if the key itself (base64) is used for HMACs, and versions have no separate HMAC key. */
  hmacKeyOf?(stored: StoredMaterial): string;
  /**
   * Exports the private key for `export/encryption-key` and `export/signing-key`; present if the type encrypts or
   * signs. The material must have a private key.
   * @throws `invalid` if the type does not have the format
   */
  exportSecret?(material: M, format: ExportFormat): string;
}

/** Protocol of programs that do not know Coffer, which has forms for some key types. */
export type KeyProtocol = 'ssh' | 'pkcs11' | 'age';

/**
 * Name of a type in Vault or OpenBao.
 * @see docs/decisions/0022
 */
export interface FamilyName {
  readonly name: string;
  /** Required `parameter_set`; absent if the name alone identifies the type. */
  readonly parameterSet?: string;
  /** Present if keys with this name are exported raw, in base64, by default. */
  readonly raw?: true;
}

/** Export format; empty for the type's default. `der` is base64. */
export type ExportFormat = '' | 'raw' | 'der' | 'pem';

export interface Aead<M> {
  /** 12 or 24. */
  readonly nonceBytes: number;
  /** Prepares the material for many messages; the caller caches the result. A large dependency is loaded here. */
  cipher(material: M): MaybePromise<AeadCipher>;
}

/** Key that is ready for use. */
export interface AeadCipher {
  /**
   * Encrypts.
   * @returns ciphertext and 16-byte tag, in parts that the caller concatenates
   */
  encrypt(nonce: Uint8Array, plaintext: Uint8Array, associatedData?: Uint8Array): readonly Uint8Array[];
  /**
   * Decrypts.
   * @param sealed ciphertext and tag; may be too short to contain a tag
   * @throws `invalid` with the type's message if it is not authentic
   */
  decrypt(nonce: Uint8Array, sealed: Uint8Array, associatedData?: Uint8Array): Buffer;
}

export interface PublicKeyEncryption<M> {
  /** The only `padding_scheme`; absent for types without padding. */
  readonly paddingScheme?: string;
  /**
   * Encrypts.
   * @param hash hash of the padding, if the type has one
   * @throws `invalid` if the plaintext is too long for the key
   */
  encrypt(material: M, plaintext: Uint8Array, hash?: DigestHashName): Buffer;
  /**
   * Decrypts.
   * @throws `invalid` with the same message for every cause, so that it reveals nothing to an attacker
   */
  decrypt(material: M, ciphertext: Uint8Array, hash?: DigestHashName): Buffer;
}

/** Signature options. `pkcs1v15` and `none` are for RSA; `marshaling` is the encoding of ECDSA signatures. */
export interface SignatureOptions {
  readonly hash: DigestHashName | 'none';
  /** Whether the input is already the digest. */
  readonly prehashed: boolean;
  /** Algorithm as given by the caller; empty for the type's default. Each type refuses unknown ones. */
  readonly signatureAlgorithm: string;
  readonly marshaling: Marshaling;
  readonly saltLength: SaltLength;
  /** Context bound into the signature, only for types with `bindsContexts`. At most 255 bytes. */
  readonly context?: Uint8Array;
}

/** `asn1`: DER of r and s. `jws`: r and s padded and concatenated (RFC 7515). */
export type Marshaling = 'asn1' | 'jws';

export interface Signing<M> {
  /** Present if the input is hashed with the hash that the caller names, and the digest may be signed instead. */
  readonly signsHashes?: true;
  /** Present if a signature may be bound to a context (RFC 8032, FIPS 204, FIPS 205). */
  readonly bindsContexts?: true;
  /**
   * Signs. The material must have a private key.
   * @throws `invalid` if options or input do not fit the key
   */
  sign(material: M, input: Uint8Array, options: SignatureOptions, random: Random): MaybePromise<Buffer>;
  /**
   * Verifies.
   * @returns whether the signature is valid for this input; false for bytes that could never be one
   * @throws `invalid` if the signature cannot be parsed, or the options do not fit the key
   */
  verify(
    material: M,
    input: Uint8Array,
    signature: Uint8Array,
    options: SignatureOptions,
  ): MaybePromise<boolean>;
  readonly certification: Certification<M>;
}

/** Certification for X.509 (RFC 5280): a public key, and a signature scheme in the encoding of certificates. */
export interface Certification<M> {
  /** `AlgorithmIdentifier` of the signatures, DER; absent if it is that of the public key. */
  readonly algorithm?: Buffer | undefined;
  publicKey(material: M): KeyObject;
  /** Signs. The material must have a private key. */
  sign(material: M, bytes: Uint8Array): MaybePromise<Buffer>;
}

interface KeyAgreement<M> {
  /**
   * Computes the shared secret with a peer's public key (NIST SP 800-56A, 5.7.1.2). The material must have a private
   * key; the caller overwrites the result.
   * @param peer public key in PEM
   * @throws `invalid` if it is not a key on the same curve
   */
  secretWith(material: M, peer: string): MaybePromise<Buffer>;
}

/** Key derivation functions by their number in the stored document: NIST SP 800-108 counter mode, HKDF-SHA256. */
export const KDF_COUNTER = 0;
export const KDF_HKDF = 1;
export type DerivationMode = typeof KDF_COUNTER | typeof KDF_HKDF;

export interface Derivation<M> {
  /** Functions that yield a usable key; the counter mode only derives 32 bytes. */
  readonly kdfs: readonly DerivationMode[];
  /** Length of a derived key, in bytes. */
  readonly keyBytes: number;
  /** Returns a copy of the input keying material, which the caller overwrites. The material must have a private key. */
  inputKey(material: M): Buffer;
  /** Creates the material of the derived key. The bytes are copied; the caller overwrites them. */
  materialOf(derivedKey: Uint8Array): M;
}

export interface PublicKey<M> {
  /** Algorithm name in the key's description: `P-256`, `ed25519`, `rsa-2048`. */
  readonly label: string;
  /**
   * Prints the public key for the key's description: PEM (SubjectPublicKeyInfo), or base64 of the raw bytes if Vault
   * does so.
   */
  print(material: M): string;
  /**
   * Prints the public key for `export/public-key`.
   * @throws `invalid` if the type does not have the format
   */
  export(material: M, format: ExportFormat): string;
}

export interface Importing<M> {
  /**
   * Imports a secret.
   * @param bytes raw key of a symmetric type, PKCS#8 DER of an asymmetric one
   * @throws `invalid` if they are not a key of this type
   */
  secret(bytes: Uint8Array): MaybePromise<StoredMaterial>;
  /**
   * Present if a public key alone may be imported.
   * @param text PEM (SubjectPublicKeyInfo), or an age recipient
   * @throws `invalid`
   */
  publicKey?(text: string): StoredMaterial;
  /**
   * Present if private keys of this type have an age encoding.
   * @returns the input of `secret`, which the caller overwrites; undefined for a text of another type
   * @throws `invalid` if the text is mistyped
   */
  identityBytes?(text: string): Buffer | undefined;
  /**
   * Exports the secret for a transfer to another server, the inverse of `secret`; a copy that the caller overwrites.
   */
  secretBytes(material: M): Buffer;
}

/**
 * Form of a key type in backup documents of Vault and OpenBao. A type without an OpenBao number is written by name,
 * which they refuse instead of misreading it.
 * @see docs/decisions/0022
 */
export interface BackupForm {
  /** Type number in OpenBao's documents; absent if OpenBao does not have the type. */
  readonly openbao?: number;
  /**
   * Type number in Vault's documents, which types that differ in `parameterSet` share; absent if Vault does not have
   * the type.
   */
  readonly vault?: number;
  /** Present if earlier releases wrote the type's name; such backups can still be read. */
  readonly wasNamed?: true;
  /**
   * Upper bound of the cost of `read`, in milliseconds on today's processors: a backup with many versions must have a
   * proportional length. Absent if nothing has to be computed.
   */
  readonly readMs?: number;
  /**
   * Parses an entry.
   * @throws `invalid` if it is not a key of this type: wrong length, point off the curve, halves that do not match
   */
  read(entry: BackupMaterial): MaybePromise<StoredMaterial>;
  /**
   * Present if checking that a key works takes too long to be done for every version. It is done for the latest one;
   * for others, signing detects it.
   * @throws `invalid` if the key does not work
   */
  readonly probe?: ((stored: StoredMaterial) => Promise<void>) | undefined;
  write(stored: StoredMaterial): MaybePromise<BackupMaterial>;
}

/** Part of a backup's entry that holds the key itself. Members that are null there are absent here. */
export interface BackupMaterial {
  /** `key` */
  readonly key?: Uint8Array | undefined;
  /** `ec_x`, `ec_y`, `ec_d`; without `d`, only the public key is known. */
  readonly ec?: { readonly x: bigint; readonly y: bigint; readonly d?: bigint | undefined } | undefined;
  /** `rsa_key` */
  readonly rsa?: RsaNumbers | undefined;
  /** `rsa_public_key` */
  readonly rsaPublic?: { readonly n: bigint; readonly e: bigint } | undefined;
  /** `public_key`, unchanged. */
  readonly publicKey?: string | undefined;
}

/** RSA private key (RFC 8017, 3.2). */
export interface RsaNumbers {
  readonly n: bigint;
  readonly e: bigint;
  readonly d: bigint;
  readonly primes: readonly bigint[];
  /** Derived from the numbers above: written for Vault and OpenBao, ignored when read. */
  readonly precomputed?: { readonly dp: bigint; readonly dq: bigint; readonly qInv: bigint };
}

/**
 * Type of the keys in a repository's keyring, defined by its format; independent of the default key type, which may
 * change.
 */
export const KEYRING_KEY_TYPE = 'aes256-gcm96';
