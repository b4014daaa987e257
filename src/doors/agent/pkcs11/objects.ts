import { hash, type KeyObject, type X509Certificate } from 'node:crypto';
import { curveOf } from '../../../ground/curves.ts';
import { type DerValue, der, membersOf, readDer, TAG } from '../../../ground/der.ts';
import { attempt } from '../../../ground/errors.ts';
import { pemBlocks } from '../../../ground/pem.ts';
import { readCertificate } from '../../../transit/certificates/certificate.ts';
import { keyNameOf } from '../desk.ts';
import type { OfferedKeyVersion } from './keys.ts';
import { type KeyKind, mechanismsOf } from './mechanisms.ts';
import { ATTRIBUTE as A, type AttributeValue, NO_AS_BYTES, type ObjectAttribute } from './rpc/attributes.ts';
import { MECHANISM } from './rpc/wire.ts';

/** Object of the token. */
export interface TokenObject {
  /** Unique name, which does not change as long as the object exists. */
  readonly name: string;
  readonly attributes: ReadonlyMap<number, AttributeValue>;
  /** Present for private and public keys. */
  readonly key?: { readonly version: OfferedKeyVersion; readonly isPrivate: boolean };
}

const CLASS = { publicKey: 2, privateKey: 3 } as const;
const KEY_TYPE: Readonly<Record<KeyKind, number>> = { rsa: 0, ec: 3 };
const GENERATION: Readonly<Record<KeyKind, number>> = {
  rsa: MECHANISM.rsaKeyPairGen,
  ec: MECHANISM.ecKeyPairGen,
};

const OCTET_STRING = 0x04;
const UNCOMPRESSED = 0x04;

/**
 * Returns the label and ID of a version: the label is `web` for the latest and `web@v1` for older ones, so that it
 * follows the key when it rotates; the ID stays with the version, always `web@v1`.
 * @see docs/decisions/0211
 */
function namingOf({ offer, version, isLatest }: OfferedKeyVersion): CertificateNaming {
  const name = keyNameOf(offer);
  const full = `${name}@v${version}`;
  return { id: Buffer.from(full), label: isLatest ? name : full };
}

/**
 * Returns the objects of all versions: keys in their order, then certificates. An authority appears once, however many
 * chains contain it.
 */
export function objectsOf(versions: readonly OfferedKeyVersion[]): readonly TokenObject[] {
  const certificates = new Map(versions.flatMap(certificateObjects).map((object) => [object.name, object]));
  return [...versions.flatMap(keyObjects), ...certificates.values()];
}

function keyObjects(version: OfferedKeyVersion): readonly TokenObject[] {
  const naming = namingOf(version);
  const shared: readonly (readonly [number, AttributeValue])[] = [
    [A.token, true],
    [A.label, Buffer.from(naming.label)],
    [A.id, naming.id],
    [A.keyType, KEY_TYPE[version.kind]],
    [A.subject, Buffer.alloc(0)],
    [A.startDate, Buffer.alloc(0)],
    [A.endDate, Buffer.alloc(0)],
    [A.derive, false],
    [A.local, true],
    [A.keyGenMechanism, GENERATION[version.kind]],
    [A.modifiable, false],
    [A.copyable, false],
    [A.destroyable, NO_AS_BYTES],
    [A.allowedMechanisms, mechanismsOf(version.kind)],
    [A.publicKeyInfo, version.publicKey.export({ format: 'der', type: 'spki' })],
    // Programs read them from the private key as well.
    ...publicNumbers(version.publicKey),
  ];
  const isRsa = version.kind === 'rsa';
  const privateKey: TokenObject = {
    name: `private ${naming.id}`,
    key: { version, isPrivate: true },
    attributes: new Map<number, AttributeValue>([
      ...shared,
      [A.class, CLASS.privateKey],
      [A.private, true],
      [A.sensitive, true],
      [A.alwaysSensitive, true],
      [A.extractable, false],
      [A.neverExtractable, true],
      [A.sign, version.signs],
      [A.decrypt, version.decrypts],
      [A.signRecover, false],
      [A.unwrap, false],
      [A.wrapWithTrusted, false],
      [A.alwaysAuthenticate, false],
    ]),
  };
  const publicKey: TokenObject = {
    name: `public ${naming.id}`,
    key: { version, isPrivate: false },
    attributes: new Map<number, AttributeValue>([
      ...shared,
      [A.class, CLASS.publicKey],
      [A.private, false],
      [A.trusted, false],
      [A.verify, true],
      [A.encrypt, isRsa],
      [A.verifyRecover, false],
      [A.wrap, false],
    ]),
  };
  return [privateKey, publicKey];
}

