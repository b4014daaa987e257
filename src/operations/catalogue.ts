/** Catalogue of all operations by name; each is declared once in the folders beside this file. */

import type { Operation } from './declaration/operation.ts';

/** Catalogue entry: enough to print help and to find the operation; its declaration is loaded on demand. */
export interface Entry<O> {
  readonly summary: string;
  /** Whether it is offered as a command. */
  readonly command: boolean;
  /** The path must be literal, because bundlers only find those. */
  readonly load: () => Promise<{ readonly declaration: O }>;
}

export interface Branch {
  readonly [word: string]: Entry<Operation> | Branch;
}

const entryThat =
  (command: boolean) =>
  <O>(summary: string, load: Entry<O>['load']): Entry<O> => ({ summary, command, load });

const entry = entryThat(true);
/** Entry of an operation that only the HTTP API and the library have. */
const served = entryThat(false);

/** Loads one operation from a module that declares several. */
const one =
  <M, Name extends keyof M>(load: () => Promise<M>, name: Name) =>
  async (): Promise<{ readonly declaration: M[Name] }> => ({ declaration: (await load())[name] });

const keys = () => import('./transit/keys.ts');
const keyRevocation = () => import('./transit/key-revocation.ts');
const dataKey = () => import('./transit/data-key.ts');
const keyTags = () => import('./transit/key-tags.ts');
const backupKey = () => import('./transit/backup-key.ts');
const importKey = () => import('./transit/import-key.ts');
const byokExport = () => import('./transit/byok-export.ts');
const certificates = () => import('./transit/certificates.ts');
const mountSettings = () => import('./transit/mount-settings.ts');
const tokenCreate = () => import('./access/token-create.ts');
const tokenLookup = () => import('./access/token-lookup.ts');
const tokenRenew = () => import('./access/token-renew.ts');
const tokenRevoke = () => import('./access/token-revoke.ts');
const tokenRoles = () => import('./access/token-roles.ts');
const policies = () => import('./sys/policies.ts');
const organizations = () => import('./tags/organizations.ts');
const workspaces = () => import('./tags/workspaces.ts');
const notKept = () => import('./tags/not-kept.ts');
const relationships = () => import('./tags/relationships.ts');
const tags = () => import('./tags/tags.ts');
const bindings = () => import('./tags/bindings.ts');
const boundTags = () => import('./tags/bound-tags.ts');
const projects = () => import('./tags/projects.ts');
const remoteStateConsumers = () => import('./tags/remote-state-consumers.ts');
const reservedKeys = () => import('./tags/reserved-keys.ts');
const mounts = () => import('./sys/mounts.ts');
const entitlements = () => import('./tags/entitlements.ts');
const account = () => import('./tags/account.ts');
const auth = () => import('./sys/auth.ts');
const lockedUsers = () => import('./sys/locked-users.ts');
const approleRoles = () => import('./auth/approle-roles.ts');
const approleSecrets = () => import('./auth/approle-secrets.ts');
const cert = () => import('./auth/cert.ts');
const jwt = () => import('./auth/jwt.ts');
const userpass = () => import('./auth/userpass.ts');
const seal = () => import('./sys/seal.ts');
const server = () => import('./sys/server.ts');
const auditedHeaders = () => import('./sys/audited-headers.ts');
const jwks = () => import('./transit/jwks.ts');
const cors = () => import('./sys/cors.ts');
const capabilities = () => import('./sys/capabilities.ts');
const doors = () => import('./sys/doors.ts');
const leases = () => import('./sys/leases.ts');
const quotas = () => import('./sys/quotas.ts');
const audit = () => import('./sys/audit.ts');
const wrapping = () => import('./sys/wrapping.ts');

/**
 * Every operation, at its place in the command tree: `catalogue.transit.keys.trim` is `coffer transit keys trim` and,
 * in the library, `transit.keys.trim(…)`.
 * @see docs/decisions/0071
 */
