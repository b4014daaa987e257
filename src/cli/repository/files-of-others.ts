import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  realpathSync,
  type Stats,
} from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { attempt, invalid } from '../../ground/errors.ts';
import { isOfTrustedOwner } from '../../ground/private-files.ts';
import { headOf } from '../files/in-file.ts';
import { quoted } from '../terminal/shell-word.ts';
import { inputFrom } from '../terminal/streams.ts';
import { isSafeDirectory } from './git.ts';

/*
 * Files that other users may have placed where a command finds them: rules in a parent directory, links in a clone.
 * Owner, type and location of each are checked here before it is used.
 * @see docs/decisions/0287
 */

/** Returns the top of the working tree of a directory, without calling git. */
export function topOf(directory: string): string | undefined {
  if (existsSync(join(directory, '.git'))) return directory;
  const above = dirname(directory);
  return above === directory ? undefined : topOf(above);
}

/** Whether a path, with links resolved as far as it exists, is a directory or below it. */
export function liesBelow(top: string, path: string): boolean {
  const below = relative(realPath(top), realPath(path));
  return below !== '..' && !below.startsWith(`..${sep}`) && resolve(below) !== below;
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    const above = dirname(path);
    if (above === path) throw error;
    return join(realPath(above), basename(path));
  }
}

/**
 * Refuses to write through a link that leaves the repository, whose target was chosen by the author of the repository.
 * Each enclosing repository is checked, since a link may lead into another one.
 * @param shown path as given by the user
 */
export function refuseWayOut(path: string, shown: string): void {
  const absolute = resolve(path);
  for (let top = topOf(dirname(absolute)); top !== undefined; top = topAbove(top)) {
    if (liesBelow(top, absolute)) continue;
    throw invalid(`${shown} links to a file outside the repository, ${realPath(absolute)}`, {
      hint: 'name that file itself, if you mean it',
    });
  }
}

function topAbove(top: string): string | undefined {
  const above = dirname(top);
  return above === top ? undefined : topOf(above);
}

/** Result of reading a file with instructions. */
type FollowedFile =
  | { readonly kind: 'absent' }
  | { readonly kind: 'read'; readonly bytes: Buffer }
  /** Ignored, with the reason. */
  | { readonly kind: 'foreign'; readonly why: string };

/**
 * Reads a file whose instructions are followed. It must be a regular file of the user or of root, including links to
 * it, or in a directory that git's `safe.directory` names; on platforms without user IDs, any owner is accepted. It
 * never blocks, as a pipe would.
 * @param shown path in messages
 * @throws `invalid` for a file of a trusted owner that is not regular, is too large, or is a link out of the
 * repository, through which a pipeline's error messages could reveal any file that its user can read
 */
export function readInstructions(path: string, shown: string, maxBytes: number): FollowedFile {
  const link = attempt(() => lstatSync(path, { throwIfNoEntry: false }));
  if (link === undefined) return { kind: 'absent' };
  const directory = dirname(path);
  const top = topOf(directory) ?? directory;
  const isTrusted = (stats: Stats): boolean =>
    isOfTrustedOwner(stats, userBehindRoot()) || isSafeDirectory(top) || isSafeDirectory(directory);
  if (!isTrusted(link)) return foreign(shown, top);
  if (!existsSync(path)) return { kind: 'absent' };
  if (!liesBelow(top, path))
    throw invalid(`${shown} links to a file outside the repository`, {
      hint: 'replace the link with a copy of the file',
    });
  const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = fstatSync(descriptor);
    if (!isTrusted(stats)) return foreign(shown, top);
    if (!stats.isFile()) throw invalid(`${shown} is not a regular file`);
    if (stats.size > maxBytes) throw invalid(`${shown} is larger than ${maxBytes / 2 ** 20} MiB`);
    // No more than that even if the file grows meanwhile.
    return { kind: 'read', bytes: headOf(inputFrom(descriptor), maxBytes) };
  } finally {
    closeSync(descriptor);
  }
}

const foreign = (shown: string, top: string): FollowedFile => ({
  kind: 'foreign',
  why: `${shown} belongs to another user and is ignored (to use it: git config --global --add safe.directory ${quoted(top)})`,
});

/** Returns the user who called sudo: root trusts the files of this user as well, as git does. */
function userBehindRoot(): number | undefined {
  const text = process.env['SUDO_UID'] ?? '';
  return /^\d+$/.test(text) ? Number(text) : undefined;
}
