/** Every operation there is, declared once each in the folders beside this file, and found here by its name. */

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

const entryThat =
  (command: boolean) =>
  <O>(summary: string, load: Entry<O>['load']): Entry<O> => ({ summary, command, load });

const entry = entryThat(true);
/** An operation of the HTTP API and the library alone. */
const served = entryThat(false);

/** One operation of a file that declares several. */
const one =
  <M, Name extends keyof M>(load: () => Promise<M>, name: Name) =>
  async (): Promise<{ readonly declaration: M[Name] }> => ({ declaration: (await load())[name] });

const keys = () => import('./transit/keys.ts');
const backupKey = () => import('./transit/backup-key.ts');
const importKey = () => import('./transit/import-key.ts');
const byokExport = () => import('./transit/byok-export.ts');
const mountSettings = () => import('./transit/mount-settings.ts');
const tokenCreate = () => import('./access/token-create.ts');
const tokenLookup = () => import('./access/token-lookup.ts');
const tokenRenew = () => import('./access/token-renew.ts');
const tokenRevoke = () => import('./access/token-revoke.ts');
const policies = () => import('./sys/policies.ts');
const organizations = () => import('./tags/organizations.ts');
const workspaces = () => import('./tags/workspaces.ts');
const relationships = () => import('./tags/relationships.ts');
const tags = () => import('./tags/tags.ts');
const mounts = () => import('./sys/mounts.ts');
const seal = () => import('./sys/seal.ts');
const server = () => import('./sys/server.ts');
const capabilities = () => import('./sys/capabilities.ts');

/**
 * Every operation, at its place in the command tree: `catalogue.transit.keys.trim` is `coffer transit keys trim`
 * and, in the library, `transit.keys.trim(…)`.
 * @see docs/decisions/0071
 */
