import { lstatSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { attempt, type CofferError, expected, refusedAs } from '../../ground/errors.ts';
import { DEFAULT_MOUNT } from '../../mounts/paths.ts';
import type { ScalarPlace } from '../../secret-files/format.ts';
import { formatOf, MAX_FILE_BYTES } from '../../secret-files/formats.ts';
import { isCut, type SealedValue, valuesIn } from '../../secret-files/value.ts';
import { KEYRING } from '../../team/directory.ts';
import { filesBelow, ignoredFilesBelow } from '../repository/git.ts';
import type { Session } from '../session.ts';
import { type FoundValue, mayBeOfOthers } from '../team/found-values.ts';
import { forgetTeamKeys, teamKeysFor } from '../team/nearest.ts';
import type { KeyringPlace } from '../team/place.ts';
import type { Adoption } from '../team/team-keys.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { Files, type RuledFile } from './files.ts';
import { Rulebook } from './rulebook.ts';
import { replaceSecretFile } from './secret-file.ts';
import { locatedIn, rewrapAccepted } from './transform.ts';

/*
 * All files with values of a keyring. A value belongs to the keyring that it was encrypted with, whether or not a rule
 * names its file: anyone who can push can change the rules, and files encrypted with --key or ignored by git have none.
 */

/** Keyring whose files are looked for, with the names of its keys. */
interface SoughtKeyring {
  readonly place: KeyringPlace;
  readonly keys: ReadonlySet<string>;
}

/** File that may have values of a keyring. */
interface PossibleFile {
  readonly path: string;
  readonly isRuled: boolean;
  /** Whether git ignores it. */
  readonly isIgnored: boolean;
  /** Whether values are in it, but neither a rule nor its name tells the format. */
  readonly isUnreadable: boolean;
}

/** Finds the files that rules name, and all others in which a key of the keyring is named as in an encrypted value. */
async function* candidates(session: Session, { place, keys }: SoughtKeyring): AsyncGenerator<PossibleFile> {
  const rulebook = new Rulebook(session);
  const ignored = new Set(ignoredFilesBelow(place.folder));
  for (const name of new Set([...filesBelow(place.folder), ...ignored])) {
    if (name.split('/').includes(KEYRING)) continue;
    const path = relative('.', join(place.folder, name));
    const isIgnored = ignored.has(name);
    const asked = rulebook.ruleFor(path);
    // What git ignores may be another project, such as a package, whose rules are its own matter.
    const rule = await (isIgnored ? asked.catch(refusedAs(undefined)) : asked);
    const isKnown = rule !== undefined || formatOf(path) !== undefined;
    if (rule === undefined || isIgnored) {
      if (!isKnown && isIgnored) continue;
      if (!hasValueOf(path, (value) => keys.has(value.key) && (isKnown || !isCut(value)))) continue;
    }
    if ((await teamKeysFor(session, path))?.place.mark !== place.mark) continue;
    yield { path, isRuled: rule !== undefined, isIgnored, isUnreadable: !isKnown };
  }
}

/** Whether a regular file has an encrypted value. Larger files than commands read have none that could be used. */
function hasValueOf(path: string, isMeant: (value: SealedValue) => boolean): boolean {
  const stats = attempt(() => lstatSync(path));
  if (stats === undefined || !stats.isFile() || stats.size > MAX_FILE_BYTES) return false;
  const bytes = attempt(() => readFileSync(path));
  if (bytes?.includes('coffer:') !== true) return false;
  for (const { value } of valuesIn(bytes.toString()))
    if (value.mount === DEFAULT_MOUNT && isMeant(value)) return true;
  return false;
}

const isOfKeyring = ({ sealed }: ScalarPlace): boolean => sealed?.mount === DEFAULT_MOUNT;

/** Encrypted values of one file. */
interface ValuesOfFile {
  readonly path: string;
  readonly names: readonly string[];
  /** Whether git ignores the file, so that it cannot be committed. */
  readonly isIgnored: boolean;
  /** Number of values with another version now. */
  readonly changed: number;
}

/**
 * Re-encrypts all values of a keyring with the newest versions of their keys. Values and files that are refused are
 * reported, and the others are still processed.
 */
export async function rewrapAll(
  session: Session,
  sought: SoughtKeyring,
  adoption: Adoption,
): Promise<readonly ValuesOfFile[]> {
  forgetTeamKeys(session);
  const files = new Files(session, new Map());
  const done: ValuesOfFile[] = [];
  for await (const candidate of candidates(session, sought)) {
    const { path, isRuled, isIgnored } = candidate;
    if (candidate.isUnreadable) {
      warnOfUnknownFormat(session, path);
      continue;
    }
    try {
      const read = await files.open(path);
      const names = namesIn(read);
      if (names.length === 0) continue;
      const { result, left } = await rewrapAccepted(session, read, isOfKeyring, adoption);
      // Examples in documents and tests are no values of the keyring.
      if (!isRuled && left.length === names.length && left.every(mayBeOfOthers)) continue;
      for (const error of 'errors' in result ? result.errors : left) warnOf(session, error);
      if ('file' in result) await replaceSecretFile(read, result.file.text);
      done.push({ path, names, isIgnored, changed: 'file' in result ? result.changed : 0 });
    } catch (error) {
      warnOf(session, expected(error));
    }
  }
  return done;
}

const namesIn = ({ file }: Pick<RuledFile, 'file'>): readonly string[] =>
  file.places.filter(isOfKeyring).map(({ name }) => name);

const warnOf = (session: Session, { message, hint }: CofferError): void =>
  session.warn(hint === undefined ? message : `${message} (${hint})`);

const warnOfUnknownFormat = (session: Session, path: string): void =>
  session.warn(
    `${path} has encrypted values, but its name does not tell its format: they were not re-encrypted (run "coffer secrets rewrap ${shellWord(path)} --format FORMAT")`,
  );

/** File with values of a keyring. */
interface KeyringFile {
  readonly path: string;
  /** Whether a rule names it. */
  readonly isRuled: boolean;
  readonly values: readonly FoundValue[];
}

/** Returns the values of a keyring in all files. Files that cannot be read have none. */
export async function valuesOf(session: Session, sought: SoughtKeyring): Promise<readonly KeyringFile[]> {
  const files = new Files(session, new Map());
  const found: KeyringFile[] = [];
  for await (const { path, isRuled, isUnreadable } of candidates(session, sought)) {
    const read = isUnreadable ? undefined : await files.open(path).catch(refusedAs(undefined));
    const values = read === undefined ? [] : locatedIn(read, isOfKeyring);
    if (values.length > 0) found.push({ path, isRuled, values });
  }
  return found;
}
