import { placed, unavailable } from '../../ground/errors.ts';
import type { Backend, Blob, State } from '../backends/backend.ts';
import type { Location } from '../backends/backend-kind.ts';
import { createAt, withBackendAt } from '../backends/registry.ts';
import { everyRef, readEvery, steady } from '../backends/whole-store.ts';
import { parseHeader } from '../header.ts';
import type { Progress } from './survey.ts';

export interface CopyOptions {
  readonly from: Location;
  /** There must be no store yet. */
  readonly to: Location;
  /** Called after each file with the number of files read and their total. */
  readonly onProgress?: Progress;
}

export interface CopySummary {
  /** The store's id; the copy has the same. */
  readonly id: string;
  /** Slots and sealed blobs. */
  readonly files: number;
}

/** Each attempt goes on from the one before, so the last ones are short. */
const ATTEMPTS = 4;
const STOP = 'stop the servers that use it, then run this again: it goes on from here';

/**
 * Copies a whole store as it is at one moment, sealed as it is: no key is needed, and the same secrets open the copy. When
 * it is cut short, the next call goes on from there. The copy is compared with the original before it counts as a store.
 * @throws `conflict` when there is a store at `to`; `not-found` when there is none at `from`.
 * @see docs/decisions/0093
 */
export async function copyStore({ from, to, onProgress }: CopyOptions): Promise<CopySummary> {
  return withBackendAt(from, async (backend) => {
    const header = await backend.header();
    const { id } = parseHeader(header, backend.headerPlace);
    for (let attempt = 1; ; attempt++) {
      const { state: version, view } = await steady(backend);
      const refs = await everyRef(view, version);
      const blobs = unchanged(
        backend,
        version,
        counted(readEvery(view, version, refs), refs.length, onProgress),
      );
      try {
        await createAt(to, { header, version, blobs }, { resume: true });
        return { id, files: refs.length };
      } catch (error) {
        if (await isAt(version, backend)) throw error;
        if (attempt === ATTEMPTS)
          throw unavailable(placed`others keep writing to ${backend.place}`, { hint: STOP, cause: error });
      }
    }
  });
}

async function isAt({ generation, revision, settled }: State, backend: Backend): Promise<boolean> {
  const { state } = await steady(backend);
  return state.settled === settled && state.generation === generation && state.revision === revision;
}

/** Ends with an error when somebody wrote meanwhile, so that no store is made of a mixture. */
async function* unchanged(
  backend: Backend,
  version: State,
  blobs: AsyncIterable<Blob>,
): AsyncGenerator<Blob> {
  yield* blobs;
  if (!(await isAt(version, backend)))
    throw unavailable(placed`others wrote to ${backend.place}`, { hint: STOP });
}

async function* counted(
  blobs: AsyncIterable<Blob>,
  total: number,
  onProgress: Progress | undefined,
): AsyncGenerator<Blob> {
  let done = 0;
  for await (const blob of blobs) {
    yield blob;
    onProgress?.(++done, total);
  }
}
