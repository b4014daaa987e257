/** Catalogue of all operations by name; each is declared once in the folders beside this file. */

import { type CatalogueBranch, entry, one, served } from './catalogue-entry.ts';

const keys = () => import('./transit/keys.ts');
const keyRevocation = () => import('./transit/key-revocation.ts');
const dataKey = () => import('./transit/data-key.ts');
const softDelete = () => import('./transit/soft-delete.ts');
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
const terraform = () => import('./tags/terraform.ts');
const relationships = () => import('./tags/relationships.ts');
const tags = () => import('./tags/tags.ts');
const bindings = () => import('./tags/bindings.ts');
const boundTags = () => import('./tags/bound-tags.ts');
const projects = () => import('./tags/projects.ts');
const remoteStateConsumers = () => import('./tags/remote-state-consumers.ts');
const reservedKeys = () => import('./tags/reserved-keys.ts');
const mounts = () => import('./sys/mounts.ts');
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
const capabilityHolders = () => import('./sys/capability-holders.ts');
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
      create: entry('Create a named key', one(keys, 'create')),
      read: entry('Show a key with its versions and public keys', one(keys, 'read')),
      jwks: entry('Print the public keys of a key as a JSON Web Key Set (JWKS)', one(jwks, 'jwks')),
      list: entry('List the names of the keys', one(keys, 'list')),
      config: entry('Update the settings of a key', one(keys, 'configure')),
      rotate: entry('Rotate a key: add a version and make it the latest', one(keys, 'rotate')),
      trim: entry('Permanently delete the oldest versions of a key', one(keys, 'trim')),
      tags: entry('List the tags of a key', one(keyTags, 'tags')),
      tag: entry('Add tags to a key; tags that do not exist are created', one(keyTags, 'tag')),
      untag: entry('Remove tags from a key', one(keyTags, 'untag')),
      revoke: entry('Stop every use of a version of a key, until reinstated', one(keyRevocation, 'revoke')),
      reinstate: entry('Allow a revoked version of a key to be used again', one(keyRevocation, 'reinstate')),
      destroy: entry('Permanently destroy one version of a key', one(keyRevocation, 'destroy')),
      delete: entry('Permanently delete a key and all its versions', one(keys, 'remove')),
      export: entry('Print the key material of an exportable key', () => import('./transit/export-key.ts')),
      csr: entry('Create a certificate signing request (CSR) for a key', one(certificates, 'csr')),
      'set-certificate': entry(
        'Store a certificate chain beside a signing key',
        one(certificates, 'setCertificate'),
      ),
      'soft-delete': entry(
        'Stop every use of a key, until restored (soft-delete)',
        one(softDelete, 'softDelete'),
      ),
      'soft-delete-restore': entry(
        'Restore a soft-deleted key, so that it can be used',
        one(softDelete, 'restore'),
      ),
    },
    encrypt: entry('Encrypt a value with a named key', () => import('./transit/encrypt.ts')),
    decrypt: entry('Decrypt a ciphertext', () => import('./transit/decrypt.ts')),
    rewrap: entry('Re-encrypt a ciphertext with the latest key version', () => import('./transit/rewrap.ts')),
    reencrypt: entry('Re-encrypt a ciphertext with another key', () => import('./transit/reencrypt.ts')),
    datakey: entry('Generate a data key and encrypt it with a named key', one(dataKey, 'declaration')),
    datakeys: entry('Generate data keys and encrypt them with a named key', one(dataKey, 'many')),
    random: entry('Print random bytes', () => import('./transit/random-bytes.ts')),
    hash: entry('Hash a value', () => import('./transit/hash-data.ts')),
    hmac: entry('Compute an HMAC with a named key', () => import('./transit/hmac.ts')),
    sign: entry('Sign a value', () => import('./transit/sign.ts')),
    verify: entry('Verify a signature or an HMAC', () => import('./transit/verify.ts')),
    backup: entry('Back up a key with all its versions, in plaintext', one(backupKey, 'backup')),
    restore: entry('Restore a key from a backup', one(backupKey, 'restore')),
    import: entry('Import an existing key', one(importKey, 'create')),
    'import-version': entry('Import a new version of an imported key', one(importKey, 'addVersion')),
    'wrapping-key': entry(
      'Print the public key with which to encrypt keys for import',
      one(byokExport, 'wrappingKey'),
    ),
    'byok-export': entry('Export a key, encrypted for another server (BYOK)', one(byokExport, 'byokExport')),
    'derive-key': entry(
      "Create a key from your key and a peer's public key (ECDH)",
      () => import('./transit/derive-key.ts'),
    ),
    'key-defaults': entry(
      'Show or set whether encrypting creates missing keys',
      one(mountSettings, 'configureKeyDefaults'),
    ),
    'read-key-defaults': served(
      'Show whether encrypt creates missing keys',
      one(mountSettings, 'readKeyDefaults'),
    ),
    'cache-config': entry(
      'Show or set how many keys the server caches',
      one(mountSettings, 'configureCache'),
    ),
    'read-cache-config': served('Show the size of the key cache', one(mountSettings, 'readCache')),
  },
  token: {
    create: entry('Create a token', one(tokenCreate, 'create')),
    list: entry('List tokens by accessor (an ID that is not secret)', one(tokenLookup, 'list')),
    lookup: entry("Show a token's policies, name and expiry", one(tokenLookup, 'lookup')),
    renew: entry('Renew a token', one(tokenRenew, 'renew')),
    revoke: entry('Revoke a token and its child tokens', one(tokenRevoke, 'revoke')),
    'create-by-role': entry('Create a token from a token role', one(tokenCreate, 'createByRole')),
    roles: {
      list: entry('List token roles', one(tokenRoles, 'list')),
      read: entry('Show a token role', one(tokenRoles, 'read')),
      write: entry('Create or update a token role', one(tokenRoles, 'write')),
      delete: entry('Delete a token role', one(tokenRoles, 'remove')),
    },
    tidy: served('Clean up expired tokens', one(tokenRoles, 'tidy')),
    'revoke-prefix': entry('Revoke all tokens of a login method or path', one(leases, 'revokePrefix')),
    'create-orphan': served('Create an orphan token', one(tokenCreate, 'createOrphan')),
    'lookup-accessor': served('Show a token by its accessor', one(tokenLookup, 'lookupAccessor')),
    'lookup-self': served('Show the current token', one(tokenLookup, 'lookupSelf')),
    'renew-accessor': served('Renew a token by its accessor', one(tokenRenew, 'renewAccessor')),
    'renew-self': served('Renew the current token', one(tokenRenew, 'renewSelf')),
    'revoke-accessor': served('Revoke a token by its accessor', one(tokenRevoke, 'revokeAccessor')),
    'revoke-orphan': served('Revoke a token but not its child tokens', one(tokenRevoke, 'revokeOrphan')),
    'revoke-self': served('Revoke the current token', one(tokenRevoke, 'revokeSelf')),
  },
  policy: {
    list: entry('List policies', one(policies, 'list')),
    read: entry('Print a policy', one(policies, 'read')),
    write: entry('Create or replace a policy', one(policies, 'write')),
    delete: entry('Delete a policy', one(policies, 'remove')),
    'list-legacy': served('List policies (deprecated path)', one(policies, 'listLegacy')),
    'read-legacy': served('Show a policy (deprecated path)', one(policies, 'readLegacy')),
    'write-legacy': served('Write a policy (deprecated path)', one(policies, 'writeLegacy')),
  },
  orgs: {
    create: entry('Create an organization', one(organizations, 'create')),
    list: entry('List organizations', one(organizations, 'list')),
    show: entry('Show an organization', one(organizations, 'show')),
    update: entry('Rename an organization or set its contact address', one(organizations, 'update')),
    delete: entry('Delete an organization, its workspaces and its tags', one(organizations, 'remove')),
    entitlements: served('Show the entitlements of an organization (none)', one(terraform, 'entitlementSet')),
  },
  workspaces: {
    create: entry('Create a workspace', one(workspaces, 'create')),
    list: entry('List or search workspaces', one(workspaces, 'list')),
    show: entry('Show a workspace', one(workspaces, 'show')),
    update: entry('Rename or describe a workspace', one(workspaces, 'update')),
    tag: entry('Add tags to a workspace; they are created if needed', one(relationships, 'tag')),
    retag: served('Replace all tags of a workspace', one(relationships, 'retag')),
    untag: entry('Remove tags from a workspace', one(relationships, 'untag')),
    bindings: entry('List the KEY=VALUE tags set on a workspace', one(bindings, 'ofWorkspace')),
    effective: entry(
      "List a workspace's KEY=VALUE tags and those of its project",
      one(bindings, 'effectiveOfWorkspace'),
    ),
    bind: entry('Set KEY=VALUE tags on a workspace', one(bindings, 'bindWorkspace')),
    rebind: entry('Replace all KEY=VALUE tags of a workspace', one(bindings, 'rebindWorkspace')),
    unbind: entry('Remove KEY=VALUE tags from a workspace', one(bindings, 'unbindWorkspace')),
    delete: entry('Delete a workspace', one(workspaces, 'remove')),
    'state-consumers': {
      list: served("List workspaces that may read a workspace's state", one(remoteStateConsumers, 'list')),
      add: served("Let workspaces read a workspace's state", one(remoteStateConsumers, 'add')),
      replace: served(
        "Set which workspaces may read a workspace's state",
        one(remoteStateConsumers, 'replace'),
      ),
      remove: served("Stop workspaces from reading a workspace's state", one(remoteStateConsumers, 'remove')),
    },
  },
  projects: {
    create: entry('Create a project', one(projects, 'create')),
    list: entry('List or search projects', one(projects, 'list')),
    show: entry('Show a project', one(projects, 'show')),
    update: entry('Rename or describe a project', one(projects, 'update')),
    move: entry('Move workspaces to a project', one(projects, 'move')),
    bindings: entry('List the KEY=VALUE tags of a project', one(bindings, 'ofProject')),
    effective: served(
      "List a project's KEY=VALUE tags, with inherited ones",
      one(bindings, 'effectiveOfProject'),
    ),
    bind: entry('Set KEY=VALUE tags on a project', one(bindings, 'bindProject')),
    rebind: entry('Replace all KEY=VALUE tags of a project', one(bindings, 'rebindProject')),
    unbind: entry('Remove KEY=VALUE tags from a project', one(bindings, 'unbindProject')),
    delete: entry('Delete a project that has no workspaces', one(projects, 'remove')),
  },
  tags: {
    create: entry('Create tags', one(tags, 'create')),
    list: entry('List the tags of an organization', one(tags, 'list')),
    show: entry('Show a tag', one(tags, 'show')),
    rename: entry('Rename a tag, or merge it into another', one(tags, 'rename')),
    delete: entry('Delete tags and remove them from all workspaces and keys', one(tags, 'remove')),
    attach: entry('Add a tag to workspaces', one(relationships, 'attach')),
    detach: entry('Remove a tag from workspaces', one(relationships, 'detach')),
    of: entry('List the tags of a workspace', one(relationships, 'tagsOf')),
    where: entry('Find the projects and workspaces that have KEY=VALUE tags', one(boundTags, 'where')),
    reserved: {
      create: entry('Reserve a tag key (KEY of KEY=VALUE) for projects to set', one(reservedKeys, 'create')),
      list: entry('List the reserved tag keys', one(reservedKeys, 'list')),
      show: entry('Show a reserved tag key', one(reservedKeys, 'show')),
      update: entry(
        'Rename a reserved tag key, or set if workspaces override it',
        one(reservedKeys, 'update'),
      ),
      delete: entry('Stop reserving a tag key; existing tags stay', one(reservedKeys, 'remove')),
    },
    ping: served('Answer a ping (first request of Terraform clients)', one(tags, 'ping')),
    account: served('Show the current account', one(terraform, 'details')),
    'not-kept': {
      state: served('Not supported: locks and states', one(terraform, 'state')),
      configuration: served('Not supported: configuration versions', one(terraform, 'configuration')),
      run: served('Not supported: runs', one(terraform, 'run')),
    },
  },
  mounts: {
    list: entry('List the mounts', one(mounts, 'list')),
    add: entry('Add a mount: another set of keys, at a path of its own', one(mounts, 'add')),
    remove: entry('Remove a mount and all its keys', one(mounts, 'remove')),
    move: entry('Move a mount and its keys to another path', one(mounts, 'move')),
    read: served('Show one mount', one(mounts, 'read')),
    tune: served('Update the settings of a mount', one(mounts, 'tune')),
    tuning: served('Show the settings of a mount', one(mounts, 'tuning')),
    migration: served('Show the status of a mount migration', one(mounts, 'migration')),
    visible: served('List the mounts accessible to the caller', one(mounts, 'visible')),
    find: served('Show the mount that a path belongs to', one(mounts, 'find')),
  },
  auth: {
    list: entry('List the login methods', one(auth, 'list')),
    enable: entry('Enable a login method, e.g. userpass', one(auth, 'enable')),
    disable: entry('Disable a login method and revoke its tokens', one(auth, 'disable')),
    tune: entry('Update the settings of a login method', one(auth, 'tune')),
    read: served('Show one login method', one(auth, 'read')),
    tuning: served('Show the settings of a login method', one(auth, 'tuning')),
    'locked-users': served('List locked-out users', one(lockedUsers, 'list')),
    'unlock-user': served('Unlock a locked-out user', one(lockedUsers, 'unlock')),
    approle: {
      list: entry('List roles', one(approleRoles, 'list')),
      read: entry('Show a role', one(approleRoles, 'read')),
      write: entry('Create or update a role for programs', one(approleRoles, 'write')),
      delete: entry('Delete a role and its secret IDs', one(approleRoles, 'remove')),
      'role-id': entry('Show the role ID of a role', one(approleRoles, 'readRoleId')),
      'set-role-id': served('Change the role ID', one(approleRoles, 'writeRoleId')),
      field: served('Show a field of a role', one(approleRoles, 'readField')),
      'set-field': served('Update a field of a role', one(approleRoles, 'writeField')),
      'reset-field': served('Reset a field of a role', one(approleRoles, 'resetField')),
      'secret-id': entry('Create a secret ID for logins of a program', one(approleSecrets, 'create')),
      'custom-secret-id': entry(
        'Create a secret ID with a value of your choice',
        one(approleSecrets, 'createCustom'),
      ),
      'list-secret-ids': entry('List the secret IDs of a role, by accessor', one(approleSecrets, 'list')),
      'lookup-secret-id': entry('Show expiry and limits of a secret ID', one(approleSecrets, 'lookup')),
      'lookup-accessor': entry(
        'Show expiry and limits of a secret ID by its accessor',
        one(approleSecrets, 'lookupAccessor'),
      ),
      'destroy-secret-id': entry(
        'Destroy a secret ID: no login can use it again',
        one(approleSecrets, 'destroy'),
      ),
      'destroy-accessor': entry(
        'Destroy a secret ID by its accessor',
        one(approleSecrets, 'destroyAccessor'),
      ),
      tidy: entry('Delete expired secret IDs', one(approleSecrets, 'tidy')),
      login: served('Log in with a role ID and a secret ID', one(approleSecrets, 'login')),
    },
    cert: {
      list: entry('List certificate roles', one(cert, 'list')),
      read: entry('Show a certificate role', one(cert, 'read')),
      write: entry('Create or update a certificate role', one(cert, 'write')),
      delete: entry('Delete a certificate role', one(cert, 'remove')),
      'list-revocations': entry('List certificate revocation lists (CRLs)', one(cert, 'listRevocations')),
      revocations: entry('Show a certificate revocation list (CRL)', one(cert, 'readRevocations')),
      'set-revocations': entry(
        'Upload a CRL, or set the URL to fetch it from',
        one(cert, 'writeRevocations'),
      ),
      'delete-revocations': entry(
        'Delete a certificate revocation list (CRL)',
        one(cert, 'removeRevocations'),
      ),
      config: served('Show the settings of a certificate mount', one(cert, 'readConfig')),
      'set-config': served('Update the settings of a certificate mount', one(cert, 'writeConfig')),
      login: served('Log in with the TLS client certificate', one(cert, 'login')),
    },
    jwt: {
      config: entry('Show how JWTs of logins are verified', one(jwt, 'config')),
      configure: entry('Set how JWTs of logins are verified', one(jwt, 'configure')),
      list: entry('List roles', one(jwt, 'list')),
      read: entry('Show a role', one(jwt, 'read')),
      write: entry('Create or update a role', one(jwt, 'write')),
      delete: entry('Delete a role', one(jwt, 'remove')),
      login: served('Log in with a JWT', one(jwt, 'login')),
    },
    userpass: {
      list: entry('List users', one(userpass, 'list')),
      read: entry('Show a user', one(userpass, 'read')),
      write: entry('Create or update a user', one(userpass, 'write')),
      delete: entry('Delete a user', one(userpass, 'remove')),
      password: entry('Change the password of a user', one(userpass, 'changePassword')),
      policies: served('Change the policies of a user', one(userpass, 'changePolicies')),
      login: served('Log in with user name and password', one(userpass, 'login')),
    },
  },
  doors: {
    list: served('List offered keys', one(doors, 'list')),
    offer: served('Offer a key through the agent', one(doors, 'offer')),
    withdraw: served('Withdraw an offered key', one(doors, 'withdraw')),
  },
  leases: {
    lookup: served('Show the lease of a token', one(leases, 'lookup')),
    list: served('List token leases by path', one(leases, 'list')),
    renew: served('Not supported: use the token endpoints to renew', one(leases, 'renew')),
    revoke: served('Revoke the token of a lease', one(leases, 'revoke')),
    tidy: served('Clean up expired tokens', one(leases, 'tidy')),
    count: served('Count the service tokens', one(leases, 'countTokens')),
  },
  quotas: {
    list: served('List rate limits', one(quotas, 'list')),
    read: served('Show a rate limit', one(quotas, 'read')),
    write: served('Create or update a rate limit', one(quotas, 'write')),
    delete: served('Delete a rate limit', one(quotas, 'remove')),
    'read-config': served('Show the rate limit configuration', one(quotas, 'readConfig')),
    config: served('Update the rate limit configuration', one(quotas, 'configure')),
  },
  audit: {
    list: served('List the audit logs of the server', one(audit, 'list')),
    enable: served('Not supported: audit devices are set at server start', one(audit, 'enable')),
    disable: served('Not supported: audit devices are removed at server start', one(audit, 'disable')),
  },
  unwrap: entry('Print the response that a wrapping token holds', one(wrapping, 'unwrap')),
  wrapping: {
    wrap: served('Wrap data in a single-use token', one(wrapping, 'wrap')),
    lookup: served('Look up a wrapping token', one(wrapping, 'lookup')),
    rewrap: served('Rewrap a wrapped response', one(wrapping, 'rewrap')),
  },
  sys: {
    health: served('Show server health', one(seal, 'health')),
    'seal-status': served('Show the seal status', one(seal, 'sealStatus')),
    seal: served('Seal the server', one(seal, 'seal')),
    unseal: served('Unlock the store', one(seal, 'unseal')),
    leader: served('Show the leader (no high availability mode)', one(seal, 'leader')),
    init: served('Show whether the store is initialized', one(seal, 'init')),
    reload: served('Empty caches and apply the cache size', one(server, 'reload')),
    metrics: served('Show metrics in Prometheus format', one(server, 'metrics')),
    capabilities: served('List the capabilities of a token on paths', one(capabilities, 'ofToken')),
    'capabilities-accessor': served(
      'List the capabilities of a token by its accessor',
      one(capabilities, 'ofAccessor'),
    ),
    'capabilities-holders': served(
      'List policies, logins and tokens with a capability',
      one(capabilityHolders, 'list'),
    ),
    'capabilities-self': served('List the capabilities of the current token', one(capabilities, 'ofSelf')),
    cors: served('Show the CORS settings', one(cors, 'read')),
    'set-cors': served('Update the CORS settings', one(cors, 'write')),
    'delete-cors': served('Disable CORS', one(cors, 'remove')),
    'audited-headers': served('List the headers in the audit log', one(auditedHeaders, 'list')),
    'audited-header': served('Show how a header is recorded', one(auditedHeaders, 'read')),
    'set-audited-header': served('Record a header in the audit log', one(auditedHeaders, 'write')),
    'delete-audited-header': served(
      'Stop recording a header in the audit log',
      one(auditedHeaders, 'remove'),
    ),
    'audit-hash': served('Compute the audit hash of a value', one(server, 'auditHash')),
    'api-document': served('Print the OpenAPI document', one(server, 'apiDocument')),
  },
} as const satisfies CatalogueBranch;

export type Catalogue = typeof catalogue;