export const catalogue = {
  transit: {
    keys: {
      create: entry('Make a named key', one(keys, 'create')),
      read: entry('Show a key, its versions and public keys', one(keys, 'read')),
      list: entry('List the keys of the mount', one(keys, 'list')),
      config: entry('Change the settings of a key', one(keys, 'configure')),
      rotate: entry('Add a version to a key and use it from now on', one(keys, 'rotate')),
      trim: entry('Delete old versions of a key for good', one(keys, 'trim')),
      delete: entry('Delete a key with all its versions', one(keys, 'remove')),
      export: entry('Take key material out of an exportable key', () => import('./transit/export-key.ts')),
      'soft-delete': served('Stop every use of a key until it is restored', one(keys, 'softDelete')),
      'soft-delete-restore': served('Use a soft-deleted key again', one(keys, 'restore')),
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
    backup: entry('Print everything about a key as one text', one(backupKey, 'backup')),
    restore: entry('Bring a key back from a backup', one(backupKey, 'restore')),
    import: entry('Make a key of material from outside', one(importKey, 'create')),
    'import-version': entry('Add a version from outside to an imported key', one(importKey, 'addVersion')),
    'wrapping-key': entry(
      'Print the public key that imported keys are wrapped under',
      one(byokExport, 'wrappingKey'),
    ),
    'byok-export': entry('Wrap a key for another server without showing it', one(byokExport, 'byokExport')),
    'key-defaults': entry(
      'Show or set whether encrypt may create keys',
      one(mountSettings, 'configureKeyDefaults'),
    ),
    'read-key-defaults': served(
      'Show whether encrypt may create keys',
      one(mountSettings, 'readKeyDefaults'),
    ),
    'cache-config': entry('Show or set the size of the key cache', one(mountSettings, 'configureCache')),
    'read-cache-config': served('Show the size of the key cache', one(mountSettings, 'readCache')),
  },
  token: {
    create: entry('Issue a token for callers of a server', one(tokenCreate, 'create')),
    list: entry('List the tokens', one(tokenLookup, 'list')),
    lookup: entry('Show a token', one(tokenLookup, 'lookup')),
    renew: entry('Let a token live longer', one(tokenRenew, 'renew')),
    revoke: entry('End a token and every token that it issued', one(tokenRevoke, 'revoke')),
    'create-orphan': served('Issue a token without a parent', one(tokenCreate, 'createOrphan')),
    'lookup-accessor': served('Show a token by its accessor', one(tokenLookup, 'lookupAccessor')),
    'lookup-self': served('Show the token in use', one(tokenLookup, 'lookupSelf')),
    'renew-accessor': served('Renew a token by its accessor', one(tokenRenew, 'renewAccessor')),
    'renew-self': served('Renew the token in use', one(tokenRenew, 'renewSelf')),
    'revoke-accessor': served('End a token by its accessor', one(tokenRevoke, 'revokeAccessor')),
    'revoke-orphan': served('End a token but not what it issued', one(tokenRevoke, 'revokeOrphan')),
    'revoke-self': served('End the token in use', one(tokenRevoke, 'revokeSelf')),
  },
  policy: {
    list: entry('List the policies', one(policies, 'list')),
    read: entry('Print a policy as it was written', one(policies, 'read')),
    write: entry('Make or replace a policy', one(policies, 'write')),
    delete: entry('Delete a policy', one(policies, 'remove')),
    'list-legacy': served('List the policies, as older clients do', one(policies, 'listLegacy')),
    'read-legacy': served('Show a policy, as older clients do', one(policies, 'readLegacy')),
    'write-legacy': served('Write a policy, as older clients do', one(policies, 'writeLegacy')),
  },
  orgs: {
    create: entry('Make an organization', one(organizations, 'create')),
    list: entry('List the organizations', one(organizations, 'list')),
    show: entry('Show an organization', one(organizations, 'show')),
    delete: entry('Delete an organization with its workspaces and tags', one(organizations, 'remove')),
  },
  workspaces: {
    create: entry('Make a workspace, with tags on it', one(workspaces, 'create')),
    list: entry('List or find workspaces', one(workspaces, 'list')),
    show: entry('Show a workspace', one(workspaces, 'show')),
    update: entry('Rename or describe a workspace', one(workspaces, 'update')),
    tag: entry('Put tags on a workspace, making those that are missing', one(relationships, 'tag')),
    untag: entry('Take tags off a workspace', one(relationships, 'untag')),
    delete: entry('Delete a workspace', one(workspaces, 'remove')),
  },
  tags: {
    create: entry('Add tags to the pool', one(tags, 'create')),
    list: entry('List the tags of an organization', one(tags, 'list')),
    show: entry('Show a tag', one(tags, 'show')),
    delete: entry('Delete tags from the pool and off every workspace', one(tags, 'remove')),
    attach: entry('Put a tag on workspaces', one(relationships, 'attach')),
    detach: entry('Take a tag off workspaces', one(relationships, 'detach')),
    of: entry('List the tags of a workspace', one(relationships, 'tagsOf')),
    ping: served('Answer the first request of a client', one(tags, 'ping')),
  },
  mounts: {
    list: entry('List the transit mounts', one(mounts, 'list')),
    add: entry('Add a transit mount with keys of its own', one(mounts, 'add')),
    remove: entry('Remove a mount and every key in it', one(mounts, 'remove')),
    move: entry('Move a mount and every key in it to another path', one(mounts, 'move')),
    read: served('Show one mount', one(mounts, 'read')),
    tune: served('Change the settings of a mount', one(mounts, 'tune')),
    tuning: served('Show the settings of a mount', one(mounts, 'tuning')),
    migration: served('Tell how far a move is', one(mounts, 'migration')),
    visible: served('List the mounts that the caller may use', one(mounts, 'visible')),
    find: served('Show the mount that a path belongs to', one(mounts, 'find')),
  },
  sys: {
    health: served('Tell whether the server can be used', one(seal, 'health')),
    'seal-status': served('Tell whether the store is sealed', one(seal, 'sealStatus')),
    seal: served('Forget the root key until the next unseal', one(seal, 'seal')),
    unseal: served('Unlock the store', one(seal, 'unseal')),
    leader: served('Tell who leads: nobody', one(seal, 'leader')),
    init: served('Tell whether there is a store', one(seal, 'init')),
    reload: served('Empty caches and apply the cache size', one(server, 'reload')),
    metrics: served('Report numbers for Prometheus', one(server, 'metrics')),
    capabilities: served('Tell what a token may do on paths', one(capabilities, 'ofToken')),
    'capabilities-accessor': served(
      'Tell what a token may do, by its accessor',
      one(capabilities, 'ofAccessor'),
    ),
    'capabilities-self': served('Tell what the token in use may do', one(capabilities, 'ofSelf')),
    'audit-hash': served('Tell how a value looks in the audit log', one(server, 'auditHash')),
    'api-document': served('Describe the API in the OpenAPI format', one(server, 'apiDocument')),
  },
} as const satisfies Branch;

export const isEntry = (node: Entry<Operation> | Branch): node is Entry<Operation> =>
  typeof node['load'] === 'function';

export type Catalogue = typeof catalogue;
