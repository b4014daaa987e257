import { realpathSync } from 'node:fs';
import { CofferError, expected, notFound, refusedAs, throwing } from '../../ground/errors.ts';
import { meantText, nearest } from '../../ground/nearness.ts';
import {
  lineCounter,
  nameOf,
  otherNameRefused,
  type ScalarPlace,
  type SecretFile,
} from '../../secret-files/format.ts';
import { stepsElsewhere } from '../../secret-files/names-elsewhere.ts';
import { respliced } from '../../secret-files/splice.ts';
import { formatValue, isCut, looksDamaged, type SealedValue } from '../../secret-files/value.ts';
import type { KeyReference } from '../../transit/envelope/ports.ts';
import { committed } from '../repository/git.ts';
import type { Session } from '../session.ts';
import { mayBeOfOthers, type ValueResult } from '../team/found-values.ts';
import { teamKeysFor } from '../team/nearest.ts';
import type { Adoption, CountedVersions } from '../team/team-keys.ts';
import { aliasHint, mergeHint } from './left-aliases.ts';
import { parsedFile, type ReadFile } from './secret-file.ts';
import { type ChosenKey, openValues, rewrapValues, sealValues, withoutStore } from './values.ts';

/** Encrypted value, with its place in a file. */
interface LocatedValue {
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

/** File that values were encrypted for, and that is about to be written. */
interface WrittenFile {
  readonly path: string;
  readonly file: SecretFile;
  /** The file as it was, if it had other encrypted values. */
  readonly before?: SecretFile | undefined;
  readonly key: KeyReference;
}

/**
 * Finds the files whose values were encrypted with the key of the same name of another store or keyring. Nobody could
 * open all values of such a file once it had a value of this key too.
 *
 * One value that opens is enough evidence that a file is not one of these; so that of others in the same file are seldom
 * opened. New values are mostly added at the end: the first one tells best whose file it is. A file with values of both
 * stores is left to its user, who can only mend it by setting values again.
 * @returns the error for each of these files, as commands that read them have it
 */
async function foreignFiles<F extends WrittenFile>(
  session: Session,
  files: readonly F[],
): Promise<ReadonlyMap<F, CofferError>> {
  const found = new Map(files.map((file) => [file, valuesOfKey(file)] as const));
  const firsts = [...found].flatMap(([file, [first]]) => (first === undefined ? [] : [{ file, first }]));
  const opened = await attempted(
    session,
    firsts.map(({ first }) => first),
  );
  const foreign = new Map<F, CofferError>();
  for (const [index, { file }] of firsts.entries()) {
    if (!mayBeOfOthers(opened[index])) continue;
    const results = await attempted(session, found.get(file) ?? []);
    const refusals = results.filter(mayBeOfOthers);
    const [refusal] = refusals;
    if (refusal === undefined) continue;
    if (refusals.length === results.length) foreign.set(file, refusal);
    else session.warn(`${refusal.message}; the value is left unchanged`);
  }
  return foreign;
}

/**
 * Checks that there is a store to encrypt with.
 * @throws `not-found` if there is none; for a file with encrypted values it names one, since a new store would not open it
 */
async function requireStore(session: Session, files: readonly WrittenFile[]): Promise<void> {
  const present = () => files.flatMap(({ path, file, before = file }) => locatedIn({ path, file: before }));
  await session.runner().catch(throwing((error) => withoutStore(error, present()) ?? error));
}

/** Returns the values of a file that are encrypted with a key of that name. Those whose end is missing tell nothing. */
const valuesOfKey = ({ path, file, before = file, key }: WrittenFile): readonly LocatedValue[] =>
  locatedIn(
    { path, file: before },
    ({ sealed }) =>
      sealed !== undefined && sealed.key === key.name && sealed.mount === key.mount && !isCut(sealed),
  );

/** Opens values. Whoever may only encrypt with a key learns nothing, and is not refused. */
const attempted = async (
  session: Session,
  values: readonly LocatedValue[],
): Promise<readonly (string | CofferError)[]> =>
  values.length === 0 ? [] : openValues(session, values, 'any').catch(refusedAs([]));

/** Result for one file, with the number of changed values; or all errors. */
export type FileResult =
  | { readonly file: SecretFile; readonly changed: number }
  | { readonly errors: readonly CofferError[] };

/** Plaintexts with known ciphertexts, by name. */
export type KnownValues = ReturnType<typeof knownValues>;

/**
 * Returns the plaintexts of a file with their ciphertexts.
 * @param opened same file, decrypted
 */
export function knownValues(sealed: SecretFile, opened: SecretFile) {
  const known = sealed.places.flatMap(({ name, sealed: value }, index) => {
    const source = opened.places[index]?.source;
    return value === undefined || source === undefined ? [] : [{ name, source, value }];
  });
  return Map.groupBy(known, ({ name }) => name);
}

/** Values to encrypt in one file. */
export interface Sealing extends ReadFile {
  readonly key: ChosenKey;
  readonly places: readonly ScalarPlace[];
  /** Known ciphertexts, which unchanged values of the same name and key keep. */
  readonly known?: KnownValues | undefined;
  /** The file as it is, if the text to encrypt no longer has all of its encrypted values. */
  readonly before?: SecretFile | undefined;
}

/**
 * Encrypts values of files, with one call for each key. A file whose values another store has encrypted has errors.
 * @throws as `sealValues`; then no file has a result
 */
export async function sealFiles(
  session: Session,
  sealings: readonly Sealing[],
): Promise<readonly FileResult[]> {
  const values = new Map<ScalarPlace, SealedValue>();
  const refusals = new Map(sealings.map((sealing) => [sealing, otherNamesOf(sealing)]));
  const allowed = sealings.filter((sealing) => refusals.get(sealing)?.length === 0);
  const marks = new Map<Sealing, string>();
  for (const sealing of allowed)
    marks.set(sealing, (await teamKeysFor(session, sealing.path, sealing.key.mount))?.place.mark ?? '');
  const asked = allowed.flatMap((sealing) => {
    const { key, path, places, known } = sealing;
    return places.flatMap((place) => {
      const same = known
        ?.get(place.name)
        ?.find(({ source, value }) => source === place.source && isUnder(value, key));
      if (same === undefined) return [{ key, path, place, mark: marks.get(sealing) }];
      values.set(place, same.value);
      return [];
    });
  });
  const ofStore = allowed.filter((sealing) => marks.get(sealing) === '');
  if (asked.length > 0 && ofStore.length > 0) await requireStore(session, ofStore);
  const groups = Map.groupBy(asked, ({ key, mark }) => `${key.mount}/${key.name} ${mark}`);
  for (const group of groups.values()) {
    const [first] = group;
    if (first === undefined) continue;
    const sealed = await sealValues(
      session,
      first.key,
      group.map(({ place }) => place),
      first.path,
    );
    for (const [index, { place }] of group.entries()) {
      const value = sealed[index];
      if (value !== undefined) values.set(place, value);
    }
  }
  // After the keys: a key that does not exist is a better reason.
  const foreign = await foreignFiles(session, allowed.filter(isUnproved));
  return sealings.map((sealing) => {
    const other = foreign.get(sealing);
    const errors = [...(refusals.get(sealing) ?? []), ...(other === undefined ? [] : [other])];
    if (errors.length > 0) return { errors };
    const written = sealing.places.flatMap((place) => {
      const value = values.get(place);
      return value === undefined ? [] : [[place, sealing.file.written(place, formatValue(value))] as const];
    });
    return exchanged(sealing, new Map(written));
  });
}

/** Whether something is encrypted, and no value of the file was opened yet: an opened one is of this store. */
const isUnproved = ({ places, known }: Sealing): boolean => places.length > 0 && (known?.size ?? 0) === 0;

/**
 * Returns errors for values that other parsers would read under another name, which cannot be encrypted; reported
 * before anything is encrypted.
 */
const otherNamesOf = ({ path, file, places }: Sealing): readonly CofferError[] =>
  places
    .filter(({ otherNameAt }) => otherNameAt !== undefined)
    .map((place) => otherNameRefused(file.format, path, file.text, place));

const isUnder = (value: SealedValue, { mount, name }: KeyReference): boolean =>
  value.key === name && value.mount === mount;

/**
 * Decrypts values of files, with one call for each key. In the results, the places contain the parsed values.
 * @param isMeant filter of the encrypted values; by default all
 * @param which accepted versions of a keyring's keys
 */
export function openFiles(
  session: Session,
  files: readonly ReadFile[],
  isMeant: (place: ScalarPlace) => boolean = () => true,
  which?: CountedVersions,
): Promise<readonly FileResult[]> {
  return exchangeAll(files, isMeant, async (found) => openValues(session, found, which));
}

/**
 * Returns the file.
 * @throws the first error
 */
export function requireFile(result: FileResult | undefined): SecretFile {
  if (result !== undefined && 'file' in result) return result.file;
  throw result?.errors[0] ?? new RangeError('unexpected response: no result for this file');
}

/**
 * Re-encrypts the values of files with the latest versions of their keys; those already up to date keep their
 * ciphertexts.
 */
export const rewrapFiles = (session: Session, files: readonly ReadFile[]): Promise<readonly FileResult[]> =>
  exchangeAll(
    files,
    () => true,
    (found) => rewrapped(session, found),
  );

/**
 * Re-encrypts values of a file in the same way, and leaves those that are refused as they are.
 * @param isMeant filter of the encrypted values
 * @returns the file, and the errors for the values that were left
 */
export async function rewrapAccepted(
  session: Session,
  read: ReadFile,
  isMeant: (place: ScalarPlace) => boolean,
  adoption: Adoption,
): Promise<{ readonly result: FileResult; readonly left: readonly CofferError[] }> {
  const left: CofferError[] = [];
  const [result] = await exchangeAll([read], isMeant, async (found) => {
    const results = await rewrapped(session, found, adoption);
    return results.map((value, index) => {
      if (!(value instanceof CofferError)) return value;
      left.push(value);
      return (found[index] as LocatedValue).place.source;
    });
  });
  return { result: result ?? { file: read.file, changed: 0 }, left };
}

async function rewrapped(
  session: Session,
  found: readonly LocatedValue[],
  adoption?: Adoption,
): Promise<readonly ValueResult<string>[]> {
  const results = await rewrapValues(session, found, adoption);
  return results.map((result, index) => {
    if (result instanceof CofferError) return result;
    const { file, place, value } = found[index] as LocatedValue;
    return result === value ? place.source : file.written(place, formatValue(result));
  });
}

/**
 * Replaces values of files.
 * @param exchange returns the replacement for each value
 */
async function exchangeAll(
  files: readonly ReadFile[],
  isMeant: (place: ScalarPlace) => boolean,
  exchange: (found: readonly LocatedValue[]) => Promise<readonly ValueResult<string>[]>,
): Promise<readonly FileResult[]> {
  const found = files.flatMap((read) => locatedIn(read, isMeant));
  const results = found.length === 0 ? [] : await exchange(found);
  const ofFile = Map.groupBy(found.keys(), (index) => (found[index] as LocatedValue).file);
  return files.map((read): FileResult => {
    const sources = new Map<ScalarPlace, string>();
    const errors: CofferError[] = [];
    for (const index of ofFile.get(read.file) ?? []) {
      const [item, result] = [found[index] as LocatedValue, results[index]];
      // One error may apply to all values.
      if (result instanceof CofferError) errors.push(...(errors.includes(result) ? [] : [result]));
      else if (result !== undefined && result !== item.place.source) sources.set(item.place, result);
    }
    return errors.length > 0 ? { errors } : exchanged(read, sources);
  });
}

function exchanged({ format, path, file }: ReadFile, sources: ReadonlyMap<ScalarPlace, string>): FileResult {
  try {
    return { file: respliced(format, path, file, sources), changed: sources.size };
  } catch (error) {
    const known = expected(error);
    return { errors: [known] };
  }
}

/** Warns of values that begin like encrypted ones but are not: they are about to be used as they are. */
export function warnOfDamaged(
  session: Session,
  { path, file }: Pick<ReadFile, 'path' | 'file'>,
  places: readonly ScalarPlace[] = file.places,
): void {
  const damaged = places.filter(({ sealed, text }) => sealed === undefined && looksDamaged(text));
  const [first] = damaged;
  if (first === undefined) return;
  const where = `${path}:${lineCounter(file.text)(first.start)}`;
  const what =
    damaged.length === 1
      ? `${first.name} looks like a damaged encrypted value, and is not decrypted`
      : `${first.name} and ${damaged.length - 1} more look like damaged encrypted values, and are not decrypted`;
  session.warn(`${where}: ${what}`);
}

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
  return notFound(`${start}${path} has no value ${name}`, {
    hint: aliasHint(file, name) ?? hintFor(file, name, names),
  });
}

