import type { Operation } from './declaration/operation.ts';

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

/** One operation of a file that has several. */
const pick = async <M, Name extends keyof M>(
  module: Promise<M>,
  name: Name,
): Promise<{ readonly declaration: M[Name] }> => ({ declaration: (await module)[name] });

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
      create: entry('Make a named key', () => import('./transit/create-key.ts')),
      read: entry('Show a key, its versions and public keys', () => import('./transit/read-key.ts')),
      list: entry('List the keys of the mount', () => import('./transit/list-keys.ts')),
      config: entry('Change the settings of a key', () => import('./transit/configure-key.ts')),
      rotate: entry('Add a version to a key and use it from now on', () => import('./transit/rotate-key.ts')),
      trim: entry('Delete old versions of a key for good', () => import('./transit/trim-key.ts')),
      delete: entry('Delete a key with all its versions', () => import('./transit/delete-key.ts')),
      export: entry('Take key material out of an exportable key', () => import('./transit/export-key.ts')),
      'soft-delete': served(
        'Stop every use of a key until it is restored',
        () => import('./transit/soft-delete-key.ts'),
      ),
      'soft-delete-restore': served(
        'Use a soft-deleted key again',
        () => import('./transit/restore-soft-deleted-key.ts'),
      ),
    },
    encrypt: entry('Encrypt a value with a named key', () => import('./transit/encrypt.ts')),
    decrypt: entry('Decrypt what encrypt made', () => import('./transit/decrypt.ts')),
    rewrap: entry(
      'Encrypt again under the latest version without showing it',
      () => import('./transit/rewrap.ts'),
    ),
    datakey: entry('Make a random key, encrypted with a named one', () => import('./transit/data-key.ts')),
    random: entry('Print random bytes', () => import('./transit/random-bytes.ts')),
    hash: entry('Hash a value', () => import('./transit/hash-data.ts')),
    hmac: entry('Authenticate a value with a named key', () => import('./transit/hmac.ts')),
    sign: entry('Sign a value', () => import('./transit/sign.ts')),
    verify: entry('Check a signature or an HMAC', () => import('./transit/verify.ts')),
    backup: entry('Print everything about a key as one text', () => import('./transit/backup-key.ts')),
    restore: entry('Bring a key back from a backup', () => import('./transit/restore-key.ts')),
    import: entry('Make a key of material from outside', () => import('./transit/import-key.ts')),
    'import-version': entry(
      'Add a version from outside to an imported key',
      () => import('./transit/import-version.ts'),
    ),
    'wrapping-key': entry(
      'Print the public key that imported keys are wrapped under',
      () => import('./transit/wrapping-key.ts'),
    ),
    'byok-export': entry(
      'Wrap a key for another server without showing it',
      () => import('./transit/byok-export.ts'),
    ),
    'key-defaults': entry(
      'Show or set whether encrypt may create keys',
      () => import('./transit/configure-key-defaults.ts'),
    ),
    'read-key-defaults': served(
      'Show whether encrypt may create keys',
      () => import('./transit/read-key-defaults.ts'),
    ),
    'cache-config': entry(
      'Show or set the size of the key cache',
      () => import('./transit/configure-cache.ts'),
    ),
    'read-cache-config': served(
      'Show the size of the key cache',
      () => import('./transit/read-cache-config.ts'),
    ),
  },
  token: {
    create: entry('Issue a token for callers of a server', () => import('./access/token-create.ts')),
    list: entry('List the tokens', () => import('./access/token-list.ts')),
    lookup: entry('Show a token', () => import('./access/token-lookup.ts')),
    renew: entry('Let a token live longer', () => import('./access/token-renew.ts')),
    revoke: entry('End a token and every token that it issued', () => import('./access/token-revoke.ts')),
    'create-orphan': served(
      'Issue a token without a parent',
      () => import('./access/token-create-orphan.ts'),
    ),
    'lookup-accessor': served(
      'Show a token by its accessor',
      () => import('./access/token-lookup-accessor.ts'),
    ),
    'lookup-self': served('Show the token in use', () => import('./access/token-lookup-self.ts')),
    'renew-accessor': served(
      'Renew a token by its accessor',
      () => import('./access/token-renew-accessor.ts'),
    ),
    'renew-self': served('Renew the token in use', () => import('./access/token-renew-self.ts')),
    'revoke-accessor': served(
      'End a token by its accessor',
      () => import('./access/token-revoke-accessor.ts'),
    ),
    'revoke-orphan': served(
      'End a token but not what it issued',
      () => import('./access/token-revoke-orphan.ts'),
    ),
    'revoke-self': served('End the token in use', () => import('./access/token-revoke-self.ts')),
  },
  policy: {
    list: entry('List the policies', () => import('./sys/policies-list.ts')),
    read: entry('Print a policy as it was written', () => import('./sys/policies-read.ts')),
    write: entry('Make or replace a policy', () => import('./sys/policies-write.ts')),
    delete: entry('Delete a policy', () => import('./sys/policies-delete.ts')),
    'list-legacy': served(
      'List the policies, as older clients do',
      () => import('./sys/policies-list-legacy.ts'),
    ),
    'read-legacy': served(
      'Show a policy, as older clients do',
      () => import('./sys/policies-read-legacy.ts'),
    ),
    'write-legacy': served(
      'Write a policy, as older clients do',
      () => import('./sys/policies-write-legacy.ts'),
    ),
  },
  orgs: {
    create: entry('Make an organization', () => import('./tags/create-organization.ts')),
    list: entry('List the organizations', () => import('./tags/list-organizations.ts')),
    show: entry('Show an organization', () => import('./tags/show-organization.ts')),
    delete: entry(
      'Delete an organization with its workspaces and tags',
      () => import('./tags/delete-organization.ts'),
    ),
  },
  workspaces: {
    create: entry('Make a workspace, with tags on it', () => import('./tags/create-workspace.ts')),
    list: entry('List or find workspaces', () => import('./tags/list-workspaces.ts')),
    show: entry('Show a workspace', () => import('./tags/show-workspace.ts')),
    update: entry('Rename or describe a workspace', () => import('./tags/update-workspace.ts')),
    tag: entry(
      'Put tags on a workspace, making those that are missing',
      () => import('./tags/tag-workspace.ts'),
    ),
    untag: entry('Take tags off a workspace', () => import('./tags/untag-workspace.ts')),
    delete: entry('Delete a workspace', () => import('./tags/delete-workspace.ts')),
  },
  tags: {
    create: entry('Add tags to the pool', () => import('./tags/create-tags.ts')),
    list: entry('List the tags of an organization', () => import('./tags/list-tags.ts')),
    show: entry('Show a tag', () => import('./tags/show-tag.ts')),
    delete: entry('Delete tags from the pool and off every workspace', () => import('./tags/delete-tags.ts')),
    attach: entry('Put a tag on workspaces', () => import('./tags/attach-tag.ts')),
    detach: entry('Take a tag off workspaces', () => import('./tags/detach-tag.ts')),
    of: entry('List the tags of a workspace', () => import('./tags/list-workspace-tags.ts')),
    ping: served('Answer the first request of a client', () => import('./tags/ping.ts')),
  },
  mounts: {
    list: entry('List the transit mounts', () => pick(import('./sys/mounts.ts'), 'list')),
    add: entry('Add a transit mount with keys of its own', () => pick(import('./sys/mounts.ts'), 'add')),
    remove: entry('Remove a mount and every key in it', () => pick(import('./sys/mounts.ts'), 'remove')),
    read: served('Show one mount', () => pick(import('./sys/mounts.ts'), 'read')),
    tune: served('Change the description or dialect of a mount', () =>
      pick(import('./sys/mounts.ts'), 'tune'),
    ),
    tuning: served('Show the settings of a mount', () => pick(import('./sys/mounts.ts'), 'tuning')),
    visible: served('List the mounts that the caller may use', () =>
      pick(import('./sys/mounts.ts'), 'visible'),
    ),
    find: served('Show the mount that a path belongs to', () => pick(import('./sys/mounts.ts'), 'find')),
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
    capabilities: served('Tell what a token may do on paths', () => import('./sys/capabilities.ts')),
    'capabilities-accessor': served(
      'Tell what a token may do, by its accessor',
      () => import('./sys/capabilities-accessor.ts'),
    ),
    'capabilities-self': served(
      'Tell what the token in use may do',
      () => import('./sys/capabilities-self.ts'),
    ),
    'audit-hash': served('Tell how a value looks in the audit log', () => import('./sys/audit-hash.ts')),
    'api-document': served('Describe the API in the OpenAPI format', () => import('./sys/api-document.ts')),
  },
} as const satisfies Branch;

export const isEntry = (node: Entry<Operation> | Branch): node is Entry<Operation> =>
  typeof node['load'] === 'function';

export type Catalogue = typeof catalogue;