export const catalogue = {
  transit: {
    keys: {
      create: entry('Make a named key', one(keys, 'create')),
      read: entry('Show a key, its versions and public keys', one(keys, 'read')),
      jwks: entry('Print the public keys of a key that signs as a JWKS', one(jwks, 'jwks')),
      list: entry('List the keys of the mount', one(keys, 'list')),
      config: entry('Change the settings of a key', one(keys, 'configure')),
      rotate: entry('Add a version to a key and use it from now on', one(keys, 'rotate')),
      trim: entry('Delete old versions of a key for good', one(keys, 'trim')),
      tags: entry('List the tags that a key carries', one(keyTags, 'tags')),
      tag: entry('Put tags on a key, making those that are missing', one(keyTags, 'tag')),
      untag: entry('Take tags off a key', one(keyTags, 'untag')),
      revoke: entry('Stop every use of one version of a key', one(keyRevocation, 'revoke')),
      reinstate: entry('Use a revoked version of a key again', one(keyRevocation, 'reinstate')),
      destroy: entry('Destroy one version of a key for good', one(keyRevocation, 'destroy')),
      delete: entry('Delete a key with all its versions', one(keys, 'remove')),
      export: entry('Take key material out of an exportable key', () => import('./transit/export-key.ts')),
      csr: entry('Ask for a certificate for a key', one(certificates, 'csr')),
      'set-certificate': entry('Keep the certificate of a key', one(certificates, 'setCertificate')),
      'soft-delete': entry('Stop every use of a key until it is restored', one(keys, 'softDelete')),
      'soft-delete-restore': entry('Use a soft-deleted key again', one(keys, 'restore')),
    },
    encrypt: entry('Encrypt a value with a named key', () => import('./transit/encrypt.ts')),
    decrypt: entry('Decrypt what encrypt made', () => import('./transit/decrypt.ts')),
    rewrap: entry(
      'Encrypt again under the latest version without showing it',
      () => import('./transit/rewrap.ts'),
    ),
    reencrypt: entry(
      'Encrypt with another key what a ciphertext holds, without showing it',
      () => import('./transit/reencrypt.ts'),
    ),
    datakey: entry('Make a random key, encrypted with a named one', one(dataKey, 'declaration')),
    datakeys: entry('Make many random keys, encrypted with a named one', one(dataKey, 'many')),
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
    'derive-key': entry(
      "Make a key of a named one and somebody else's public key",
      () => import('./transit/derive-key.ts'),
    ),
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
    'create-by-role': entry('Issue a token as a token role has it', one(tokenCreate, 'createByRole')),
    roles: {
      list: entry('List the token roles', one(tokenRoles, 'list')),
      read: entry('Show a token role', one(tokenRoles, 'read')),
      write: entry('Make or change a token role', one(tokenRoles, 'write')),
      delete: entry('Delete a token role', one(tokenRoles, 'remove')),
    },
    tidy: served('Remove what is left of tokens that ended', one(tokenRoles, 'tidy')),
    'revoke-prefix': entry('End every token that was issued at a path', one(leases, 'revokePrefix')),
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
    update: entry('Rename an organization, or say whom to write to', one(organizations, 'update')),
    delete: entry('Delete an organization with its workspaces and tags', one(organizations, 'remove')),
    entitlements: served(
      'Tell what an organization has beside tags: nothing',
      one(entitlements, 'entitlementSet'),
    ),
  },
  workspaces: {
    create: entry('Make a workspace, with tags on it', one(workspaces, 'create')),
    list: entry('List or find workspaces', one(workspaces, 'list')),
    show: entry('Show a workspace', one(workspaces, 'show')),
    update: entry('Rename or describe a workspace', one(workspaces, 'update')),
    tag: entry('Put tags on a workspace, making those that are missing', one(relationships, 'tag')),
    retag: served('Put tags in the place of all of a workspace', one(relationships, 'retag')),
    untag: entry('Take tags off a workspace', one(relationships, 'untag')),
    bindings: entry('List the KEY=VALUE tags that a workspace has of its own', one(bindings, 'ofWorkspace')),
    effective: entry(
      'List the KEY=VALUE tags that hold for a workspace',
      one(bindings, 'effectiveOfWorkspace'),
    ),
    bind: entry('Give a workspace KEY=VALUE tags, or other values', one(bindings, 'bindWorkspace')),
    rebind: entry('Put KEY=VALUE tags in the place of all of a workspace', one(bindings, 'rebindWorkspace')),
    unbind: entry('Take KEY=VALUE tags off a workspace', one(bindings, 'unbindWorkspace')),
    delete: entry('Delete a workspace', one(workspaces, 'remove')),
    'state-consumers': {
      list: served('List the workspaces that may read the state of one', one(remoteStateConsumers, 'list')),
      add: served('Let workspaces read the state of one', one(remoteStateConsumers, 'add')),
      replace: served('Say which workspaces may read the state of one', one(remoteStateConsumers, 'replace')),
      remove: served('Let workspaces read the state of one no more', one(remoteStateConsumers, 'remove')),
    },
  },
  projects: {
    create: entry('Make a project', one(projects, 'create')),
    list: entry('List or find projects', one(projects, 'list')),
    show: entry('Show a project', one(projects, 'show')),
    update: entry('Rename or describe a project', one(projects, 'update')),
    move: entry('Move workspaces into a project', one(projects, 'move')),
    bindings: entry('List the KEY=VALUE tags of a project', one(bindings, 'ofProject')),
    effective: served('List the KEY=VALUE tags that hold for a project', one(bindings, 'effectiveOfProject')),
    bind: entry('Give a project KEY=VALUE tags, or other values', one(bindings, 'bindProject')),
    rebind: entry('Put KEY=VALUE tags in the place of all of a project', one(bindings, 'rebindProject')),
    unbind: entry('Take KEY=VALUE tags off a project', one(bindings, 'unbindProject')),
    delete: entry('Delete a project that holds no workspaces', one(projects, 'remove')),
  },
  tags: {
    create: entry('Add tags to the pool', one(tags, 'create')),
    list: entry('List the tags of an organization', one(tags, 'list')),
    show: entry('Show a tag', one(tags, 'show')),
    rename: entry(
      'Rename a tag on every workspace and key, or merge it into another one',
      one(tags, 'rename'),
    ),
    delete: entry('Delete tags from the pool and off every workspace and key', one(tags, 'remove')),
    attach: entry('Put a tag on workspaces', one(relationships, 'attach')),
    detach: entry('Take a tag off workspaces', one(relationships, 'detach')),
    of: entry('List the tags of a workspace', one(relationships, 'tagsOf')),
    where: entry('Find what KEY=VALUE tags are bound to', one(boundTags, 'where')),
    reserved: {
      create: entry('Reserve a key of KEY=VALUE tags', one(reservedKeys, 'create')),
      list: entry('List the reserved keys', one(reservedKeys, 'list')),
      show: entry('Show a reserved key', one(reservedKeys, 'show')),
      update: entry('Change a reserved key', one(reservedKeys, 'update')),
      delete: entry('Stop reserving a key', one(reservedKeys, 'remove')),
    },
    ping: served('Answer the first request of a client', one(tags, 'ping')),
    account: served('Tell a client who it is', one(account, 'details')),
    'not-kept': {
      state: served('Refuse to lock, or to keep a state', one(notKept, 'state')),
      configuration: served('Refuse to take a configuration', one(notKept, 'configuration')),
      run: served('Refuse to run', one(notKept, 'run')),
    },
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
  auth: {
    list: entry('List the login methods', one(auth, 'list')),
    enable: entry('Let callers log in by a method', one(auth, 'enable')),
    disable: entry('Remove a login method and end its tokens', one(auth, 'disable')),
    tune: entry('Change the settings of a login method', one(auth, 'tune')),
    read: served('Show one login method', one(auth, 'read')),
    tuning: served('Show the settings of a login method', one(auth, 'tuning')),
    'locked-users': served('List who is locked out after failed logins', one(lockedUsers, 'list')),
    'unlock-user': served('Let somebody log in again who is locked out', one(lockedUsers, 'unlock')),
    approle: {
      list: entry('List the roles of a mount', one(approleRoles, 'list')),
      read: entry('Show a role', one(approleRoles, 'read')),
      write: entry('Make or change a role', one(approleRoles, 'write')),
      delete: entry('Delete a role with its secret IDs', one(approleRoles, 'remove')),
      'role-id': entry('Show the role ID', one(approleRoles, 'readRoleId')),
      'set-role-id': served('Change the role ID', one(approleRoles, 'writeRoleId')),
      field: served('Show one member of a role', one(approleRoles, 'readField')),
      'set-field': served('Change one member of a role', one(approleRoles, 'writeField')),
      'reset-field': served('Give one member of a role its default', one(approleRoles, 'resetField')),
      'secret-id': entry('Make a secret ID', one(approleSecrets, 'create')),
      'custom-secret-id': entry('Make a secret ID of a given text', one(approleSecrets, 'createCustom')),
      'list-secret-ids': entry('List the accessors of secret IDs', one(approleSecrets, 'list')),
      'lookup-secret-id': entry('Show a secret ID', one(approleSecrets, 'lookup')),
      'lookup-accessor': entry('Show a secret ID by its accessor', one(approleSecrets, 'lookupAccessor')),
      'destroy-secret-id': entry('End a secret ID', one(approleSecrets, 'destroy')),
      'destroy-accessor': entry('End a secret ID by its accessor', one(approleSecrets, 'destroyAccessor')),
      tidy: entry('Clear away secret IDs that have ended', one(approleSecrets, 'tidy')),
      login: served('Log in with a role ID and a secret ID', one(approleSecrets, 'login')),
    },
    cert: {
      list: entry('List the roles for certificates of a mount', one(cert, 'list')),
      read: entry('Show a role for certificates', one(cert, 'read')),
      write: entry('Make or change a role for certificates', one(cert, 'write')),
      delete: entry('Delete a role for certificates', one(cert, 'remove')),
      'list-revocations': entry('List the lists of revoked certificates', one(cert, 'listRevocations')),
      revocations: entry('Show a list of revoked certificates', one(cert, 'readRevocations')),
      'set-revocations': entry(
        'Keep or follow a list of revoked certificates',
        one(cert, 'writeRevocations'),
      ),
      'delete-revocations': entry('Forget a list of revoked certificates', one(cert, 'removeRevocations')),
      config: served('Show the settings of a mount for certificates', one(cert, 'readConfig')),
      'set-config': served('Change the settings of a mount for certificates', one(cert, 'writeConfig')),
      login: served('Log in with the certificate of the connection', one(cert, 'login')),
    },
    jwt: {
      config: entry('Show how a mount verifies tokens', one(jwt, 'config')),
      configure: entry('Say how a mount verifies tokens', one(jwt, 'configure')),
      list: entry('List the roles of a mount', one(jwt, 'list')),
      read: entry('Show a role', one(jwt, 'read')),
      write: entry('Make or change a role', one(jwt, 'write')),
      delete: entry('Delete a role', one(jwt, 'remove')),
      login: served('Log in with a signed token', one(jwt, 'login')),
    },
    userpass: {
      list: entry('List the users of a mount', one(userpass, 'list')),
      read: entry('Show what tokens a user gets', one(userpass, 'read')),
      write: entry('Make or change a user', one(userpass, 'write')),
      delete: entry('Delete a user', one(userpass, 'remove')),
      password: entry('Change the password of a user', one(userpass, 'changePassword')),
      policies: served('Change the policies of a user', one(userpass, 'changePolicies')),
      login: served('Log in with a name and a password', one(userpass, 'login')),
    },
  },
  doors: {
    list: served('List the keys that are offered through doors of the agent', one(doors, 'list')),
    offer: served('Offer a key through a door of the agent', one(doors, 'offer')),
    withdraw: served('Offer a key through a door no more', one(doors, 'withdraw')),
  },
  leases: {
    lookup: served('Show the lease of a token', one(leases, 'lookup')),
    list: served('List the leases of tokens by the path that issued them', one(leases, 'list')),
    renew: served('Tell that tokens are renewed elsewhere', one(leases, 'renew')),
    revoke: served('End the token of a lease', one(leases, 'revoke')),
    tidy: served('Remove what is left of tokens that ended', one(leases, 'tidy')),
    count: served('Count the service tokens', one(leases, 'countTokens')),
  },
  quotas: {
    list: served('List the limits for the rate of requests', one(quotas, 'list')),
    read: served('Show a limit for the rate of requests', one(quotas, 'read')),
    write: served('Make or change a limit for the rate of requests', one(quotas, 'write')),
    delete: served('Delete a limit for the rate of requests', one(quotas, 'remove')),
    'read-config': served('Show what holds for all rate limits', one(quotas, 'readConfig')),
    config: served('Change what holds for all rate limits', one(quotas, 'configure')),
  },
  audit: {
    list: served('List the audit logs of the server', one(audit, 'list')),
    enable: served('Refuse to make an audit log', one(audit, 'enable')),
    disable: served('Refuse to end an audit log', one(audit, 'disable')),
  },
  unwrap: entry('Take an answer that was wrapped for you', one(wrapping, 'unwrap')),
  wrapping: {
    wrap: served('Wrap any data for somebody else to fetch', one(wrapping, 'wrap')),
    lookup: served('Tell where a wrapping token comes from', one(wrapping, 'lookup')),
    rewrap: served('Exchange a wrapping token for a new one', one(wrapping, 'rewrap')),
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
    cors: served('Show which web pages may use the API', one(cors, 'read')),
    'set-cors': served('Say which web pages may use the API', one(cors, 'write')),
    'delete-cors': served('Let no web page use the API', one(cors, 'remove')),
    'audited-headers': served('List the headers in the audit log', one(auditedHeaders, 'list')),
    'audited-header': served('Show how a header is recorded', one(auditedHeaders, 'read')),
    'set-audited-header': served('Record a header in the audit log', one(auditedHeaders, 'write')),
    'delete-audited-header': served('Record a header no longer', one(auditedHeaders, 'remove')),
    'audit-hash': served('Tell how a value looks in the audit log', one(server, 'auditHash')),
    'api-document': served('Describe the API in the OpenAPI format', one(server, 'apiDocument')),
  },
} as const satisfies Branch;

export const isEntry = (node: Entry<Operation> | Branch): node is Entry<Operation> =>
  typeof node['load'] === 'function';

export type Catalogue = typeof catalogue;
