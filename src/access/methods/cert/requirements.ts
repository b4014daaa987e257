import { readDer } from '../../../ground/der.ts';
import { asCofferError } from '../../../ground/errors.ts';
import { glob } from '../../../ground/glob.ts';
import type { Certificate } from '../../x509/certificate.ts';
import { textOf } from '../../x509/names.ts';
import type { RoleSettings } from './documents.ts';

/** A list of patterns in a role, and what of a certificate they are about. */
type Rule = readonly [
  list: keyof RoleSettings & `allowed_${string}`,
  of: (leaf: Certificate) => readonly string[],
];

const RULES: readonly Rule[] = [
  ['allowed_names', ({ commonName, dns, emails }) => [commonName, ...dns, ...emails]],
  ['allowed_common_names', ({ commonName }) => [commonName]],
  ['allowed_dns_sans', ({ dns }) => dns],
  ['allowed_email_sans', ({ emails }) => emails],
  ['allowed_uri_sans', ({ uris }) => uris],
  ['allowed_organizational_units', ({ organizationalUnits }) => organizationalUnits],
];

/** Whether a certificate is what a role asks for, beside who signed it. */
export function meets(leaf: Certificate, settings: RoleSettings): boolean {
  const hasNames = RULES.every(([list, of]) => {
    const patterns = settings[list];
    return patterns.length === 0 || of(leaf).some((name) => patterns.some((pattern) => glob(pattern)(name)));
  });
  return hasNames && settings.required_extensions.every((required) => hasExtension(leaf, required));
}

/** How much a role asks for. */
export const strictness = (settings: RoleSettings): number =>
  RULES.filter(([list]) => settings[list].length > 0).length +
  (settings.required_extensions.length > 0 ? 1 : 0);

function hasExtension(leaf: Certificate, required: string): boolean {
  const colon = required.indexOf(':');
  const value = extensionText(leaf, required.slice(0, colon));
  return value !== undefined && glob(required.slice(colon + 1))(value);
}

/** The text of an extension, empty when it holds something else; undefined when it is not there. */
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
