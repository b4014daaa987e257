/** A whole store as it is, sealed: for those who copy or examine it, with a key or without. */
import { elapsedMs } from '../../ground/clock.ts';
import { notFound, placed } from '../../ground/errors.ts';
import {
  areas,
  type Backend,
  type Blob,
  type BlobRef,
  type Followed,
  LOCK_WAIT_MS,
  type State,
  type Version,
} from './backend.ts';

/** A whole store takes long to read; a part of one is tried again for a while. */
const LEAST_ATTEMPTS = 2;
const TRYING_MS = 1000;

/**
 * Runs `read` on one version of the store; again when another process commits meanwhile, and in the end with all writers
 * waiting. Nobody who writes is waited for before that, nor is anything written: so a store can be read on a read-only disk,
 * and while a writer stands still in the midst of its commit.
 * @param read is given the store as it is in that version.
 */
export async function readConsistently<T>(
  backend: Backend,
  read: (version: Version, view: Backend) => Promise<T>,
): Promise<T> {
  const beside = async (): Promise<(() => T) | undefined> => {
    const start = elapsedMs();
    for (let attempt = 0; attempt < LEAST_ATTEMPTS || elapsedMs() - start < TRYING_MS; attempt++) {
      const before = await steady(backend);
      const [outcome] = await Promise.allSettled([read(before.state, before.view)]);
      const after = await steady(backend);
      if (!isSame(before.state, after.state)) continue;
      if (outcome.status === 'fulfilled') return () => outcome.value;
      // The one change of an unsettled state may have come in between.
      if (!before.state.settled && attempt < LEAST_ATTEMPTS) continue;
      return () => {
        throw outcome.reason;
      };
    }
    return undefined;
  };
  return besideOrBetween(backend, beside, (version) => read(version, backend));
}

const isSame = (a: State, b: State): boolean =>
  a.settled === b.settled && a.generation === b.generation && a.revision === b.revision;

/** So long a reader waits for its turn among the writers before it tries again beside them. */
const TURN_MS = 1000;

/**
 * Reads beside the writers, and where they change again and again what is read, in turn with them. When the right to write is
 * not to be had, because whoever has it stands still or the disk is read-only, nothing changes either, and the next try beside
 * them succeeds.
 * @param beside undefined when it came to nothing.
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
        { waitMs: TURN_MS },
      );
    } catch (error) {
      if (isAlone || elapsedMs() - start > LOCK_WAIT_MS) throw error;
    }
  }
}

/** What there is to be read, whatever a writer is at. */
export async function steady(backend: Backend): Promise<Followed> {
  const state = await backend.state();
  return state.settled || backend.follow === undefined ? { state, view: backend } : backend.follow();
}

/** The names of all blobs of a version, slots first, each area sorted. */
export async function everyRef(backend: Backend, { generation }: Version): Promise<BlobRef[]> {
  const refs: BlobRef[] = [];
  for (const area of areas) {
    for (const name of (await backend.names(generation, area)).sort()) refs.push({ area, name });
  }
  return refs;
}

/** Their contents, sealed as they are. @throws `not-found` when one went while others wrote. */
export async function* readEvery(
  backend: Backend,
  { generation }: Version,
  refs: readonly BlobRef[],
): AsyncGenerator<Blob> {
  for (const ref of refs) {
    const bytes = await backend.read(generation, ref);
    if (bytes === undefined) throw notFound(placed`${backend.locate(generation, ref)} has vanished`);
    yield { ref, bytes };
  }
}
