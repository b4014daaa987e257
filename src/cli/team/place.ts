import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { isOfTrustedOwner } from '../../ground/private-files.ts';
import { isKeyring, KEYRING } from '../../team/directory.ts';
import { topOf } from '../secret-files/files-of-others.ts';

/** Where a keyring lies. */
export interface KeyringPlace {
  /** The directory with its facts. */
  readonly directory: string;
  /** The directory that it is in: what lies below, and has no keyring nearer, uses it. */
  readonly folder: string;
  /** The top of the working tree of git; undefined where there is none. */
  readonly top: string | undefined;
  /** What this machine remembers of it goes by this: the repository, whatever is checked out of it, and the folder in it. */
  readonly mark: string;
}

/** The nearest keyring above a file or a directory, or where one was when this machine looked last. */
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

/** Outside of repositories, what somebody else has put into a directory above does not count. */
function isFollowed({ directory, top }: KeyringPlace): boolean {
  if (!isKeyring(directory)) return false;
  return top !== undefined || isOfTrustedOwner(lstatSync(directory));
}

/** @param folder an absolute path. */
export function placeIn(folder: string, top = topOf(folder)): KeyringPlace {
  const directory = join(folder, KEYRING);
  if (top === undefined) return { directory, folder, top, mark: realOf(folder) };
  const prefix = relative(top, folder).split(sep).join('/');
  return { directory, folder, top, mark: `${commonDirectory(top)}#${prefix}` };
}

const realOf = (path: string): string => {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
};

/** What git calls so: the same for all working trees of a repository. */
function commonDirectory(top: string): string {
  const dotGit = join(top, '.git');
  try {
    if (statSync(dotGit).isDirectory()) return realOf(dotGit);
    const [, to = ''] = /^gitdir: (.+)$/m.exec(readFileSync(dotGit, 'utf8')) ?? [];
    const own = resolve(top, to.trim());
    return realOf(resolve(own, readFileSync(join(own, 'commondir'), 'utf8').trim()));
  } catch {
    return realOf(dotGit);
  }
}
