import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { attempt, CofferError, invalid, unavailable } from '../../ground/errors.ts';
import { isOfTrustedOwner } from '../../ground/private-files.ts';
import { MAX_FILE_BYTES } from '../../secret-files/formats.ts';
import { headOf } from '../files/in-file.ts';
import { withoutOwnSecrets } from '../secrets/secret-variables.ts';
import { quoted } from '../terminal/shell-word.ts';
import { inputFrom } from '../terminal/streams.ts';

/** Maximum output of one git command, in bytes: for lists of names, and for contents per batch. */
const MAX_ANSWER_BYTES = 256 * 2 ** 20;
const MAX_BATCH_BYTES = 64 * 2 ** 20;

/**
 * A directory of a clone can contain the files of a bare repository, and its configuration names programs that git
 * would start. Git 2.38 and later use such a repository only if it is named, as in hooks.
 */
const NO_BARE_REPOSITORY = ['-c', 'safe.bareRepository=explicit'];

/** File in git's index. */
interface IndexedFile {
  /** Path from the top of the working tree, with `/`. */
  readonly path: string;
  readonly id: string;
}

/**
 * Runs git.
 * @returns its output; undefined without git, without a repository, or if it fails
 */
export function git(directory: string, args: readonly string[], input = ''): Buffer | undefined {
  // Loaded here because commands that never call git, such as exec, would otherwise load it.
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const { status, stdout } = spawnSync('git', [...NO_BARE_REPOSITORY, ...args], {
    cwd: directory,
    // Programs that a repository makes git start, such as a file system monitor, get the same environment as git.
    env: withoutOwnSecrets(process.env),
    input,
    maxBuffer: MAX_ANSWER_BYTES,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  return status === 0 ? stdout : undefined;
}

const namesIn = (answer: Buffer | undefined): readonly string[] =>
  answer?.toString().split('\0').slice(0, -1) ?? [];

/** Returns the files below a directory, as paths relative to it: those that git does not ignore, or all without git. */
export function filesBelow(directory: string): readonly string[] {
  const listed = git(directory, ['ls-files', '-z', '--cached', '--others', '--exclude-standard']);
  return listed === undefined ? regularFilesBelow(directory) : [...new Set(namesIn(listed))];
}

/** Returns the files below a directory that git ignores, as paths relative to it; none without git. */
export const ignoredFilesBelow = (directory: string): readonly string[] =>
  namesIn(git(directory, ['ls-files', '-z', '--others', '--ignored', '--exclude-standard']));

function regularFilesBelow(top: string): readonly string[] {
  const entries = readdirSync(top, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(top, join(entry.parentPath, entry.name)))
    .filter((path) => !/^\.git\//.test(path));
}

/**
 * Whether the user or system configuration of git declares a directory of another owner as safe (`safe.directory`). The
 * configuration of the repository itself does not count.
 */
function isSafeDirectory(directory: string): boolean {
  const listed = ['--system', '--global'].flatMap((scope) =>
    namesIn(git('/', ['config', scope, '-z', '--get-all', 'safe.directory'])),
  );
  // An empty entry resets the list.
  const valid = listed.slice(listed.lastIndexOf('') + 1);
  return valid.some(
    (entry) =>
      entry === '*' ||
      entry === directory ||
      // As in git, this matches everything below, but not the directory itself.
      (entry.endsWith('/*') && directory.startsWith(entry.slice(0, -1))),
  );
}

/**
 * Returns the top of the working tree.
 * @throws `unavailable` with the hint if there is none
 */
export function workingTree(directory: string, hint: string): string {
  const top = git(directory, ['rev-parse', '--show-toplevel']);
  if (top !== undefined) return top.toString().replace(/\n$/, '');
  const found = topOf(resolve(directory));
  if (
    found !== undefined &&
    !isOfTrustedOwner(statSync(found), userBehindRoot()) &&
    !isSafeDirectory(found)
  ) {
    throw unavailable(`git does not use ${found}, which belongs to another user`, {
      hint: `if you trust that user, run "git config --global --add safe.directory ${quoted(found)}"`,
    });
  }
  throw unavailable('not a git working tree', { hint });
}

const REGULAR = /^:\d+ 100\d+ [0-9a-f]+ ([0-9a-f]+) /;

/** Returns the regular files that the next commit changes or adds. */
export function stagedFiles(top: string): readonly IndexedFile[] {
  const args = 'diff --cached --raw -z --no-abbrev --no-renames --no-ext-diff --diff-filter=d';
  const parts = namesIn(git(top, args.split(' ')));
  return parts.flatMap((description, index) => {
    const [, id] = index % 2 === 0 ? (REGULAR.exec(description) ?? []) : [];
    return id === undefined ? [] : [{ path: parts[index + 1] ?? '', id }];
  });
}

/**
 * Returns the directory to run git in for a file, and the file's name there: its own directory, which may be in another
 * repository. In a hook, git may name the repository by variables, relative to the directory where the hook was
 * started.
 */
const askedAt = (path: string): readonly [directory: string, name: string] =>
  process.env['GIT_DIR'] === undefined
    ? [dirname(path), `./${basename(path)}`]
    : ['.', `./${relative('.', path).split(sep).join('/')}`];

/** Returns the content of a file in the last commit; undefined if it is not there, or without a repository. */
export function committed(path: string): Buffer | undefined {
  const [directory, name] = askedAt(path);
  const content = git(directory, ['cat-file', 'blob', `HEAD:${name}`]);
  return content !== undefined && content.length <= MAX_FILE_BYTES ? content : undefined;
}

/** Returns the files of one name in the index, in any directory. */
export function indexedFilesNamed(top: string, name: string): readonly IndexedFile[] {
  const listed = git(top, ['ls-files', '-s', '-z', '--', `:(glob)**/${name}`]);
  return namesIn(listed).flatMap((line) => {
    const [, id, path] = /^\d+ ([0-9a-f]+) 0\t([\s\S]*)$/.exec(line) ?? [];
    return id === undefined || path === undefined ? [] : [{ path, id }];
  });
}

/** Three versions of an unmerged file in the index. A version that does not exist is empty. */
export interface MergeSides {
  readonly base: Buffer;
  readonly ours: Buffer;
  readonly theirs: Buffer;
}

/**
 * Returns the versions of an unmerged file.
 * @returns undefined if it is not unmerged
 */
export function unmergedSides(path: string): MergeSides | undefined {
  const [directory, name] = askedAt(path);
  const listed = git(directory, ['ls-files', '--unmerged', '--', name]);
  if (listed === undefined || listed.length === 0) return undefined;
  const stage = (number: number): Buffer => git(directory, ['show', `:${number}:${name}`]) ?? Buffer.alloc(0);
  return { base: stage(1), ours: stage(2), theirs: stage(3) };
}

/**
 * Reads contents of files in the index, in batches.
 * @returns contents in the order of the files; an error for one that is too large
 */
export function* contentsOf(
  top: string,
  files: readonly IndexedFile[],
): Generator<readonly [IndexedFile, Buffer | CofferError]> {
  const ids = (some: readonly IndexedFile[]): string => some.map(({ id }) => `${id}\n`).join('');
  const sizes = (git(top, ['cat-file', '--batch-check=%(objectsize)'], ids(files)) ?? Buffer.alloc(0))
    .toString()
    .split('\n')
    .map(Number);
  let batch: IndexedFile[] = [];
  let bytes = 0;
  for (const [index, file] of files.entries()) {
    const size = sizes[index] ?? 0;
    if (size > MAX_FILE_BYTES) yield [file, tooLarge(file)];
    else {
      batch.push(file);
      bytes += size;
    }
    if (bytes < MAX_BATCH_BYTES && index < files.length - 1) continue;
    yield* batchOf(batch, git(top, ['cat-file', '--batch'], ids(batch)) ?? Buffer.alloc(0));
    batch = [];
    bytes = 0;
  }
}

const tooLarge = ({ path }: IndexedFile): CofferError =>
  new CofferError('too-large', `${path} is larger than ${MAX_FILE_BYTES / 2 ** 20} MiB`);

/** Parses the output: `ID blob SIZE`, newline, that many bytes, newline. */
function* batchOf(
  files: readonly IndexedFile[],
  answer: Buffer,
): Generator<readonly [IndexedFile, Buffer | CofferError]> {
  let at = 0;
  for (const file of files) {
    const lineEnd = answer.indexOf(0x0a, at);
    const [, size] =
      /^[0-9a-f]+ blob (\d+)$/.exec(answer.toString('latin1', at, Math.max(lineEnd, at))) ?? [];
    if (size === undefined) throw unavailable(`git show failed for ${file.path}`);
    at = lineEnd + 1 + Number(size) + 1;
    yield [file, answer.subarray(lineEnd + 1, at - 1)];
  }
}

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
      hint: 'if you mean that file, use its own path',
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