function publicNumbers(key: KeyObject): readonly (readonly [number, AttributeValue])[] {
  const { n, e, x = '', y = '' } = key.export({ format: 'jwk' });
  if (n !== undefined && e !== undefined) {
    return [
      [A.modulus, Buffer.from(n, 'base64url')],
      [A.publicExponent, Buffer.from(e, 'base64url')],
      [A.modulusBits, key.asymmetricKeyDetails?.modulusLength ?? 0],
    ];
  }
  const point = [Buffer.from([UNCOMPRESSED]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')];
  return [
    [A.ecParams, Buffer.from(curveOf(key)?.identifier ?? '', 'hex')],
    [A.ecPoint, der(OCTET_STRING, ...point)],
  ];
}

function certificateObjects(version: OfferedKeyVersion): readonly TokenObject[] {
  return certificatesIn(version.certificateChain).map((certificate, index) => {
    const naming = index === 0 ? namingOf(version) : namingOfAuthority(certificate);
    const name = index === 0 ? `certificate ${naming.id}` : `authority ${naming.id.toString('hex')}`;
    return { name, attributes: certificateAttributes(certificate, naming) };
  });
}

/** Whether an object matches all attributes of a template (C_FindObjects). */
export const matches = ({ attributes }: TokenObject, template: readonly ObjectAttribute[]): boolean =>
  template.every(({ type, value }) => {
    const own = attributes.get(type);
    return own !== undefined && value !== undefined && isEqual(own, value);
  });

function isEqual(one: AttributeValue, other: AttributeValue): boolean {
  if (Buffer.isBuffer(one)) return Buffer.isBuffer(other) && one.equals(other);
  if (Array.isArray(one)) {
    return (
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((value, index) => value === other[index])
    );
  }
  return one === other;
}

/** Attributes that a private key has but never reveals. */
const SECRETS: ReadonlySet<number> = new Set([
  A.value,
  A.privateExponent,
  A.prime1,
  A.prime2,
  A.exponent1,
  A.exponent2,
  A.coefficient,
]);

export const isSecret = ({ key }: TokenObject, type: number): boolean =>
  key?.isPrivate === true && SECRETS.has(type);

/** Certificate objects of a token. */

const CERTIFICATE = 1;
const X509 = 0;
const CATEGORY = { user: 1, authority: 2 } as const;
const CHECK_BYTES = 3;

/** ID and label of a certificate: those of its key, or its own. */
interface CertificateNaming {
  readonly id: Buffer;
  readonly label: string;
}

/**
 * Parses certificates.
 * @param pem leaf first
 * @returns those that can be parsed, in order
 */
const certificatesIn = (pem: string): readonly X509Certificate[] =>
  pemBlocks(pem).blocks.flatMap(({ bytes }) => readCertificate(bytes) ?? []);

/** Returns the ID and label of an authority, by its subject. */
const namingOfAuthority = ({ raw, subject }: X509Certificate): CertificateNaming => ({
  id: hash('sha1', raw, 'buffer'),
  label: /^CN=(.+)$/m.exec(subject)?.[1] ?? subject?.split('\n').at(-1) ?? '',
});

function certificateAttributes(
  certificate: X509Certificate,
  { id, label }: CertificateNaming,
): ReadonlyMap<number, AttributeValue> {
  const { raw, validFromDate, validToDate } = certificate;
  return new Map<number, AttributeValue>([
    [A.class, CERTIFICATE],
    [A.token, true],
    [A.private, false],
    [A.modifiable, false],
    [A.copyable, false],
    [A.destroyable, NO_AS_BYTES],
    [A.label, Buffer.from(label)],
    [A.id, id],
    [A.certificateType, X509],
    [A.certificateCategory, certificate.ca ? CATEGORY.authority : CATEGORY.user],
    [A.trusted, false],
    [A.checkValue, hash('sha1', raw, 'buffer').subarray(0, CHECK_BYTES)],
    [A.startDate, dateOf(validFromDate)],
    [A.endDate, dateOf(validToDate)],
    [A.value, raw],
    ...namesIn(raw),
  ]);
}

/** `YYYYMMDD` */
const dateOf = (date: Date): Buffer =>
  Buffer.from(Number.isNaN(date.getTime()) ? '' : date.toISOString().slice(0, 10).replaceAll('-', ''));

/**
 * Returns subject, issuer, serial number and public key in DER (RFC 5280, 4.1); none for a certificate in BER, which
 * OpenSSL accepts.
 */
const namesIn = (raw: Buffer): readonly (readonly [number, AttributeValue])[] =>
  attempt(() => {
    const [signed] = membersOf(readDer(raw), TAG.sequence);
    const members = membersOf(signed, TAG.sequence);
    const [serial, , issuer, , subject, publicKey] =
      members[0]?.tag === TAG.context0 ? members.slice(1) : members;
    return [
      [A.serialNumber, bytesOf(serial)],
      [A.issuer, bytesOf(issuer)],
      [A.subject, bytesOf(subject)],
      [A.publicKeyInfo, bytesOf(publicKey)],
    ];
  }, []);

const bytesOf = (value: DerValue | undefined): Buffer => value?.bytes ?? Buffer.alloc(0);
