import { type CofferError, notFound } from '../../ground/errors.ts';
import { meantText, nearest } from '../../ground/nearness.ts';
import type { ReadFile } from './transform.ts';

/** Maximum number of names in a message. */
const MOST_NAMES = 6;

/**
 * Returns the error about a value that a file does not have, with the name that was probably meant, or else those that
 * there are. Names are readable in the file, so no key is needed for it.
 * @param where place that names the value, for the start of the message
 */
export function missingValue({ path, file }: ReadFile, name: string, where?: string): CofferError {
  const names = file.places.map((place) => place.name);
  const start = where === undefined ? '' : `${where}: `;
  return notFound(`${start}${path} has no value ${name}`, { hint: hintFor(name, names) });
}

function hintFor(name: string, names: readonly string[]): string | undefined {
  const nested = names.find((other) => other.startsWith(`${name}.`));
  if (nested !== undefined) return `it has nested values, e.g. ${nested}`;
  const near = nearest(name, names);
  if (near.length > 0) return meantText(near);
  if (names.length === 0) return undefined;
  const more = names.length - MOST_NAMES;
  return `it has ${names.slice(0, MOST_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
