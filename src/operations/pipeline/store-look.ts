import type { Mount } from '../../mounts/mount.ts';
import { MAX_MOUNT_PATH_LENGTH } from '../../mounts/paths.ts';

/** What a look at a store has found: what requests that came in before it are answered from. */
export class StoreLook {
  /** The store's, as `Store.revision` has it. */
  readonly revision: string;
  readonly #mounts: ReadonlyMap<string, Mount>;

  constructor(revision: string, mounts: readonly Mount[]) {
    this.revision = revision;
    this.#mounts = new Map(mounts.map((mount) => [mount.path, mount]));
  }

  /** The mount that a path of `/v1` lies under. Mounts never lie in one another, so there is at most one. */
  mountOf(path: string): Mount | undefined {
    for (let end = mountEnd(path, 0); end !== -1; end = mountEnd(path, end + 1)) {
      const mount = this.#mounts.get(path.slice(0, end));
      if (mount !== undefined) return mount;
    }
    return undefined;
  }

  /** The same mounts, for requests that are answered from another revision. */
  asOf(revision: string): StoreLook {
    return revision === this.revision ? this : new StoreLook(revision, [...this.#mounts.values()]);
  }
}

/**
 * The next slash at which a mount might end, or -1. Not every slash: a stranger's path may have thousands, and each costs
 * a look.
 */
export function mountEnd(path: string, from: number): number {
  const slash = path.indexOf('/', from);
  return slash > MAX_MOUNT_PATH_LENGTH ? -1 : slash;
}
