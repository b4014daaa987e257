import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { attempt } from '../../ground/errors.ts';
import { isOfTrustedOwner } from '../../ground/private-files.ts';
import { isKeyring, KEYRING } from '../../team/directory.ts';
import { topOf } from '../repository/git.ts';

/** Location of a keyring. */
export interface KeyringPlace {
  /** Directory with its facts. */
  readonly directory: string;
  /** Its parent directory: files below it that have no nearer keyring use it. */
  readonly folder: string;
  /** Top of the git working tree; undefined without one. */
  readonly top: string | undefined;
  /**
   * Name under which this machine remembers the keyring: the repository, the same for all of its working trees, and the
   * folder in it.
   */
  readonly mark: string;
}

/**
 * Finds the nearest keyring in a directory or those above it. A keyring that this machine has seen before is found
 * even if its files are missing now.
 * @returns undefined if there is none
 */
export function keyringAbove(
  directory: string,
  wasThere: (mark: string) => boolean,
): KeyringPlace | undefined {
  const start = resolve(directory);
  const top = topOf(start);
  for (let folder = start; ; folder = dirname(folder)) {
    const place = placeIn(folder, top);
    if (isFollowed(place) || wasThere(place.mark)) return place;
    if (folder === top || dirname(folder) === folder) return undefined;
  }
}

/** Whether a keyring is used: outside of repositories, one that another user put into a parent directory is not. */
function isFollowed({ directory, top }: KeyringPlace): boolean {
  if (!isKeyring(directory)) return false;
  return top !== undefined || isOfTrustedOwner(lstatSync(directory));
}

/**
 * Returns the place of a keyring.
 * @param folder absolute path
 */
export function placeIn(folder: string, top = topOf(folder)): KeyringPlace {
  const directory = join(folder, KEYRING);
  if (top === undefined) return { directory, folder, top, mark: realOf(folder) };
  const prefix = relative(top, folder).split(sep).join('/');
  return { directory, folder, top, mark: `${commonDirectory(top)}#${prefix}` };
}

/** In a mark, stands between the first working tree of a repository and the folder in it. */
const GIT_MARK = `${sep}.git#`;

/** Returns the directory that a mark stands for: the folder in the first working tree of its repository. */
export function directoryOfMark(mark: string): string {
  const at = mark.lastIndexOf(GIT_MARK);
  return at < 0 ? mark : join(mark.slice(0, at), mark.slice(at + GIT_MARK.length));
}

/** Names the part of the repository that uses a keyring, for messages. */
export function shownFolder({ top, folder }: KeyringPlace): string {
  const below = top === undefined ? '' : relative(top, folder);
  return below === '' ? 'this repository' : `the folder ${below}`;
}

const realOf = (path: string): string => attempt(() => realpathSync.native(path)) ?? path;

/** Returns the common directory of git, which is the same for all working trees of a repository. */
function commonDirectory(top: string): string {
  const dotGit = join(top, '.git');
  const found = attempt(() => {
    if (statSync(dotGit).isDirectory()) return dotGit;
    const [, to = ''] = /^gitdir: (.+)$/m.exec(readFileSync(dotGit, 'utf8')) ?? [];
    const own = resolve(top, to.trim());
    return resolve(own, readFileSync(join(own, 'commondir'), 'utf8').trim());
  });
  return realOf(found ?? dotGit);
}
