/** Catalogue of all operations by name; each is declared once in the folders beside this file. */

import { type CatalogueBranch, entry, from, served } from './catalogue-entry.ts';

const keys = from(() => import('./transit/keys.ts'));
const dataKey = from(() => import('./transit/data-key.ts'));
const revocation = from(() => import('./transit/revocation.ts'));
const exports = from(() => import('./transit/export.ts'));
const publicKeys = from(() => import('./transit/public-keys.ts'));
const tools = from(() => import('./transit/tools.ts'));
const keyTags = from(() => import('./transit/key-tags.ts'));
const importKey = from(() => import('./transit/import-key.ts'));
const mountSettings = from(() => import('./transit/mount-settings.ts'));
const tokenCreate = from(() => import('./access/token-create.ts'));
const tokenLookup = from(() => import('./access/token-lookup.ts'));
const tokenRenew = from(() => import('./access/token-renew.ts'));
const tokenRevoke = from(() => import('./access/token-revoke.ts'));
const tokenRoles = from(() => import('./access/token-roles.ts'));
const policies = from(() => import('./sys/policies.ts'));
const organizations = from(() => import('./tags/organizations.ts'));
const workspaces = from(() => import('./tags/workspaces.ts'));
const terraform = from(() => import('./tags/terraform.ts'));
const relationships = from(() => import('./tags/relationships.ts'));
const tags = from(() => import('./tags/tags.ts'));
const workspaceTags = from(async () => (await import('./tags/bindings.ts')).onWorkspace);
const projectTags = from(async () => (await import('./tags/bindings.ts')).onProject);
const boundTags = from(() => import('./tags/bound-tags.ts'));
const projects = from(() => import('./tags/projects.ts'));
const remoteStateConsumers = from(() => import('./tags/remote-state-consumers.ts'));
const reservedKeys = from(() => import('./tags/reserved-keys.ts'));
const mounts = from(() => import('./sys/mounts.ts'));
const auth = from(() => import('./sys/auth.ts'));
const lockedUsers = from(() => import('./sys/locked-users.ts'));
const approleRoles = from(() => import('./auth/approle-roles.ts'));
const approleSecrets = from(() => import('./auth/approle-secrets.ts'));
const cert = from(() => import('./auth/cert.ts'));
const jwt = from(() => import('./auth/jwt.ts'));
const userpass = from(() => import('./auth/userpass.ts'));
const seal = from(() => import('./sys/seal.ts'));
const server = from(() => import('./sys/server.ts'));
const auditedHeaders = from(() => import('./sys/audited-headers.ts'));
const cors = from(() => import('./sys/cors.ts'));
const capabilities = from(() => import('./sys/capabilities.ts'));
const capabilityHolders = from(() => import('./sys/capability-holders.ts'));
const doors = from(() => import('./sys/doors.ts'));
const leases = from(() => import('./sys/leases.ts'));
const quotas = from(() => import('./sys/quotas.ts'));
const audit = from(() => import('./sys/audit.ts'));
const wrapping = from(() => import('./sys/wrapping.ts'));

/**
 * Every operation, at its place in the command tree: `catalogue.transit.keys.trim` is `coffer transit keys trim` and,
 * in the library, `transit.keys.trim(…)`.
 * @see docs/decisions/0071
 */
