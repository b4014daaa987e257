/** A whole store as it is, sealed: for those who copy or examine it, with a key or without. */
import { notFound, placed } from '../../ground/errors.ts';
import { areas, type Backend, type Blob, type BlobRef, type Version } from './backend.ts';

const OPTIMISTIC_ATTEMPTS = 2;

/**
 * Runs `read` on one version of the store; again when another process commits meanwhile, and in the end with all
 * writers waiting. So a store that can only be read (a read-only disk) can be read all the same.
 */
export async function readConsistently<T>(
  backend: Backend,
  read: (version: Version) => Promise<T>,
): Promise<T> {
  for (let attempt = 0; attempt < OPTIMISTIC_ATTEMPTS; attempt++) {
    const before = await backend.state();
    if (!before.settled) break;
    const outcome = await Promise.allSettled([read(before)]);
    const after = await backend.state();
    if (!after.settled || after.generation !== before.generation || after.revision !== before.revision)
      continue;
    if (outcome[0].status === 'rejected') throw outcome[0].reason;
    return outcome[0].value;
  }
  return backend.exclusive(({ version }) => read(version));
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
