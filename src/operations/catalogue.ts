import type { Operation } from './operation.ts';

/** One operation of the catalogue: enough to print help and find it; the declaration itself is loaded on demand. */
export interface Entry<O> {
  readonly summary: string;
  /** Offered as a command. */
  readonly command: boolean;
  /** The path is literal, because a bundler finds only those. */
  readonly load: () => Promise<{ readonly declaration: O }>;
}

export interface Branch {
  readonly [word: string]: Entry<Operation> | Branch;
}

const entry = <O>(summary: string, load: () => Promise<{ readonly declaration: O }>): Entry<O> => ({
  summary,
  command: true,
  load,
});

/** An operation of the HTTP API and the library alone. */
const served = <O>(summary: string, load: () => Promise<{ readonly declaration: O }>): Entry<O> => ({
  summary,
  command: false,
  load,
});

/**
 * Every operation, at its place in the command tree: `catalogue.transit.keys.trim` is `coffer transit keys trim`
 * and, in the library, `transit.keys.trim(…)`.
 */
export const catalogue = {
  transit: {
    keys: {
      trim: entry('Delete old versions of a key for good', () => import('./transit/trim-key.ts')),
    },
  },
} as const satisfies Branch;

export const isEntry = (node: Entry<Operation> | Branch): node is Entry<Operation> =>
  typeof node['load'] === 'function';

export type Catalogue = typeof catalogue;
