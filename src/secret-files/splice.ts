import { type CofferError, invalid, unlessRefused } from '../ground/errors.ts';
import { type FileFormat, lineAt, type ScalarPlace, type SecretFile } from './format.ts';

/** Returns the text with some scalars replaced; every other character stays. */
export function spliced(file: SecretFile, sources: ReadonlyMap<ScalarPlace, string>): string {
  const { text } = file;
  let result = '';
  let at = 0;
  for (const place of file.places) {
    const source = sources.get(place);
    if (source === undefined) continue;
    result += text.slice(at, place.start) + source;
    at = place.end;
  }
  return result + text.slice(at);
}

/**
 * Replaces scalars like `spliced`, and parses the result again: each replacement must be one scalar at the same place,
 * and all other places must be unchanged. Otherwise an attacker who can encrypt could add keys to the file of someone
 * who decrypts it.
 * @throws `invalid` naming the first place that differs
 * @see docs/decisions/0146
 */
export function respliced(
  format: FileFormat,
  name: string,
  file: SecretFile,
  sources: ReadonlyMap<ScalarPlace, string>,
): SecretFile {
  const text = spliced(file, sources);
  const misfit = (place: ScalarPlace): CofferError =>
    invalid(
      `${name}:${lineAt(file.text, place.start)}: ${place.name}: the decrypted text cannot be written into this file`,
      {
        hint: 'the value may have been copied from a file of another format: set it again with "coffer secrets set FILE NAME"',
      },
    );
  const [first] = sources.keys();
  const result = first === undefined ? file : parsedAgain(format, text, name, misfit(first));
  let delta = 0;
  for (const [index, place] of file.places.entries()) {
    const now = result.places[index];
    const source = sources.get(place) ?? place.source;
    if (now?.name !== place.name || now.source !== source || now.start !== place.start + delta)
      throw misfit(place);
    delta += source.length - place.source.length;
  }
  if (first === undefined) return result;
  if (result.places.length !== file.places.length) throw misfit(first);
  const goesOn = beginsAnother(file, result, sources);
  if (goesOn !== undefined) throw misfit(goesOn);
  if (hasOtherNames(format, result)) throw misfit(first);
  return result;
}

/** Finds a replaced value of a `.env` file with a quote that, for some readers, extends it over the next value. */
function beginsAnother(
  file: SecretFile,
  result: SecretFile,
  sources: ReadonlyMap<ScalarPlace, string>,
): ScalarPlace | undefined {
  const begun = new Set(
    result.places.flatMap(({ otherNameAt }, index) =>
      file.places[index]?.otherNameAt === undefined && otherNameAt !== undefined ? [otherNameAt] : [],
    ),
  );
  const found = result.places.findIndex(
    ({ start, source, text }, index) =>
      begun.has(start) &&
      text === source &&
      /^["'`]/.test(source) &&
      sources.has(file.places[index] as ScalarPlace),
  );
  return file.places[found];
}

/**
 * Whether readers that recognize more line ends (YAML 1.1) find other names in the file, or a file that is malformed
 * here: with a duplicate name, for example, of which such readers silently take one.
 */
function hasOtherNames(format: FileFormat, file: SecretFile): boolean {
  const { places } = file;
  const otherwise = format.asOthersRead?.(file);
  if (otherwise === undefined) return false;
  const others = unlessRefused(() => format.parse(otherwise, '').places, undefined);
  return others?.length !== places.length || others.some(({ name }, index) => name !== places[index]?.name);
}

function parsedAgain(format: FileFormat, text: string, name: string, misfit: CofferError): SecretFile {
  try {
    return format.parse(text, name);
  } catch {
    throw misfit;
  }
}

/**
 * Parses a text in which one value was set or removed, and verifies that nothing else differs.
 * @param name name of the value that may differ
 * @throws `invalid` if the change affected anything else, which only an unusual layout can cause
 */
export function changedAlone(
  format: FileFormat,
  path: string,
  { before, text, name }: { readonly before: SecretFile; readonly text: string; readonly name: string },
): SecretFile {
  const failed = invalid(`${path}: cannot change ${name} without changing the layout of the file`, {
    hint: 'change it in an editor',
  });
  const after = parsedAgain(format, text, path, failed);
  const others = (file: SecretFile): string =>
    JSON.stringify(
      file.places.filter((place) => place.name !== name).map((place) => [place.name, place.source]),
    );
  if (others(before) !== others(after)) throw failed;
  return after;
}
