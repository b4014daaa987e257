import { readDer } from '../../../ground/der.ts';
import { asCofferError } from '../../../ground/errors.ts';
import { glob } from '../../../ground/glob.ts';
import type { Certificate } from '../../x509/certificate.ts';
import { textOf } from '../../x509/names.ts';
import type { CertRoleSettings } from './documents.ts';

/** Letters, digits, hyphens and underscores between dots (RFC 1034, 3.5), and stars. */
const DNS_NAME = /^[\w*-]+(?:\.[\w*-]+)*\.?$/;
/** Email addresses of RFC 5280, 4.2.1.6: visible ASCII characters, and spaces where they are quoted. */
const MAILBOX = /^[\x20-\x7e]+$/;
const URI = /^[\x21-\x7e]+$/;
/** Text without control characters and line breaks, and without replacement characters of invalid encodings. */
const TEXT = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\ufffd]*$/u;

/** Filters out malformed names: patterns are meant for well-formed ones. */
const namesOf = (form: RegExp, names: readonly string[]): readonly string[] =>
  names.filter((name) => form.test(name));

/** List of patterns in a role, and the names of a certificate that it applies to. */
type NameRule = readonly [
  list: keyof CertRoleSettings & `allowed_${string}`,
  of: (leaf: Certificate) => readonly string[],
];

const RULES: readonly NameRule[] = [
  [
    'allowed_names',
    ({ commonName, dns, emails }) => [
      ...namesOf(TEXT, [commonName]),
      ...namesOf(DNS_NAME, dns),
      ...namesOf(MAILBOX, emails),
    ],
  ],
  ['allowed_common_names', ({ commonName }) => namesOf(TEXT, [commonName])],
  ['allowed_dns_sans', ({ dns }) => namesOf(DNS_NAME, dns)],
  ['allowed_email_sans', ({ emails }) => namesOf(MAILBOX, emails)],
  ['allowed_uri_sans', ({ uris }) => namesOf(URI, uris)],
  ['allowed_organizational_units', ({ organizationalUnits }) => namesOf(TEXT, organizationalUnits)],
];

/** Whether a certificate meets the requirements of a role, apart from its issuer. */
export function meets(leaf: Certificate, settings: CertRoleSettings): boolean {
  const hasNames = RULES.every(([list, of]) => {
    const patterns = settings[list];
    return patterns.length === 0 || of(leaf).some((name) => patterns.some((pattern) => glob(pattern)(name)));
  });
  return hasNames && settings.required_extensions.every((required) => hasExtension(leaf, required));
}

/** Returns the number of requirements of a role. */
export const strictness = (settings: CertRoleSettings): number =>
  RULES.filter(([list]) => settings[list].length > 0).length +
  (settings.required_extensions.length > 0 ? 1 : 0);

function hasExtension(leaf: Certificate, required: string): boolean {
  const colon = required.indexOf(':');
  const value = extensionText(leaf, required.slice(0, colon));
  return value !== undefined && TEXT.test(value) && glob(required.slice(colon + 1))(value);
}

/** Returns the text of an extension; empty if it has another type, undefined if it is absent. */
export function extensionText({ extensions }: Certificate, type: string): string | undefined {
  const found = extensions.get(type);
  if (found === undefined) return undefined;
  try {
    return textOf(readDer(found.value)) ?? '';
  } catch (error) {
    if (asCofferError(error) === undefined) throw error;
    return '';
  }
}
