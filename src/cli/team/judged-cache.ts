import { createHash } from 'node:crypto';
import { systemClock } from '../../ground/clock.ts';
import { version } from '../../ground/version.ts';
import type { Loaded } from '../../team/files.ts';
import type { Judgement } from '../../team/judge/judge.ts';
import { type Listing, listingOf } from '../../team/listing.ts';
import type { TeamMemory } from './memory.ts';

/*
 * Judgement of a keyring as it was last read here, for commands that only read: with hundreds of members, reading,
 * parsing and judging every file takes longer than all the rest of a command.
 * @see docs/decisions/0314
 */

/** Format of the cached bytes; part of their stamp, like the version of Coffer. */
const FORMAT = 3;
/** Keyrings below this number of files are judged sooner than they are read from the cache. */
const LEAST_FILES = 24;
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
  /** Whether another change would certainly change it. */
  readonly isSettled: boolean;
}

/** Whether the last change of a directory is long enough ago that another one would change its listing. */
export const isSettled = ({ newest }: Listing): boolean => systemClock.now() - newest > RACE_MS;

/**
 * Returns what identifies the present content of a keyring's directory and what it is judged by, without reading a
 * file. Undefined for a small keyring, or none.
 * @param seen removals seen on this machine, in their order
 */
export function stampOf(directory: string, seen: readonly string[]): Stamp | undefined {
  const listing = listingOf(directory);
  if (listing === undefined || listing.count < LEAST_FILES) return undefined;
  const hash = createHash('sha256').update(`${FORMAT} ${version} ${directory}\n${seen.join(' ')}\n`);
  return { text: hash.update(listing.text).digest('base64url'), isSettled: isSettled(listing) };
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
