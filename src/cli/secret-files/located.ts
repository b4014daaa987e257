import { lineCounter, type ScalarPlace, type SecretFile } from '../../secret-files/format.ts';
import type { SealedValue } from '../../secret-files/value.ts';

/** Encrypted value, with its place in a file. */
export interface LocatedValue {
  readonly path: string;
  readonly file: SecretFile;
  readonly place: ScalarPlace;
  readonly name: string;
  readonly value: SealedValue;
  readonly where: string;
}

/**
 * Returns the encrypted values of a file.
 * @param isMeant filter of the values; by default all
 */
export function locatedIn(
  { path, file }: { readonly path: string; readonly file: SecretFile },
  isMeant: (place: ScalarPlace) => boolean = () => true,
): readonly LocatedValue[] {
  const lineOf = lineCounter(file.text);
  return file.places.flatMap((place): LocatedValue[] => {
    const { name, sealed: value, start } = place;
    if (value === undefined || !isMeant(place)) return [];
    return [{ file, path, place, name, value, where: `${path}:${lineOf(start)}` }];
  });
}
