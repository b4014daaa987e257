import { constants, createHash, type KeyObject, publicEncrypt } from 'node:crypto';
import type { Offer } from '../../../access/doors.ts';
import { asCofferError, denied, unavailable } from '../../../ground/errors.ts';
import { isObject } from '../../../ground/objects.ts';
import { resultOf } from '../../../operations/declaration/operation.ts';
import { publicVerifier } from '../../../transit/public-verification.ts';
import { plaintextIn, signatureIn } from '../answers.ts';
import type { Desk } from '../desk.ts';
import { PublicKeys } from '../public-keys.ts';
import type { KeyKind, Scheme, SignatureWords } from './mechanisms.ts';

/** A version of a key that is offered, with what everybody may know of it. */
export interface KeyVersion {
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

/** Uses of keys, in the words of their offers. */
export const SIGN = 'sign';
export const DECRYPT = 'decrypt';

const COORDINATE_BYTES: Readonly<Record<string, number>> = {
  prime256v1: 32,
  secp384r1: 48,
  secp521r1: 66,
  secp256k1: 32,
};

/** Bytes of a signature, which all signatures of a key have. */
export function signatureBytes({ kind, publicKey }: Pick<KeyVersion, 'kind' | 'publicKey'>): number {
  const { modulusLength = 0, namedCurve = '' } = publicKey.asymmetricKeyDetails ?? {};
  return kind === 'rsa' ? modulusLength / 8 : 2 * (COORDINATE_BYTES[namedCurve] ?? 0);
}

/** What is signed: a digest, or what the store makes one of. */
export interface ToSign {
  readonly input: Buffer;
  readonly isDigest: boolean;
}

/** The keys that are offered through this door, as the store has them now. */
export class Keys {
  readonly #desk: Desk;
  readonly #publicKeys = new PublicKeys();
  /** At which revision of the store a version was seen to be there still. */
  readonly #seen = new WeakMap<KeyVersion, string>();

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  /** Every version that may still be used, the latest of each key first. @throws as `Desk.offers`. */
  async versions(): Promise<readonly KeyVersion[]> {
    const offers = await this.#desk.offers();
    const versions = await Promise.all(
      offers.map(async (offer) => versionsIn(offer, await this.#read(offer), this.#publicKeys)),
    );
    return versions.flat();
  }

  /** Undefined for a key that is not there any more, or was never. */
  async #read({ key: name, mount }: Offer): Promise<unknown> {
    try {
      return resultOf(await this.#desk.run('transit keys read', { name }, mount));
    } catch (error) {
      const kind = asCofferError(error)?.kind;
      if (kind === 'not-found' || kind === 'denied') return undefined;
      throw error;
    }
  }

  /** A key as it is offered now, which may be otherwise than when it was found. @throws `denied` */
  async #offerNow({ offer: { mount, key } }: KeyVersion): Promise<Offer> {
    const offer = (await this.#desk.offers()).find((other) => other.mount === mount && other.key === key);
    if (offer !== undefined) return offer;
    throw denied('this key is not offered');
  }

  /** @throws what signing throws; `denied` where somebody was asked and did not agree, and for what is not offered any more. */
  async sign(key: KeyVersion, scheme: Scheme, toSign: ToSign, gone: AbortSignal): Promise<Buffer> {
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
    // A key of the same name may have come in its place, and nobody is given what does not hold.
    const holds =
      key.kind === 'ec'
        ? await this.#isStill(key)
        : await isSignatureOf(key, scheme, digestOf(scheme, toSign), signature);
    if (holds) return signature;
    throw unavailable('the signature is not one of the key');
  }

  /** To look takes a tenth of the time of verifying over a digest of elliptic curves, which OpenSSL is not to be had for. */
  async #isStill(key: KeyVersion): Promise<boolean> {
    const revision = await this.#desk.revision?.();
    if (revision !== undefined && this.#seen.get(key) === revision) return true;
    const { offer, version, publicKeyPem } = key;
    const versions = versionsIn(offer, await this.#read(offer), this.#publicKeys);
    if (!versions.some((now) => now.version === version && now.publicKeyPem === publicKeyPem)) return false;
    if (revision !== undefined) this.#seen.set(key, revision);
    return true;
  }

  /** @throws what decrypting throws; `denied` as for `sign`. */
  async decrypt(key: KeyVersion, ciphertext: Buffer, gone: AbortSignal): Promise<Buffer> {
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

const digestOf = ({ hash }: Scheme, { input, isDigest }: ToSign): Buffer =>
  hash === undefined || isDigest ? input : createHash(hash.node).update(input).digest();

/** How signatures are written behind the version. */
const encodingOf = ({ marshaling_algorithm: marshaling }: SignatureWords): 'base64' | 'base64url' =>
  marshaling === undefined ? 'base64' : 'base64url';

/** Needs nothing but the public key, so nobody is asked. */
export async function isSignatureOf(
  { publicKey }: KeyVersion,
  { words }: Scheme,
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

/** As the store's RSA keys encrypt. @throws where the plaintext is too long. */
export const encryptWith = ({ publicKey }: KeyVersion, plaintext: Buffer): Buffer =>
  publicEncrypt({ key: publicKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }, plaintext);

const numberIn = (data: Readonly<Record<string, unknown>>, name: string): number => {
  const value = data[name];
  return typeof value === 'number' ? value : 0;
};

/** @param data what `transit keys read` answers. */
function versionsIn(offer: Offer, data: unknown, publicKeys: PublicKeys): readonly KeyVersion[] {
  if (!isObject(data) || !isObject(data['keys']) || data['soft_deleted'] === true) return [];
  const latest = numberIn(data, 'latest_version');
  const least = numberIn(data, 'min_encryption_version');
  const versions = Object.entries(data['keys']).flatMap(([name, version]): readonly KeyVersion[] => {
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
