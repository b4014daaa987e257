/** One committed state. Every commit raises the revision; a new root key raises the generation as well. */
export interface Version {
  /** From 1. Each generation has blobs of its own. */
  readonly generation: number;
  /** From 0, never reset. */
  readonly revision: number;
}

/** Whether a store that was at `b` has gone back when it is at `a`. */
export const isLower = (a: Version, b: Version): boolean =>
  a.generation < b.generation || a.revision < b.revision;

export const printVersion = ({ generation, revision }: Version): string =>
  `generation ${generation}, revision ${revision}`;
