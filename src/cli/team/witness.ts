import { readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { KEYRING } from '../../team/directory.ts';
import { type Fact, MAX_FACT_BYTES, NoFact, parseFact } from '../../team/fact.ts';
import { isSignedByAuthor, signatureCheck } from '../../team/signing.ts';
import { contentsOf, git } from '../repository/git.ts';
import type { KeyringPlace } from './place.ts';

/** History of a keyring according to git: everything it ever contained, and how git would change its files. */

/** Returns the path of the directory in git, from the top of the working tree. */
const pathIn = ({ top, directory }: KeyringPlace): string =>
  top === undefined ? KEYRING : relative(top, directory).split(sep).join('/');

const texts = (answer: Buffer | undefined): readonly string[] =>
  (answer?.toString() ?? '').split('\0').filter(Boolean);

/**
 * Returns losses: files that a commit added and the working tree lacks, or that a commit changed. Files are only ever
 * added. Each has its path below the directory of the keyring, and a description for users, with the commit. The
 * history may be cut off or not available, so that it proves nothing.
 */
export function witnessOf(place: KeyringPlace) {
  const { top } = place;
  if (top === undefined) return { isShallow: true, losses: [] };
  const prefix = `${pathIn(place)}/`;
  // Without git, or if git refuses to read the repository, it proves nothing either.
  const isShallow = git(top, ['rev-parse', '--is-shallow-repository'])?.toString().trim() !== 'false';
  const present = new Set(filesIn(place.directory, ''));
  const lossOf = (path: string, commit: string | undefined, what: string) => ({
    path: path.slice(prefix.length),
    text: `${commit === undefined ? 'a merge' : `commit ${commit}`} ${what} ${path}`,
  });
  const missing = (path: string) => ({
    path: path.slice(prefix.length),
    text: `${path} is in the last commit, but missing in the working tree`,
  });
  const of = (filter: string): ReadonlyMap<string, string> => lastCommits(top, filter, pathIn(place));
  const isFact = (path: string): boolean => path.startsWith(prefix) && /\.[0-9a-z]{32}$/.test(path);
  const gone = [...of('A').keys()].filter((path) => isFact(path) && !present.has(path.slice(prefix.length)));
  const deleted = gone.length === 0 ? new Map<string, string>() : of('D');
  const committed = new Set(gone.length === 0 ? [] : committedIn(top, pathIn(place)));
  const altered = [...of('MT')].filter(([path]) => isFact(path));
  return {
    isShallow,
    losses: [
      ...gone.map((path) =>
        committed.has(path) ? missing(path) : lossOf(path, deleted.get(path), 'removed'),
      ),
      ...altered.map(([path, commit]) => lossOf(path, commit, 'changed')),
    ],
  };
}

/** Returns the paths of the last commit below a path. */
const committedIn = (top: string, below: string): readonly string[] =>
  texts(git(top, ['ls-tree', '-r', '-z', '--name-only', '--full-tree', 'HEAD', '--', below]));

/** First character of a commit line; no path in git begins with it. */
const COMMIT = '\x01';

/**
 * Returns a description of the last commit that changed each file below a path. Git is called once, regardless of the
 * number of commits.
 * @param filter value for `git log --diff-filter`
 */
function lastCommits(top: string, filter: string, below: string): ReadonlyMap<string, string> {
  const answer = git(top, [
    ...['log', '--full-history', '-m', '--no-renames', '--no-ext-diff', '-z', '--name-only'],
    ...[`--diff-filter=${filter}`, '--format=%x01%h by %an', 'HEAD', '--', below],
  ]);
  const found = new Map<string, string>();
  let commit = '';
  for (const text of texts(answer)) {
    const path = text.trim();
    if (text.startsWith(COMMIT)) commit = text.slice(COMMIT.length);
    else if (!found.has(path)) found.set(path, commit);
  }
  return found;
}

function filesIn(directory: string, below: string): readonly string[] {
  return readdirSync(join(directory, below), { withFileTypes: true }).flatMap((entry) => {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    return entry.isDirectory() ? filesIn(directory, path) : [path];
  });
}

const ATTRIBUTES = ['text', 'eol', 'crlf', 'ident', 'filter', 'merge', 'working-tree-encoding'];
const MAY_BE_UNSET = new Set(['text', 'crlf', 'ident']);

/** Returns descriptions of changes that git would make to facts, such as filters. */
export function alterationsOf(place: KeyringPlace): readonly string[] {
  const beside = readdirSync(place.folder)
    .filter((name) => name !== KEYRING && name.normalize('NFKC').toLowerCase() === KEYRING)
    .map(
      (name) =>
        `${name} is in the same directory as ${KEYRING}, and some file systems do not distinguish the two names`,
    );
  if (place.top === undefined) return beside;
  const listed = texts(git(place.top, ['ls-files', '-z', '--cached', '--others', '--', pathIn(place)]));
  const future = ['keys', 'members', 'removals'].map((folder) => `${pathIn(place)}/${folder}/x`);
  const answer = texts(
    git(
      place.top,
      ['check-attr', '-z', '--stdin', ...ATTRIBUTES],
      [...listed, ...future].map((path) => `${path}\0`).join(''),
    ),
  );
  const found: string[] = [];
  for (let at = 0; at + 2 < answer.length; at += 3) {
    const [path, name = '', value] = answer.slice(at, at + 3);
    const isHarmless = value === 'unspecified' || (value === 'unset' && MAY_BE_UNSET.has(name));
    if (!isHarmless) found.push(`the git attribute ${name}=${value} applies to ${path}`);
  }
  return [...beside, ...found];
}

/**
 * Path of a fact. Names are chosen by anyone who can push; a fact is in at most one folder, which cannot be a link
 * then.
 */
const FACT_PATH = /^(?:[a-z]+\/)?[A-Za-z0-9_+.-]+\.[0-9a-z]{32}$/;

/**
 * Returns the facts in the working tree that git does not track: neither `git commit -a` nor `git push` includes them.
 * Facts that git ignores are among them.
 * @returns paths below the directory of the keyring
 */
export function untrackedFacts(place: KeyringPlace): readonly string[] {
  if (place.top === undefined) return [];
  const prefix = `${pathIn(place)}/`;
  return texts(git(place.top, ['ls-files', '-z', '--others', '--', pathIn(place)]))
    .map((path) => path.slice(prefix.length))
    .filter((path) => FACT_PATH.test(path));
}

/**
 * Returns the facts in any commit of the clone, with their bytes, whatever their path. Anyone who can push can also
 * push copies with other signatures, so only facts that their authors signed are returned.
 * @param verified marks of facts that were verified before
 */
export function factsElsewhere(
  place: KeyringPlace,
  verified: ReadonlySet<string>,
): ReadonlyMap<Fact, Buffer> {
  const { top } = place;
  if (top === undefined) return new Map();
  const prefix = `${pathIn(place)}/`;
  const listed = git(top, ['rev-list', '--all', '--full-history', '--objects', '--', pathIn(place)]);
  const objects = (listed?.toString() ?? '').split('\n').flatMap((line) => {
    const [id = '', path = ''] = [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)];
    return path.startsWith(prefix) ? [{ path: path.slice(prefix.length), id }] : [];
  });
  const sizes = git(
    top,
    ['cat-file', '--batch-check=%(objecttype) %(objectsize)'],
    objects.map(({ id }) => `${id}\n`).join(''),
  );
  const kinds = (sizes?.toString() ?? '').split('\n');
  const files = objects.filter((_, index) => {
    const [kind, size] = kinds[index]?.split(' ') ?? [];
    return kind === 'blob' && Number(size) <= MAX_FACT_BYTES;
  });
  const found = new Map<Fact, Buffer>();
  for (const [{ path }, bytes] of contentsOf(top, files)) {
    const fact = Buffer.isBuffer(bytes) ? factIn(path, bytes, true) : undefined;
    if (fact !== undefined && Buffer.isBuffer(bytes) && FACT_PATH.test(fact.path)) found.set(fact, bytes);
  }
  const all = new Map([...found.keys()].map((fact) => [fact.id, fact]));
  const check = signatureCheck(verified);
  return new Map([...found].filter(([fact]) => isSignedByAuthor(fact, all, check)));
}

/**
 * Parses a fact; undefined for other files.
 * @param isElsewhere whether the path does not matter
 */
export function factIn(path: string, bytes: Buffer, isElsewhere = false): Fact | undefined {
  try {
    return parseFact(bytes, path, isElsewhere);
  } catch (error) {
    if (error instanceof NoFact) return undefined;
    throw error;
  }
}
