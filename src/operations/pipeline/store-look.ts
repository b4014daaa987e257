import type { Mount } from '../../mounts/mount.ts';
import { MAX_MOUNT_PATH_LENGTH } from '../../mounts/paths.ts';

/** Result of a look at a store. Requests that arrived before the look are answered from it. */
export class StoreLook {
  /** Revision of the store, as returned by `Store.revision`. */
  readonly revision: string;
  readonly #mounts: ReadonlyMap<string, Mount>;

  constructor(revision: string, mounts: readonly Mount[]) {
    this.revision = revision;
    this.#mounts = new Map(mounts.map((mount) => [mount.path, mount]));
  }

  /** Finds the mount that contains a path of `/v1`. Mounts are never nested, so there is at most one. */
  mountOf(path: string): Mount | undefined {
    for (let end = mountEnd(path, 0); end !== -1; end = mountEnd(path, end + 1)) {
      const mount = this.#mounts.get(path.slice(0, end));
      if (mount !== undefined) return mount;
    }
    return undefined;
  }

  /** Returns the same mounts for requests that are answered from another revision. */
  asOf(revision: string): StoreLook {
    return revision === this.revision ? this : new StoreLook(revision, [...this.#mounts.values()]);
  }
}

/**
 * Returns the position of the next slash at which a mount path may end; -1 if there is none. Slashes beyond the longest
 * mount path are skipped: an unauthenticated client's path may have thousands, and each costs a lookup.
 */
export function mountEnd(path: string, from: number): number {
  const slash = path.indexOf('/', from);
  return slash > MAX_MOUNT_PATH_LENGTH ? -1 : slash;
}
