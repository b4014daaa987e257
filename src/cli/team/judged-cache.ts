import { createHash } from 'node:crypto';
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../ground/clock.ts';
import { version } from '../../ground/version.ts';
import type { Loaded } from '../../team/files.ts';
import type { Judgement } from '../../team/judge/judge.ts';
import type { TeamMemory } from './memory.ts';

/*
 * Judgement of a keyring as it was last read here, for commands that only read: with hundreds of members, reading,
 * parsing and judging every file takes longer than all the rest of a command.
 * @see docs/decisions/0314
 */

/** Format of the cached bytes; part of their stamp, like the version of Coffer. */
const FORMAT = 1;
/** Keyrings below this number of files are judged sooner than they are read from the cache. */
const LEAST_FILES = 24;
/** A directory with more files, or deeper ones, is read as it always is, and refused there. */
const MOST_FILES = 50_000;
const DEPTH = 4;
/** Time in milliseconds after which two changes of a file certainly have different times, on any file system. */
const RACE_MS = 2000;

/** Facts of a keyring, and what follows from them. */
export interface JudgedFacts {
  readonly loaded: Loaded;
  readonly state: Judgement;
}

/** Stamp that identifies the content of a directory. */
interface Stamp {
  readonly text: string;
  /** Whether the last change is long enough ago that another one would change the stamp. */
  readonly isSettled: boolean;
}

/**
 * Returns what identifies the present content of a keyring's directory and what it is judged by, without reading a
 * file: names, sizes, and the times of changes, which no program can set. Undefined for a small keyring, or none.
 * @param seen removals seen on this machine, in their order
 */
export function stampOf(directory: string, seen: readonly string[]): Stamp | undefined {
  // A link in the place of the directory is refused where the files are read.
  if (lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
  const hash = createHash('sha256').update(`${FORMAT} ${version} ${directory}\n${seen.join(' ')}\n`);
  let count = 0;
  let newest = 0;
  const walk = (below: string, depth: number): void => {
    for (const entry of readdirSync(join(directory, below), { withFileTypes: true })) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      const { size, ctimeMs, mtimeMs, ino } = lstatSync(join(directory, path));
      hash.update(`${path}\0${size} ${ctimeMs} ${mtimeMs} ${ino}\n`);
      count += 1;
      newest = Math.max(newest, ctimeMs, mtimeMs);
      if (count > MOST_FILES) return;
      if (entry.isDirectory() && depth <= DEPTH) walk(path, depth + 1);
    }
  };
  walk('', 0);
  if (count < LEAST_FILES || count > MOST_FILES) return undefined;
  return { text: hash.digest('base64url'), isSettled: systemClock.now() - newest > RACE_MS };
}

/** Returns the judgement with this stamp; undefined if another one, or none, was kept. */
export function keptJudgement(memory: TeamMemory, store: string, { text }: Stamp): JudgedFacts | undefined {
  const bytes = memory.judged(store);
  const head = Buffer.from(`${text}\n`);
  if (bytes === undefined || !bytes.subarray(0, head.length).equals(head)) return undefined;
  const { deserialize } = process.getBuiltinModule('node:v8');
  try {
    return deserialize(bytes.subarray(head.length)) as JudgedFacts;
  } catch {
    // Cut by a power failure, or written by another Node.
    return undefined;
  }
}

/** Keeps a judgement. It holds no secret: all of it is in the repository. */
export function keepJudgement(memory: TeamMemory, { text, isSettled }: Stamp, judged: JudgedFacts): void {
  if (!isSettled) return;
  const { serialize } = process.getBuiltinModule('node:v8');
  memory.setJudged(judged.state.store, Buffer.concat([Buffer.from(`${text}\n`), serialize(judged)]));
}
