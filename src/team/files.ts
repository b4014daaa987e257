import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { move } from '../ground/directories.ts';
import { conflict } from '../ground/errors.ts';
import { type Fact, MAX_FACT_BYTES, NoFact, parseFact, pathOf, printFact } from './fact.ts';

/** Reads and writes the directory of a keyring: facts, each in a file that is written once and never changed. */

/** Git attributes that keep facts unchanged, whatever the rest of the repository sets. */
const ATTRIBUTES = '* -text -ident !eol !filter !merge !working-tree-encoding\n';
const IGNORED = '*.new\n';
const OWN_FILES: ReadonlyMap<string, string> = new Map([
  ['.gitattributes', ATTRIBUTES],
  ['.gitignore', IGNORED],
]);
/** Suffix of a fact that is being written; readers ignore it. */
const UNFINISHED = '.new';
/** Limits of a keyring: more than any team needs, and judged within seconds. */
const MOST_FILES = 50_000;
const MOST_BYTES = 1 << 29;
const DEPTH = 4;

/** File from another commit. */
type MoreFile = readonly [path: string, bytes: Buffer];

export type Loaded = ReturnType<typeof loadFacts>;

/**
 * Reads all facts.
 * @throws `conflict` if the directory does not exist, or exceeds the limits
 */
export function loadFacts(directory: string, more: readonly MoreFile[] = []) {
  if (lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw conflict(`${directory} is not a directory`, { hint: 'check whether it is a symbolic link' });
  }
  const facts = new Map<string, Fact>();
  /** Files that are not facts: paths and reasons. */
  const strangers = new Map<string, string>();
  /** Reasons why nothing may be changed: settings that could make Git alter facts, or links. */
  const blockers: string[] = [];
  const take = (path: string, bytes: Buffer): void => {
    try {
      const fact = parseFact(bytes, path);
      facts.set(fact.id, fact);
    } catch (error) {
      if (!(error instanceof NoFact)) throw error;
      strangers.set(path, error.message);
    }
  };
  let count = 0;
  let bytes = 0;
  const read = (path: string): void => {
    const { size } = lstatSync(join(directory, path));
    bytes += Math.min(size, MAX_FACT_BYTES);
    if (++count > MOST_FILES || bytes > MOST_BYTES) {
      throw conflict(`${directory} has more than ${MOST_FILES} files, or more than ${MOST_BYTES >> 20} MiB`, {
        hint: 'find out with git which commit added them',
      });
    }
    if (size > MAX_FACT_BYTES) strangers.set(path, 'is more than 1 MiB');
    else take(path, readFileSync(join(directory, path)));
  };
  const walk = (below: string, depth: number): void => {
    for (const entry of readdirSync(join(directory, below), { withFileTypes: true })) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory() && depth < DEPTH) walk(path, depth + 1);
      else if (entry.isSymbolicLink()) blockers.push(`${path} is a symbolic link`);
      if (entry.isSymbolicLink() || (!entry.isFile() && !entry.isDirectory()))
        strangers.set(path, entry.isSymbolicLink() ? 'is a symbolic link' : 'is not a file');
      if (!entry.isFile() || entry.name.endsWith(UNFINISHED)) continue;
      if (isOwnFile(directory, path)) continue;
      if (entry.name === '.gitattributes')
        blockers.push(`${path} may let git alter the files of the keyring`);
      read(path);
    }
  };
  walk('', 0);
  for (const [path, content] of more) if (!OWN_FILES.has(path)) take(path, content);
  return { facts, strangers, blockers };
}

function isOwnFile(directory: string, path: string): boolean {
  const text = OWN_FILES.get(path);
  if (text === undefined || lstatSync(join(directory, path)).size > 2 * text.length) return false;
  return readFileSync(join(directory, path), 'utf8').replaceAll('\r\n', '\n') === text;
}

/** Creates the directory of a new keyring. */
export function makeKeyring(directory: string): void {
  mkdirSync(directory, { recursive: true });
  for (const [name, text] of OWN_FILES) putFile(directory, name, Buffer.from(text));
}

/**
 * Writes a fact, atomically.
 * @throws NoFact for a malformed message; `conflict` if a link is in the way
 */
export function writeFact(directory: string, message: string, signature: string): Fact {
  const path = pathOf(message);
  const bytes = Buffer.from(printFact(message, signature));
  // Do not write anything that could not be read back.
  const fact = parseFact(bytes, path);
  putFile(directory, path, bytes);
  return fact;
}

/** Writes a file in the directory of a keyring, durably and atomically. */
export function putFile(directory: string, path: string, bytes: Uint8Array): void {
  const target = join(directory, path);
  const folder = dirname(target);
  mkdirSync(folder, { recursive: true });
  for (const above of [directory, folder]) {
    if (!lstatSync(above).isDirectory())
      throw conflict(`${above} is a symbolic link`, { hint: 'replace it with a directory' });
  }
  const unfinished = `${target}${UNFINISHED}`;
  rmSync(unfinished, { force: true });
  try {
    writeFileSync(unfinished, bytes, { flag: 'wx', flush: true });
    move(unfinished, target);
  } finally {
    rmSync(unfinished, { force: true });
  }
  if (process.platform === 'win32') return;
  const opened = openSync(folder, 'r');
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