function hintFor(file: SecretFile, name: string, names: readonly string[]): string | undefined {
  const meant = nameOf(stepsElsewhere(name) ?? []);
  if (names.includes(meant)) return meantText([meant]);
  const nested = names.find((other) => other.startsWith(`${name}.`));
  if (nested !== undefined) return `${name} has nested values: use the full name of one, e.g. ${nested}`;
  const near = nearest(name, names);
  if (near.length > 0) return meantText(near);
  const merged = mergeHint(file, name);
  if (merged !== undefined || names.length === 0) return merged;
  const more = names.length - MOST_NAMES;
  return `the file has ${names.slice(0, MOST_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Returns a file as in the last commit; undefined if it is not there, or cannot be parsed. */
export async function committedFile({ path, format }: ReadFile): Promise<SecretFile | undefined> {
  // Git stores a link as the path of its target.
  const bytes = committed(realpathSync(path));
  if (bytes === undefined) return undefined;
  return (await parsedFile(path, bytes, format.name).catch(refusedAs(undefined)))?.file;
}

/**
 * Returns the ciphertexts in the last commit of values that are to be encrypted, so that unchanged values keep theirs.
 * This is only an optimization: values that cannot be opened are ignored.
 * @param file the file as in the last commit
 */
export async function committedValues(
  session: Session,
  { path, format }: ReadFile,
  places: readonly ScalarPlace[],
  file: SecretFile,
): Promise<KnownValues> {
  const nothing: KnownValues = new Map();
  const names = new Set(places.map(({ name }) => name));
  const isMeant = ({ name, sealed }: ScalarPlace): boolean => sealed !== undefined && names.has(name);
  if (!file.places.some(isMeant)) return nothing;
  const [result] = await openFiles(session, [{ path, format, file }], isMeant).catch(refusedAs([]));
  return result === undefined || 'errors' in result ? nothing : knownValues(file, result.file);
}
