import { constants, createHash, type KeyObject, publicEncrypt } from 'node:crypto';
import type { Offer } from '../../../access/doors.ts';
import { curveOf } from '../../../ground/curves.ts';
import { denied, refusedAs, unavailable } from '../../../ground/errors.ts';
import { isObject } from '../../../ground/objects.ts';
import { resultOf } from '../../../operations/declaration/operation.ts';
import { publicVerifier } from '../../../transit/public-verification.ts';
import { type Desk, plaintextIn, signatureIn } from '../desk.ts';
import { PublicKeys } from '../public-keys.ts';
import type { KeyKind, SignatureWords, SigningScheme } from './mechanisms.ts';

/** Version of an offered key, with its public attributes. */
export interface OfferedKeyVersion {
  readonly offer: Offer;
  readonly version: number;
  readonly isLatest: boolean;
  readonly kind: KeyKind;
  readonly publicKey: KeyObject;
  readonly publicKeyPem: string;
  /** PEM; empty without certificates. */
  readonly certificateChain: string;
  readonly signs: boolean;
  readonly decrypts: boolean;
}

/** Names of uses in offers. */
const SIGN = 'sign';
const DECRYPT = 'decrypt';

/** Returns the length of the key's signatures in bytes, which is constant. */
export function signatureBytes({ kind, publicKey }: Pick<OfferedKeyVersion, 'kind' | 'publicKey'>): number {
  const { modulusLength = 0 } = publicKey.asymmetricKeyDetails ?? {};
  return kind === 'rsa' ? modulusLength / 8 : 2 * (curveOf(publicKey)?.coordinateBytes ?? 0);
}

/** Data to sign: a digest, or data that the store hashes. */
interface ToSign {
  readonly input: Buffer;
  readonly isDigest: boolean;
}

/** Keys that are offered by this protocol, as currently in the store. */
export class OfferedKeys {
  readonly #desk: Desk;
  readonly #publicKeys = new PublicKeys();
  /** Revision of the store at which a version was last seen. */
  readonly #seen = new WeakMap<OfferedKeyVersion, string>();

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  /**
   * Returns every usable version, the latest of each key first.
   * @throws as `Desk.offers`
   */
  async versions(): Promise<readonly OfferedKeyVersion[]> {
    const offers = await this.#desk.offers();
    const versions = await Promise.all(
      offers.map(async (offer) => versionsIn(offer, await this.#read(offer), this.#publicKeys)),
    );
    return versions.flat();
  }

  /** Reads a key; undefined if it does not exist. */
  async #read({ key: name, mount }: Offer): Promise<unknown> {
    const answer = this.#desk.run('transit keys read', { name }, mount);
    const known = await answer.catch(refusedAs(undefined, 'not-found', 'denied'));
    return known && resultOf(known);
  }

  /**
   * Returns the current offer of a key, which may have changed since it was found.
   * @throws `denied`
   */
  async #offerNow({ offer: { mount, key } }: OfferedKeyVersion): Promise<Offer> {
    const offer = (await this.#desk.offers()).find((other) => other.mount === mount && other.key === key);
    if (offer !== undefined) return offer;
    throw denied('this key is not offered');
  }

  /**
   * Signs.
   * @throws errors of signing; `denied` if the user refuses, and for a key that is no longer offered
   */
  async sign(
    key: OfferedKeyVersion,
    scheme: SigningScheme,
    toSign: ToSign,
    gone: AbortSignal,
  ): Promise<Buffer> {
    const { version } = key;
    const { words } = scheme;
    const { input, isDigest } = toSign;
    const offer = await this.#offerNow(key);
    await this.#desk.consent(offer, 'sign', gone);
    const answer = await this.#desk.run(
      'transit sign',
      {
        ...words,
        name: offer.key,
        key_version: version,
        prehashed: isDigest,
        input: input.toString('base64'),
      },
      offer.mount,
    );
    const signature = signatureIn(answer, encodingOf(words));
    // A key with the same name may have replaced it; never return a wrong signature.
    const holds =
      key.kind === 'ec'
        ? await this.#isStill(key)
        : await isSignatureOf(key, scheme, digestOf(scheme, toSign), signature);
    if (holds) return signature;
    throw unavailable('the returned signature does not match the key');
  }

