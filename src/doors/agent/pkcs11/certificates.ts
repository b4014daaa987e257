import { hash, type X509Certificate } from 'node:crypto';
import { type DerValue, membersOf, readDer, TAG } from '../../../ground/der.ts';
import { pemBlocks } from '../../../ground/pem.ts';
import { readCertificate } from '../../../transit/certificates/certificate.ts';
import { ATTRIBUTE as A, type AttributeValue, NO_AS_BYTES } from './rpc/attributes.ts';

/** Certificate objects of a token. */

const CERTIFICATE = 1;
const X509 = 0;
const CATEGORY = { user: 1, authority: 2 } as const;
const CHECK_BYTES = 3;

/** ID and label of a certificate: those of its key, or its own. */
export interface CertificateNaming {
  readonly id: Buffer;
  readonly label: string;
}

/**
 * Parses certificates.
 * @param pem leaf first
 * @returns those that can be parsed, in order
 */
export const certificatesIn = (pem: string): readonly X509Certificate[] =>
  pemBlocks(pem).blocks.flatMap(({ bytes }) => readCertificate(bytes) ?? []);

/** Returns the ID and label of an authority, by its subject. */
export const namingOfAuthority = ({ raw, subject }: X509Certificate): CertificateNaming => ({
  id: hash('sha1', raw, 'buffer'),
  label: /^CN=(.+)$/m.exec(subject)?.[1] ?? subject?.split('\n').at(-1) ?? '',
});

export function certificateAttributes(
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
function namesIn(raw: Buffer): readonly (readonly [number, AttributeValue])[] {
  try {
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
  } catch {
    return [];
  }
}

const bytesOf = (value: DerValue | undefined): Buffer => value?.bytes ?? Buffer.alloc(0);
