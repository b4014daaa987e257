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
  mounts: {
    list: entry('List the transit mounts', () => import('./sys/mounts-list.ts')),
    add: entry('Add a transit mount with keys of its own', () => import('./sys/mounts-add.ts')),
    remove: entry('Remove a mount and every key in it', () => import('./sys/mounts-remove.ts')),
    read: served('Show one mount', () => import('./sys/mounts-read.ts')),
    tune: served('Change the description or dialect of a mount', () => import('./sys/mounts-tune.ts')),
    tuning: served('Show the settings of a mount', () => import('./sys/mounts-tuning.ts')),
    visible: served('List the mounts that the caller may use', () => import('./sys/internal-ui-mounts.ts')),
    find: served('Show the mount that a path belongs to', () => import('./sys/internal-ui-mount.ts')),
  },
  sys: {
    health: served('Tell whether the server can be used', () => import('./sys/health.ts')),
    'seal-status': served('Tell whether the store is sealed', () => import('./sys/seal-status.ts')),
    seal: served('Forget the root key until the next unseal', () => import('./sys/seal.ts')),
    unseal: served('Unlock the store', () => import('./sys/unseal.ts')),
    leader: served('Tell who leads: nobody', () => import('./sys/leader.ts')),
    init: served('Tell whether there is a store', () => import('./sys/init-status.ts')),
    reload: served('Empty caches and apply the cache size', () => import('./sys/reload.ts')),
    metrics: served('Report numbers for Prometheus', () => import('./sys/metrics.ts')),
    'api-document': served('Describe the API in the OpenAPI format', () => import('./sys/api-document.ts')),
  },
} as const satisfies Branch;

export const isEntry = (node: Entry<Operation> | Branch): node is Entry<Operation> =>
  typeof node['load'] === 'function';

export type Catalogue = typeof catalogue;