  /**
   * Whether the key version still exists. For elliptic curve keys this replaces verifying the new signature, which
   * takes ten times as long, because OpenSSL cannot verify a signature over a digest.
   */
  async #isStill(key: OfferedKeyVersion): Promise<boolean> {
    const revision = await this.#desk.revision?.();
    if (revision !== undefined && this.#seen.get(key) === revision) return true;
    const { offer, version, publicKeyPem } = key;
    const versions = versionsIn(offer, await this.#read(offer), this.#publicKeys);
    if (!versions.some((now) => now.version === version && now.publicKeyPem === publicKeyPem)) return false;
    if (revision !== undefined) this.#seen.set(key, revision);
    return true;
  }

  /**
   * Decrypts.
   * @throws errors of decrypting; `denied` as for `sign`
   */
  async decrypt(key: OfferedKeyVersion, ciphertext: Buffer, gone: AbortSignal): Promise<Buffer> {
    const { version } = key;
    const offer = await this.#offerNow(key);
    await this.#desk.consent(offer, 'decrypt', gone);
    const text = `vault:v${version}:${ciphertext.toString('base64')}`;
    const answer = await this.#desk.run(
      'transit decrypt',
      { name: offer.key, ciphertext: text },
      offer.mount,
    );
    return plaintextIn(answer);
  }
}

const digestOf = ({ hash }: SigningScheme, { input, isDigest }: ToSign): Buffer =>
  hash === undefined || isDigest ? input : createHash(hash.node).update(input).digest();

/** Returns the encoding of signatures after the version. */
const encodingOf = ({ marshaling_algorithm: marshaling }: SignatureWords): 'base64' | 'base64url' =>
  marshaling === undefined ? 'base64' : 'base64url';

/** Verifies a signature with the public key, without asking the user. */
export async function isSignatureOf(
  { publicKey }: OfferedKeyVersion,
  { words }: SigningScheme,
  digest: Buffer,
  signature: Buffer,
): Promise<boolean> {
  const verifier = publicVerifier(publicKey, {
    hashAlgorithm: words.algorithm,
    prehashed: true,
    signatureAlgorithm: words.signature_algorithm ?? '',
    marshalingAlgorithm: words.marshaling_algorithm ?? 'asn1',
    saltLength: words.salt_length ?? 'auto',
  });
  return verifier.verify(digest, signature.toString(encodingOf(words)));
}

/**
 * Encrypts like the store's RSA keys do.
 * @throws if the plaintext is too long
 */
export const encryptWith = ({ publicKey }: OfferedKeyVersion, plaintext: Buffer): Buffer =>
  publicEncrypt({ key: publicKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }, plaintext);

const numberIn = (data: Readonly<Record<string, unknown>>, name: string): number => {
  const value = data[name];
  return typeof value === 'number' ? value : 0;
};

/**
 * Converts the result of `transit keys read`.
 * @param data that result
 */
function versionsIn(offer: Offer, data: unknown, publicKeys: PublicKeys): readonly OfferedKeyVersion[] {
  if (!isObject(data) || !isObject(data['keys']) || data['soft_deleted'] === true) return [];
  const latest = numberIn(data, 'latest_version');
  const least = numberIn(data, 'min_encryption_version');
  const versions = Object.entries(data['keys']).flatMap(([name, version]): readonly OfferedKeyVersion[] => {
    const number = Number(name);
    if (!isObject(version)) return [];
    const { public_key: pem, certificate_chain: chain } = version;
    const publicKey = publicKeys.read(pem);
    const kind = publicKey?.asymmetricKeyType;
    if (typeof pem !== 'string' || publicKey === undefined || (kind !== 'ec' && kind !== 'rsa')) return [];
    return [
      {
        offer,
        version: number,
        isLatest: number === latest,
        kind,
        publicKey,
        publicKeyPem: pem,
        certificateChain: typeof chain === 'string' ? chain : '',
        signs: offer.uses.includes(SIGN) && number >= least,
        decrypts: offer.uses.includes(DECRYPT) && kind === 'rsa',
      },
    ];
  });
  return versions.sort((one, other) => other.version - one.version);
}
