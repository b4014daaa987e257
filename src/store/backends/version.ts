/** Version of a committed state. Every commit raises the revision; a new root key raises the generation as well. */
export interface Version {
  /** Starts at 1. Each generation has blobs of its own. */
  readonly generation: number;
  /** Starts at 0, and is never reset. */
  readonly revision: number;
}

/** Whether version `a` is older than `b`, which means that a store was rolled back. */
export const isLower = (a: Version, b: Version): boolean =>
  a.generation < b.generation || a.revision < b.revision;

export const isSameVersion = (a: Version, b: Version): boolean =>
  a.revision === b.revision && a.generation === b.generation;

export const printVersion = ({ generation, revision }: Version): string =>
  `generation ${generation}, revision ${revision}`;

/** Returns only the numbers. */
export const versionOf = ({ generation, revision }: Version): Version => ({ generation, revision });
