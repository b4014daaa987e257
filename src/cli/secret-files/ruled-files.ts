import { existsSync } from 'node:fs';
import { join, posix, relative, resolve } from 'node:path';
import { conflict, refusedAs } from '../../ground/errors.ts';
import { DEFAULT_MOUNT } from '../../mounts/paths.ts';
import { directoryOf } from '../../store/backends/registry.ts';
import { KEYRING } from '../../team/directory.ts';
import { filesBelow, topOf } from '../repository/git.ts';
import type { Session } from '../session.ts';
import { type FoundValue, SHARING } from '../team/found-values.ts';
import { forgetTeamKeys, teamKeysFor } from '../team/nearest.ts';
import type { KeyringPlace } from '../team/place.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { Files } from './files.ts';
import { Rulebook } from './rulebook.ts';
import { locatedIn } from './transform.ts';

/** File that rules name. */
export interface RuledFile {
  /** Path, relative to the working directory. */
  readonly path: string;
  /** Folder, relative to the one that was searched: that of the keyring. */
  readonly folder: string;
  /** Key that its rule names. */
  readonly ruleKey: string;
  /** Values encrypted with keys of the keyring, or of the default mount of a store; none if the file cannot be read. */
  readonly values: readonly FoundValue[];
}

/** Returns the files that rules name and this keyring applies to. */
export const valuesUnder = (session: Session, place: KeyringPlace): Promise<readonly RuledFile[]> =>
  ruledFiles(
    session,
    place.folder,
    async (path, mount) => (await teamKeysFor(session, path, mount))?.place.mark === place.mark,
  );

/**
 * Returns the files below a folder that rules name.
 * @param counts whether a file is included; called with the mount that its rule names
 */
async function ruledFiles(
  session: Session,
  folder: string,
  counts: (path: string, mount: string | undefined) => Promise<boolean>,
): Promise<readonly RuledFile[]> {
  const rulebook = new Rulebook(session);
  const files = new Files(session, new Map(), rulebook);
  const found: RuledFile[] = [];
  for (const name of filesBelow(folder)) {
    const path = relative('.', join(folder, name));
    const rule = name.split('/').includes(KEYRING) ? undefined : await rulebook.ruleFor(path);
    if (rule === undefined || !(await counts(path, rule.mount))) continue;
    found.push({
      path,
      folder: posix.dirname(name),
      ruleKey: rule.key,
      values: await sealedValues(files, path),
    });
  }
  return found;
}

async function sealedValues(files: Files, path: string): Promise<RuledFile['values']> {
  // "coffer secrets check" reports files that cannot be read.
  const read = await files.open(path).catch(refusedAs(undefined));
  return read === undefined ? [] : locatedIn(read).filter(({ value }) => value.mount === DEFAULT_MOUNT);
}

/**
 * Returns the keys that rules use in several folders: a value can be moved from one of these files to another under the
 * same name, and is decrypted there.
 */
export function sharedKeys(
  files: readonly RuledFile[],
): readonly { readonly key: string; readonly folders: readonly string[] }[] {
  const folders = new Map<string, Set<string>>();
  for (const { ruleKey, folder } of files)
    folders.set(ruleKey, (folders.get(ruleKey) ?? new Set<string>()).add(folder));
  return [...folders]
    .filter(([, own]) => own.size > 1)
    .map(([key, own]) => ({ key, folders: [...own].sort() }));
}

/*
 * Values that were encrypted with the store of a user, or with an outer keyring, before there was a keyring for them:
 * a new keyring cannot open them.
 */

/** Returns the files below a folder that rules name and that have encrypted values. Broken rules name none. */
async function encryptedBelow(
  session: Session,
  folder: string,
  counts: (path: string) => Promise<boolean>,
): Promise<readonly RuledFile[]> {
  const ruled = await ruledFiles(session, folder, async (path, mount = DEFAULT_MOUNT) =>
    mount === DEFAULT_MOUNT ? counts(path) : false,
  ).catch(refusedAs([]));
  return ruled.filter(({ values }) => values.length > 0);
}

/**
 * Returns the advice for a user whose repository has no keyring, but encrypted values: a new store or keyring of this
 * user could not open them.
 */
export async function sharingHint(session: Session): Promise<string | undefined> {
  const top = topOf(resolve('.'));
  const [file] = top === undefined ? [] : await encryptedBelow(session, top, async () => true);
  return file && `${file.path} has a value that is encrypted with a key of a store: ${SHARING}`;
}

/**
 * Returns the files whose values a new keyring will not be able to open, as they are encrypted with a key of a store.
 * @throws `conflict` for values of an outer keyring, which is not used for them any more once there is a nearer one
 */
export async function strandedBy(
  session: Session,
  { folder }: Pick<KeyringPlace, 'folder'>,
): Promise<readonly RuledFile[]> {
  const outer = new Set<string>();
  const found = await encryptedBelow(session, folder, async (path) => {
    const above = (await teamKeysFor(session, path))?.place.folder;
    if (above === undefined) return true;
    if (!isWithin(folder, above)) outer.add(path);
    return !isWithin(folder, above);
  });
  forgetTeamKeys(session);
  const ofOuter = found.filter(({ path }) => outer.has(path)).map(({ path }) => shellWord(path));
  if (ofOuter.length === 0) return found;
  const files = ofOuter.join(' ');
  throw conflict(
    `${files}: encrypted with the keyring of a parent directory, which a new keyring here would replace`,
    {
      hint: `run "coffer secrets decrypt ${files}" first, and "coffer secrets encrypt ${files}" after "coffer team init"`,
    },
  );
}

/** Whether a folder is another one or below it. */
const isWithin = (folder: string, path: string): boolean => !relative(folder, path).startsWith('..');

/** Says how values of a store become values of a new keyring, which has this key. */
export function sayHowToMove(session: Session, files: readonly RuledFile[], key: string): void {
  if (files.length === 0) return;
  const paths = files.map(({ path }) => shellWord(path)).join(' ');
  const are = files.length === 1 ? 'is' : 'are';
  const place = ownPlace(session);
  if (place === undefined) {
    session.say(
      `${paths} ${are} encrypted with a key of a store that is not on this machine, not with a key of the keyring: see "coffer help sharing".`,
    );
    return;
  }
  const missing = [...new Set(files.map(({ ruleKey }) => ruleKey))].filter((name) => name !== key).sort();
  session.sayCommand(
    `${paths} ${are} encrypted with a key of your store, which the keyring does not have. To encrypt ${files.length === 1 ? 'it' : 'them'} with the keyring:`,
    [
      `coffer secrets decrypt ${paths} ${place}`,
      ...missing.map((name) => `coffer team key add ${shellWord(name)}`),
      `coffer secrets encrypt ${paths}`,
    ].join(' && '),
  );
}

/** Returns the option that names the own store or server, which a repository with a keyring does not use by itself. */
function ownPlace({ settings }: Session): string | undefined {
  if (settings.address !== undefined) return `--address ${shellWord(settings.address)}`;
  const directory = directoryOf(settings.storeLocation);
  // The location of a database may contain a password.
  if (directory === undefined) return '--store "$COFFER_STORE"';
  return existsSync(directory) ? `--store ${shellWord(directory)}` : undefined;
}
