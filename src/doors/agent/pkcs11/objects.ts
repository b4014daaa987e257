import type { KeyObject } from 'node:crypto';
import { curveOf } from '../../../ground/curves.ts';
import { der } from '../../../ground/der.ts';
import { keyNameOf } from '../key-name.ts';
import {
  type CertificateNaming,
  certificateAttributes,
  certificatesIn,
  namingOfAuthority,
} from './certificates.ts';
import type { OfferedKeyVersion } from './keys.ts';
import { type KeyKind, mechanismsOf } from './mechanisms.ts';
import { ATTRIBUTE as A, type AttributeValue, NO_AS_BYTES, type ObjectAttribute } from './rpc/attributes.ts';
import { MECHANISM } from './rpc/mechanisms.ts';

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
