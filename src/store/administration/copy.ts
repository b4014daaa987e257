import { placed, unavailable } from '../../ground/errors.ts';
import type { Backend, Blob, Version } from '../backends/backend.ts';
import type { Location } from '../backends/backend-kind.ts';
import { createAt, withBackendAt } from '../backends/registry.ts';
import { type OnFile, readEvery } from '../backends/whole-store.ts';
import { isSameVersion } from '../backends/witness.ts';
import { parseHeader } from '../header.ts';
import { unlock } from '../slots/unlock.ts';
import { refuseStoreAt } from './init.ts';
import type { Finding } from './status.ts';
import { counted, leftOutOf, sourceOf, type VerifyOptions, verifiedBlobs } from './verified.ts';

interface CopyOptions extends VerifyOptions {
  readonly from: Location;
  /** Destination. It must not contain a store. */
  readonly to: Location;
  /** Called after each file with the number of files read and their total. */
  readonly onProgress?: OnFile;
}

/** Maximum number of attempts. Each continues the previous one, so the last ones are short. */
const ATTEMPTS = 4;
const STOP = 'stop the servers that use the store, then run the command again to continue';

/**
 * Copies a consistent snapshot of a whole store, still sealed: the same secrets open the copy. An interrupted copy is
 * continued by the next call. The copy is compared with the original before it becomes a store.
 * @returns the ID of both stores, the number of files (slots and sealed blobs), and the damaged or missing ones that
 * the copy does not contain
 * @throws `exists` if there is a store at `to`; `not-found` if there is none at `from`; `DamageError` if it is damaged
 * or incomplete; `sealed` and `denied` as `openStore`
 * @see docs/decisions/0093
 */
export async function copyStore(options: CopyOptions) {
  const { from, to, credentials, onProgress } = options;
  return withBackendAt(from, async (backend) => {
    const header = await backend.header();
    const { id } = parseHeader(header, backend.headerPlace);
    await refuseStoreAt(to);
    const keyring = credentials === undefined ? undefined : await unlock(backend, id, credentials);
    for (let attempt = 1; ; attempt++) {
      const version = await backend.state();
      const count = { files: 0, bytes: 0 };
      const leftOut: Finding[] = [];
      const whole =
        keyring === undefined
          ? readEvery(backend, version.generation, onProgress)
          : verifiedBlobs(await sourceOf(backend, keyring, version.generation, onProgress), leftOut, options);
      const blobs = unchanged(backend, version, counted(whole, count));
      try {
        await createAt(to, { header, version, blobs }, { resume: true });
        return { id, files: count.files, ...leftOutOf(leftOut) };
      } catch (error) {
        if (isSameVersion(version, await backend.state())) throw error;
        if (attempt === ATTEMPTS)
          throw unavailable(placed`cannot copy ${backend.place}: other processes keep writing to it`, {
            hint: STOP,
            cause: error,
          });
      }
    }
  });
}

/** Passes on blobs and fails if the store changed during the copy, so that the copy never mixes two versions. */
async function* unchanged(
  backend: Backend,
  version: Version,
  blobs: AsyncIterable<Blob>,
): AsyncGenerator<Blob> {
  yield* blobs;
  if (!isSameVersion(version, await backend.state()))
    throw unavailable(placed`another process wrote to ${backend.place} during the copy`, { hint: STOP });
}
