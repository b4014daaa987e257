/** Reads all sealed blobs of a store, for copying and checking. */
import { elapsedMs } from '../../ground/clock.ts';
import { notFound, placed } from '../../ground/errors.ts';
import { type Area, areas, type Backend, type Blob, LOCK_WAIT_MS, type Version } from './backend.ts';
import { isSameVersion } from './witness.ts';

/**
 * Minimum attempts and time to retry reading: reading a whole store takes long, a part of one is retried for a while.
 */
const LEAST_ATTEMPTS = 2;
const TRYING_MS = 1000;

/**
 * Runs `read` on one version of the store; again if another process commits meanwhile, and finally with all writers
 * waiting. Until then it neither waits for writers nor writes: so a store can be read on a read-only disk, and while a
 * writer is stopped in the middle of its commit.
 */
export async function readConsistently<T>(
  backend: Backend,
  read: (version: Version) => Promise<T>,
): Promise<T> {
  const beside = async (): Promise<(() => T) | undefined> => {
    const start = elapsedMs();
    for (let attempt = 0; attempt < LEAST_ATTEMPTS || elapsedMs() - start < TRYING_MS; attempt++) {
      const before = await backend.state();
      const outcome = await outcomeOf(() => read(before));
      if (isSameVersion(before, await backend.state())) return outcome;
    }
    return undefined;
  };
  return besideOrBetween(backend, beside, read);
}

/** Runs a function now, and returns or throws its outcome on demand. */
export async function outcomeOf<T>(run: () => T | Promise<T>): Promise<() => T> {
  try {
    const result = await run();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** Time in milliseconds that a reader waits for the write lock before it tries again without it. */
const TURN_MS = 1000;

/**
 * Reads without the write lock; if writers keep changing the data, reads with it. If the lock is not available, because
 * its holder is stopped or the disk is read-only, nothing changes either, and the next attempt without it succeeds.
 * @param beside reads without the lock; returns undefined if it was disturbed
 */
export async function besideOrBetween<T>(
  backend: Backend,
  beside: () => Promise<(() => T) | undefined>,
  between: (version: Version) => Promise<T>,
): Promise<T> {
  const start = elapsedMs();
  for (;;) {
    const outcome = await beside();
    if (outcome !== undefined) return outcome();
    let isAlone = false;
    try {
      return await backend.exclusive(
        ({ version }) => {
          isAlone = true;
          return between(version);
        },
        { waitMs: TURN_MS, isReading: true },
      );
    } catch (error) {
      if (isAlone || elapsedMs() - start > LOCK_WAIT_MS) throw error;
    }
  }
}

/** Called after each file with the number of files read and their total. */
export type OnFile = (done: number, total: number) => void;

/**
 * Yields the sealed contents of a generation, slots first, each area sorted.
 * @throws `not-found` if a blob was removed by a writer
 */
export async function* readEvery(
  backend: Backend,
  generation: number,
  onFile?: OnFile,
  from: readonly Area[] = areas,
): AsyncGenerator<Blob> {
  const refs = [];
  for (const area of from) {
    for (const name of (await backend.names(generation, area)).sort()) refs.push({ area, name });
  }
  for (const [done, ref] of refs.entries()) {
    const bytes = await backend.read(generation, ref);
    if (bytes === undefined) throw notFound(placed`${backend.locate(generation, ref)} disappeared`);
    yield { ref, bytes };
    onFile?.(done + 1, refs.length);
  }
}
