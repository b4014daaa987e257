import { X509Certificate } from 'node:crypto';
import {
  booleanOf,
  type DerValue,
  identifierOf,
  integerOf,
  membersOf,
  readDer,
  TAG,
} from '../../ground/der.ts';
import { invalid } from '../../ground/errors.ts';
import { ownWords } from '../../ground/own-words.ts';
import { isSound } from './algorithms.ts';
import { type Extension, extensionsOf } from './extensions.ts';
import {
  type AlternativeNames,
  alternativeNamesOf,
  attributesOf,
  canonicalName,
  commonNameOf,
  organizationalUnitsOf,
} from './names.ts';

/**
 * Certificate (RFC 5280), as parsed by OpenSSL, which is used for everything about keys and signatures; and in addition
 * its extensions and names, of which Node returns only some, in a single text.
 * @see docs/decisions/0181
 */
export interface Certificate extends AlternativeNames {
  readonly x509: X509Certificate;
  /** Decimal. */
  readonly serial: string;
  /** In the form of `canonicalName`. */
  readonly issuer: string;
  readonly subject: string;
  readonly commonName: string;
  readonly organizationalUnits: readonly string[];
  /** Extensions by object identifier. */
  readonly extensions: ReadonlyMap<string, Extension>;
  /** Whether the certificate may sign other certificates (basicConstraints CA). */
  readonly isAuthority: boolean;
  /** Maximum number of intermediates between it and a leaf; absent for unlimited. */
  readonly pathLength?: bigint | undefined;
  /** Extended key usages; absent for any. */
  readonly purposes?: readonly string[] | undefined;
  /** Whether its signature algorithm is secure. */
  readonly isSoundlySigned: boolean;
  /** Subject key identifier, hexadecimal with colons; empty if there is none. */
  readonly subjectKeyId: string;
  readonly authorityKeyId: string;
}

export const EXTENSION = {
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  alternativeNames: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
} as const;

/** Tag of the extensions. */
const EXTENSIONS_TAG = 0xa3;
const VERSION_TAG = TAG.context0;
const KEY_ID_TAG = 0x80;

/**
 * Parses a certificate.
 * @throws `invalid` if it is malformed, or OpenSSL and this parser disagree
 */
export function readCertificate(der: Buffer): Certificate {
  const x509 = parsedByOpenSsl(der);
  const [tbs, algorithm] = membersOf(readDer(der), TAG.sequence);
  const members = membersOf(tbs, TAG.sequence);
  if (members[0]?.tag === VERSION_TAG) members.shift();
  const [serial, , issuer, , subject] = members;
  const extensions = extensionsOf(
    members.find(({ tag }) => tag === EXTENSIONS_TAG),
    EXTENSIONS_TAG,
  );
  const names = attributesOf(subject);
  const constraints = extensionIn(extensions, EXTENSION.basicConstraints);
  const { isAuthority, pathLength } = readConstraints(constraints);
  const purposes = extensionIn(extensions, EXTENSION.extendedKeyUsage);
  return {
    x509,
    serial: String(integerOf(serial)),
    issuer: canonicalName(attributesOf(issuer)),
    subject: canonicalName(names),
    commonName: commonNameOf(names),
    organizationalUnits: organizationalUnitsOf(names),
    ...alternativeNamesOf(extensionIn(extensions, EXTENSION.alternativeNames)),
    extensions,
    isAuthority: isAuthority && x509.ca,
    pathLength,
    purposes: purposes === undefined ? undefined : membersOf(purposes, TAG.sequence).map(identifierOf),
    isSoundlySigned: isSound(algorithm),
    subjectKeyId: hexOf(extensionIn(extensions, EXTENSION.subjectKeyId)?.content),
    authorityKeyId: hexOf(authorityKeyOf(extensionIn(extensions, EXTENSION.authorityKeyId))),
  };
}

function parsedByOpenSsl(der: Buffer): X509Certificate {
  try {
    const x509 = new X509Certificate(der);
    const times = [x509.validFromDate, x509.validToDate].map((date) => date.getTime());
    if (x509.raw.equals(der) && !times.some(Number.isNaN)) return x509;
  } catch {
    // Reported below.
  }
  throw invalid(ownWords('not a certificate'));
}

function extensionIn(extensions: ReadonlyMap<string, Extension>, type: string): DerValue | undefined {
  const found = extensions.get(type);
  return found === undefined ? undefined : readDer(found.value);
}

function readConstraints(value: DerValue | undefined): {
  isAuthority: boolean;
  pathLength?: bigint | undefined;
} {
  if (value === undefined) return { isAuthority: false };
  const members = membersOf(value, TAG.sequence);
  const isAuthority = members[0]?.tag === TAG.boolean && booleanOf(members[0]);
  const length = members.find(({ tag }) => tag === TAG.integer);
  return { isAuthority, pathLength: length === undefined ? undefined : integerOf(length) };
}

const authorityKeyOf = (value: DerValue | undefined): Buffer | undefined =>
  value === undefined
    ? undefined
    : membersOf(value, TAG.sequence).find(({ tag }) => tag === KEY_ID_TAG)?.content;

const hexOf = (bytes: Buffer | undefined): string =>
  bytes?.toString('hex').replaceAll(/(..)(?=.)/g, '$1:') ?? '';
