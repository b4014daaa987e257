import { notFound, placed } from '../../ground/errors.ts';
import { areas, type Backend, type Blob, type BlobRef, type Version } from '../backends/backend.ts';

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