export const catalogue = {
  transit: {
    keys: {
      create: entry('Create a named key', keys('create')),
      read: entry('Show a key with its versions and public keys', keys('read')),
      jwks: entry('Print the public keys of a key as a JSON Web Key Set (JWKS)', publicKeys('jwks')),
      list: entry('List the names of the keys', keys('list')),
      config: entry('Update the settings of a key', keys('configure')),
      rotate: entry('Rotate a key: add a version and make it the latest', keys('rotate')),
      trim: entry('Permanently delete the oldest versions of a key', keys('trim')),
      tags: entry('List the tags of a key', keyTags('tags')),
      tag: entry('Add tags to a key; tags that do not exist are created', keyTags('tag')),
      untag: entry('Remove tags from a key', keyTags('untag')),
      revoke: entry('Stop every use of a key version until it is reinstated', revocation('revoke')),
      reinstate: entry('Allow a revoked version of a key to be used again', revocation('reinstate')),
      destroy: entry('Permanently destroy one version of a key', revocation('destroy')),
      delete: entry('Permanently delete a key and all its versions', keys('remove')),
      export: entry('Print the key material of an exportable key', exports('exportKey')),
      csr: entry('Create a certificate signing request (CSR) for a key', publicKeys('csr')),
      'set-certificate': entry('Store a certificate chain with a signing key', publicKeys('setCertificate')),
      'soft-delete': entry(
        'Stop every use of a key until it is restored (soft-delete)',
        revocation('softDelete'),
      ),
      'soft-delete-restore': entry(
        'Restore a soft-deleted key, so that it can be used again',
        revocation('restoreDeleted'),
      ),
    },
    encrypt: entry('Encrypt a value with a named key', () => import('./transit/encrypt.ts')),
    decrypt: entry('Decrypt a ciphertext', () => import('./transit/decrypt.ts')),
    rewrap: entry('Re-encrypt a ciphertext with the latest key version', () => import('./transit/rewrap.ts')),
    reencrypt: entry('Re-encrypt a ciphertext with another key', () => import('./transit/reencrypt.ts')),
    datakey: entry('Generate a data key and encrypt it with a named key', dataKey('declaration')),
    datakeys: entry('Generate data keys and encrypt them with a named key', dataKey('many')),
    random: entry('Print random bytes', tools('random')),
    hash: entry('Hash a value', tools('hashData')),
    hmac: entry('Compute an HMAC with a named key', () => import('./transit/hmac.ts')),
    sign: entry('Sign a value', () => import('./transit/sign.ts')),
    verify: entry('Verify a signature or an HMAC', () => import('./transit/verify.ts')),
    backup: entry('Back up a key with all its versions, in plaintext', exports('backup')),
    restore: entry('Restore a key from a backup', exports('restore')),
    import: entry('Import an existing key', importKey('create')),
    'import-version': entry('Import a new version of an imported key', importKey('addVersion')),
    'wrapping-key': entry(
      'Print the public key with which to encrypt keys for import',
      exports('wrappingKey'),
    ),
    'byok-export': entry('Export a key, encrypted for another server (BYOK)', exports('byokExport')),
    'derive-key': entry("Create a key from your key and a peer's public key (ECDH)", importKey('derive')),
    'key-defaults': entry(
      'Show or set whether encrypting creates missing keys',
      mountSettings('configureKeyDefaults'),
    ),
    'read-key-defaults': served(
      'Show whether encrypt creates missing keys',
      mountSettings('readKeyDefaults'),
    ),
    'cache-config': entry('Show or set how many keys the server caches', mountSettings('configureCache')),
    'read-cache-config': served('Show the size of the key cache', mountSettings('readCache')),
  },
  token: {
    create: entry('Create a token', tokenCreate('create')),
    list: entry('List tokens by accessor (an ID that is not secret)', tokenLookup('list')),
    lookup: entry("Show a token's policies, name and expiry", tokenLookup('lookup')),
    renew: entry('Renew a token', tokenRenew('renew')),
    revoke: entry('Revoke a token and its child tokens', tokenRevoke('revoke')),
    'create-by-role': entry('Create a token from a token role', tokenCreate('createByRole')),
    roles: {
      list: entry('List token roles', tokenRoles('list')),
      read: entry('Show a token role', tokenRoles('read')),
      write: entry('Create or update a token role', tokenRoles('write')),
      delete: entry('Delete a token role', tokenRoles('remove')),
    },
    tidy: served('Clean up expired tokens', tokenRoles('tidy')),
    'revoke-prefix': entry('Revoke all tokens of a login method or path', leases('revokePrefix')),
    'create-orphan': served('Create an orphan token', tokenCreate('createOrphan')),
    'lookup-accessor': served('Show a token by its accessor', tokenLookup('lookupAccessor')),
    'lookup-self': served('Show the current token', tokenLookup('lookupSelf')),
    'renew-accessor': served('Renew a token by its accessor', tokenRenew('renewAccessor')),
    'renew-self': served('Renew the current token', tokenRenew('renewSelf')),
    'revoke-accessor': served('Revoke a token by its accessor', tokenRevoke('revokeAccessor')),
    'revoke-orphan': served('Revoke a token but not its child tokens', tokenRevoke('revokeOrphan')),
    'revoke-self': served('Revoke the current token', tokenRevoke('revokeSelf')),
  },
  policy: {
    list: entry('List policies', policies('list')),
    read: entry('Print a policy', policies('read')),
    write: entry('Create or replace a policy', policies('write')),
    delete: entry('Delete a policy', policies('remove')),
    'list-legacy': served('List policies (deprecated path)', policies('listLegacy')),
    'read-legacy': served('Show a policy (deprecated path)', policies('readLegacy')),
    'write-legacy': served('Write a policy (deprecated path)', policies('writeLegacy')),
  },
  orgs: {
    create: entry('Create an organization', organizations('create')),
    list: entry('List organizations', organizations('list')),
    show: entry('Show an organization', organizations('show')),
    update: entry('Rename an organization or set its contact address', organizations('update')),
    delete: entry('Delete an organization, its projects, workspaces and tags', organizations('remove')),
    entitlements: served('Show the entitlements of an organization (none)', terraform('entitlementSet')),
  },
  workspaces: {
    create: entry('Create a workspace', workspaces('create')),
    list: entry('List or search workspaces', workspaces('list')),
    show: entry('Show a workspace', workspaces('show')),
    update: entry('Rename or describe a workspace', workspaces('update')),
    tag: entry('Add tags to a workspace; they are created if needed', relationships('tag')),
    retag: served('Replace all tags of a workspace', relationships('retag')),
    untag: entry('Remove tags from a workspace', relationships('untag')),
    bindings: entry('List the KEY=VALUE tags set on a workspace', workspaceTags('list')),
    effective: entry(
      "List a workspace's KEY=VALUE tags and those of its project",
      workspaceTags('effective'),
    ),
    bind: entry('Set KEY=VALUE tags on a workspace', workspaceTags('bind')),
    rebind: entry('Replace all KEY=VALUE tags of a workspace', workspaceTags('rebind')),
    unbind: entry('Remove KEY=VALUE tags from a workspace', workspaceTags('unbind')),
    delete: entry('Delete a workspace', workspaces('remove')),
    'state-consumers': {
      list: served('List the remote state consumers of a workspace', remoteStateConsumers('list')),
      add: served('Add remote state consumers to a workspace', remoteStateConsumers('add')),
      replace: served('Replace the remote state consumers of a workspace', remoteStateConsumers('replace')),
      remove: served('Remove remote state consumers from a workspace', remoteStateConsumers('remove')),
    },
  },
  projects: {
    create: entry('Create a project', projects('create')),
    list: entry('List or search projects', projects('list')),
    show: entry('Show a project', projects('show')),
    update: entry('Rename or describe a project', projects('update')),
    move: entry('Move workspaces to a project', projects('move')),
    bindings: entry('List the KEY=VALUE tags of a project', projectTags('list')),
    effective: served("List a project's KEY=VALUE tags, with inherited ones", projectTags('effective')),
    bind: entry('Set KEY=VALUE tags on a project', projectTags('bind')),
    rebind: entry('Replace all KEY=VALUE tags of a project', projectTags('rebind')),
    unbind: entry('Remove KEY=VALUE tags from a project', projectTags('unbind')),
    delete: entry('Delete a project that has no workspaces', projects('remove')),
  },
  tags: {
    create: entry('Create tags', tags('create')),
    list: entry('List the tags of an organization', tags('list')),
    show: entry('Show a tag', tags('show')),
    rename: entry('Rename a tag, or merge it into another', tags('rename')),
    delete: entry('Delete tags and remove them from all workspaces and keys', tags('remove')),
    attach: entry('Add a tag to workspaces', relationships('attach')),
    detach: entry('Remove a tag from workspaces', relationships('detach')),
    of: entry('List the tags of a workspace', relationships('tagsOf')),
    where: entry('Find the projects and workspaces that have KEY=VALUE tags', boundTags('where')),
    reserved: {
      create: entry('Reserve a tag key (KEY of KEY=VALUE) for projects to set', reservedKeys('create')),
      list: entry('List the reserved tag keys', reservedKeys('list')),
      show: entry('Show a reserved tag key', reservedKeys('show')),
      update: entry('Rename a reserved tag key, or let workspaces override it', reservedKeys('update')),
      delete: entry('Stop reserving a tag key; existing tags stay', reservedKeys('remove')),
    },
    ping: served('Answer a ping (first request of Terraform clients)', tags('ping')),
    account: served('Show the current account', terraform('details')),
    'not-kept': {
      state: served('Not supported: locks and states', terraform('state')),
      configuration: served('Not supported: configuration versions', terraform('configuration')),
      run: served('Not supported: runs', terraform('run')),
    },
  },
  mounts: {
    list: entry('List the mounts', mounts('list')),
    add: entry('Add a mount: another set of keys, at a path of its own', mounts('add')),
    remove: entry('Remove a mount and all its keys', mounts('remove')),
    move: entry('Move a mount and its keys to another path', mounts('move')),
    read: served('Show one mount', mounts('read')),
    tune: served('Update the settings of a mount', mounts('tune')),
    tuning: served('Show the settings of a mount', mounts('tuning')),
    migration: served('Show the status of a mount migration', mounts('migration')),
    visible: served('List the mounts accessible to the caller', mounts('visible')),
    find: served('Show the mount that a path belongs to', mounts('find')),
  },
  auth: {
    list: entry('List the login methods', auth('list')),
    enable: entry('Enable a login method, e.g. userpass', auth('enable')),
    disable: entry('Disable a login method and revoke its tokens', auth('disable')),
    tune: entry('Update the settings of a login method', auth('tune')),
    read: served('Show one login method', auth('read')),
    tuning: served('Show the settings of a login method', auth('tuning')),
    'locked-users': served('List locked-out users', lockedUsers('list')),
    'unlock-user': served('Unlock a locked-out user', lockedUsers('unlock')),
    approle: {
      list: entry('List roles', approleRoles('list')),
      read: entry('Show a role', approleRoles('read')),
      write: entry('Create or update a role for programs', approleRoles('write')),
      delete: entry('Delete a role and its secret IDs', approleRoles('remove')),
      'role-id': entry('Show the role ID of a role', approleRoles('readRoleId')),
      'set-role-id': served('Change the role ID', approleRoles('writeRoleId')),
      field: served('Show a field of a role', approleRoles('readField')),
      'set-field': served('Update a field of a role', approleRoles('writeField')),
      'reset-field': served('Reset a field of a role', approleRoles('resetField')),
      'secret-id': entry('Create a secret ID for logins of a program', approleSecrets('create')),
      'custom-secret-id': entry(
        'Create a secret ID with a value of your choice',
        approleSecrets('createCustom'),
      ),
      'list-secret-ids': entry('List the secret IDs of a role, by accessor', approleSecrets('list')),
      'lookup-secret-id': entry('Show expiry and limits of a secret ID', approleSecrets('lookup')),
      'lookup-accessor': entry(
        'Show expiry and limits of a secret ID by its accessor',
        approleSecrets('lookupAccessor'),
      ),
      'destroy-secret-id': entry(
        'Destroy a secret ID, so that it cannot be used to log in',
        approleSecrets('destroy'),
      ),
      'destroy-accessor': entry('Destroy a secret ID by its accessor', approleSecrets('destroyAccessor')),
      tidy: entry('Delete expired secret IDs', approleSecrets('tidy')),
      login: served('Log in with a role ID and a secret ID', approleSecrets('login')),
    },
    cert: {
      list: entry('List certificate roles', cert('list')),
      read: entry('Show a certificate role', cert('read')),
      write: entry('Create or update a certificate role', cert('write')),
      delete: entry('Delete a certificate role', cert('remove')),
      'list-revocations': entry('List certificate revocation lists (CRLs)', cert('listRevocations')),
      revocations: entry('Show a certificate revocation list (CRL)', cert('readRevocations')),
      'set-revocations': entry('Upload a CRL, or set the URL to fetch it from', cert('writeRevocations')),
      'delete-revocations': entry('Delete a certificate revocation list (CRL)', cert('removeRevocations')),
      config: served('Show the settings of a certificate mount', cert('readConfig')),
      'set-config': served('Update the settings of a certificate mount', cert('writeConfig')),
      login: served('Log in with the TLS client certificate', cert('login')),
    },
    jwt: {
      config: entry('Show how JWTs are verified at login', jwt('config')),
      configure: entry('Set how JWTs are verified at login', jwt('configure')),
      list: entry('List roles', jwt('list')),
      read: entry('Show a role', jwt('read')),
      write: entry('Create or update a role', jwt('write')),
      delete: entry('Delete a role', jwt('remove')),
      login: served('Log in with a JWT', jwt('login')),
    },
    userpass: {
      list: entry('List users', userpass('list')),
      read: entry('Show a user', userpass('read')),
      write: entry('Create or update a user', userpass('write')),
      delete: entry('Delete a user', userpass('remove')),
      password: entry('Change the password of a user', userpass('changePassword')),
      policies: served('Change the policies of a user', userpass('changePolicies')),
      login: served('Log in with user name and password', userpass('login')),
    },
  },
  doors: {
    list: served('List offered keys', doors('list')),
    offer: served('Offer a key through the agent', doors('offer')),
    withdraw: served('Withdraw an offered key', doors('withdraw')),
  },
  leases: {
    lookup: served('Show the lease of a token', leases('lookup')),
    list: served('List token leases by path', leases('list')),
    renew: served('Not supported: use the token endpoints to renew', leases('renew')),
    revoke: served('Revoke the token of a lease', leases('revoke')),
    tidy: served('Clean up expired tokens', leases('tidy')),
    count: served('Count the service tokens', leases('countTokens')),
  },
  quotas: {
    list: served('List rate limits', quotas('list')),
    read: served('Show a rate limit', quotas('read')),
    write: served('Create or update a rate limit', quotas('write')),
    delete: served('Delete a rate limit', quotas('remove')),
    'read-config': served('Show the rate limit configuration', quotas('readConfig')),
    config: served('Update the rate limit configuration', quotas('configure')),
  },
  audit: {
    list: served('List the audit logs of the server', audit('list')),
    enable: served('Not supported: audit devices are set at server start', audit('enable')),
    disable: served('Not supported: audit devices are removed at server start', audit('disable')),
  },
  unwrap: entry('Print the response that a wrapping token holds', wrapping('unwrap')),
  wrapping: {
    wrap: served('Wrap data in a single-use token', wrapping('wrap')),
    lookup: served('Look up a wrapping token', wrapping('lookup')),
    rewrap: served('Move a wrapped response to a new wrapping token', wrapping('rewrap')),
  },
  sys: {
    health: served('Show server health', seal('health')),
    'seal-status': served('Show the seal status', seal('sealStatus')),
    seal: served('Seal the server', seal('seal')),
    unseal: served('Unlock the store', seal('unseal')),
    leader: served('Show the leader (no high availability mode)', seal('leader')),
    init: served('Show whether the store is initialized', seal('init')),
    reload: served('Empty caches and apply the cache size', server('reload')),
    metrics: served('Show metrics in Prometheus format', server('metrics')),
    capabilities: served('List the capabilities of a token on paths', capabilities('ofToken')),
    'capabilities-accessor': served(
      'List the capabilities of a token by its accessor',
      capabilities('ofAccessor'),
    ),
    'capabilities-holders': served(
      'List policies, logins and tokens with a capability',
      capabilityHolders('list'),
    ),
    'capabilities-self': served('List the capabilities of the current token', capabilities('ofSelf')),
    cors: served('Show the CORS settings', cors('read')),
    'set-cors': served('Update the CORS settings', cors('write')),
    'delete-cors': served('Disable CORS', cors('remove')),
    'audited-headers': served('List the headers in the audit log', auditedHeaders('list')),
    'audited-header': served('Show how the audit log records a header', auditedHeaders('read')),
    'set-audited-header': served('Record a header in the audit log', auditedHeaders('write')),
    'delete-audited-header': served('Stop recording a header in the audit log', auditedHeaders('remove')),
    'audit-hash': served('Compute the audit hash of a value', server('auditHash')),
    'api-document': served('Print the OpenAPI document', server('apiDocument')),
  },
} as const satisfies CatalogueBranch;

export type Catalogue = typeof catalogue;
