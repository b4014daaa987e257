import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { conflict, refusedAs } from '../../ground/errors.ts';
import { DEFAULT_MOUNT } from '../../mounts/paths.ts';
import { directoryOf } from '../../store/backends/registry.ts';
import { topOf } from '../repository/files-of-others.ts';
import type { Session } from '../session.ts';
import { SHARING } from '../team/found-values.ts';
import { forgetTeamKeys, teamKeysFor } from '../team/nearest.ts';
import type { KeyringPlace } from '../team/place.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { type RuledFile, ruledFiles } from './ruled-files.ts';

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
  return file && `${file.path} is encrypted with a key of a store: ${SHARING}`;
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
    `${files}: encrypted with the keyring of a parent directory, which the new one would replace`,
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
      `${paths} ${are} encrypted with a key of a store that is not here, so the keyring cannot open ${files.length === 1 ? 'it' : 'them'}: see "coffer help sharing".`,
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
