/*
 * How Terraform's provider writes each member of its resources, and where it reads it. `test/vectors/terraform-provider-vault.json` has the
 * members.
 */

import { NAMESPACE, OWN, PATH, TOKENS, TRAIT, tune, tuning, type Written } from './provider-resource.ts';

type Body = Readonly<Record<string, unknown>>;

const POLICY = 'path "transit/*" { capabilities = ["list"] }';

/** Settings of OpenBao's API alone, by which access would end, or a change fail. */
const LIMITS_OF_POLICIES = {
  ttl: { refused: '1h', mustBe: true },
  'ttl of zero': { refused: 0, sent: 'ttl', mustBe: true },
  expiration: { refused: '2030-01-01T00:00:00Z', mustBe: true },
  cas: { refused: -1, mustBe: true },
  'cas of zero': { refused: 0, sent: 'cas', mustBe: true },
  cas_required: { refused: true },
} as const;

/** Mounts, tokens, keys, and what is below `sys`. */
export const resources: Readonly<Record<string, Written>> = {
  vault_mount: {
    write: (name) => ({ line: `POST sys/mounts/${name}`, body: { type: 'transit' } }),
    read: (name) => ({ line: `GET sys/mounts/${name}` }),
    members: {
      description: { given: 'a note' },
      external_entropy_access: TRAIT,
      local: TRAIT,
      namespace: NAMESPACE,
      options: { given: { word: 'kept' } },
      path: PATH,
      seal_wrap: TRAIT,
      type: { given: 'transit', mustBe: true },
      ...tuning('config.'),
    },
  },
  'vault_mount, changed': {
    before: (name) => [{ line: `POST sys/mounts/${name}`, body: { type: 'transit' } }],
    write: (name) => ({ line: `POST sys/mounts/${name}/tune`, body: {} }),
    read: (name) => ({ line: `GET sys/mounts/${name}/tune` }),
    members: { description: { given: 'a note' }, options: { given: { word: 'kept' } }, ...tuning('') },
  },
  vault_auth_backend: {
    write: (name) => ({ line: `POST sys/auth/${name}`, body: { type: 'userpass' } }),
    read: (name) => ({ line: `GET sys/auth/${name}` }),
    members: {
      description: { given: 'a note' },
      disable_remount: OWN,
      identity_token_key: { refused: 'own', sent: 'config.identity_token_key' },
      local: TRAIT,
      namespace: NAMESPACE,
      path: PATH,
      type: { given: 'userpass', mustBe: true },
      ...Object.fromEntries(
        Object.keys(tune).map((name) => [name, { elsewhere: 'it is sent where the method is tuned' }]),
      ),
    },
  },
  'vault_auth_backend, tuned': {
    before: (name) => [{ line: `POST sys/auth/${name}`, body: { type: 'userpass' } }],
    write: (name) => ({ line: `POST sys/mounts/auth/${name}/tune`, body: {} }),
    read: (name) => ({ line: `GET sys/mounts/auth/${name}/tune` }),
    members: {
      ...tune,
      // Of the API alone.
      lockout_threshold: {
        given: 7,
        sent: 'user_lockout_config.lockout_threshold',
        shown: 'user_lockout_threshold',
      },
      lockout_duration: {
        given: '7m',
        sent: 'user_lockout_config.lockout_duration',
        shown: 'user_lockout_duration',
        as: 420,
      },
      lockout_counter_reset_duration: {
        given: '8m',
        sent: 'user_lockout_config.lockout_counter_reset_duration',
        shown: 'user_lockout_counter_reset_duration',
        as: 480,
      },
      lockout_disable: {
        given: true,
        sent: 'user_lockout_config.lockout_disable',
        shown: 'user_lockout_disable',
      },
    },
  },
  vault_token: {
    before: (name) => [{ line: `POST auth/token/roles/${name}`, body: { allowed_policies: ['one', 'two'] } }],
    write: () => ({ line: 'POST auth/token/create', body: { policies: ['one'] } }),
    read: (_, answer) => ({
      line: 'POST auth/token/lookup-accessor',
      body: { accessor: (answer['auth'] as Body)['accessor'] },
    }),
    members: {
      display_name: { given: 'ci', as: 'token-ci' },
      explicit_max_ttl: { given: '2h', as: 7200 },
      metadata: { given: { team: 'web' }, sent: 'meta' },
      namespace: NAMESPACE,
      no_default_policy: { given: true, shown: 'policies', as: ['one'] },
      no_parent: { given: true, shown: 'orphan' },
      num_uses: { given: 5 },
      period: { given: '10m', as: 600 },
      policies: { given: ['one', 'two'], as: ['default', 'one', 'two'] },
      renew_increment: OWN,
      renew_min_lease: OWN,
      renewable: { given: true },
      role_name: PATH,
      ttl: { given: '90s', shown: 'creation_ttl', as: 90 },
      wrapping_ttl: { elsewhere: 'a header says it' },
    },
  },
  vault_token_auth_backend_role: {
    write: (name) => ({ line: `POST auth/token/roles/${name}`, body: {} }),
    read: (name) => ({ line: `GET auth/token/roles/${name}` }),
    members: {
      allowed_entity_aliases: { given: ['one', 'two'] },
      allowed_policies: { given: ['one', 'two'] },
      allowed_policies_glob: { given: ['one-*', 'two-*'] },
      disallowed_policies: { given: ['one', 'two'] },
      disallowed_policies_glob: { given: ['one-*', 'two-*'] },
      namespace: NAMESPACE,
      orphan: { given: true },
      path_suffix: { given: 'suffix' },
      renewable: { given: true },
      role_name: PATH,
      ...TOKENS,
      token_max_ttl: { refused: 3600 },
      token_policies: { refused: ['one', 'two'] },
      token_strictly_bind_ip: { refused: true },
      token_ttl: { refused: 60 },
      token_type: { given: 'default-batch', mustBe: true },
    },
  },
  vault_quota_rate_limit: {
    write: (name) => ({
      line: `POST sys/quotas/rate-limit/${name}`,
      body: { rate: 1e9, path: `sys/${name}` },
    }),
    read: (name) => ({ line: `GET sys/quotas/rate-limit/${name}` }),
    members: {
      block_interval: { given: 7 },
      group_by: { given: 'none' },
      inheritable: { given: true },
      interval: { given: 7 },
      name: PATH,
      namespace: NAMESPACE,
      path: { given: 'sys/health', mustBe: true },
      rate: { given: 1e8, mustBe: true },
      role: { given: 'one', beside: { path: 'auth/approle' } },
      secondary_rate: { refused: 5 },
    },
  },
  'vault_quota_rate_limit, by entities': {
    write: (name) => ({
      line: `POST sys/quotas/rate-limit/${name}`,
      body: { rate: 1e9, path: `sys/${name}` },
    }),
    read: (name) => ({ line: `GET sys/quotas/rate-limit/${name}` }),
    members: { group_by: { refused: 'entity_then_ip' } },
  },
  vault_quota_config: {
    write: () => ({ line: 'POST sys/quotas/config', body: {} }),
    read: () => ({ line: 'GET sys/quotas/config' }),
    members: {
      absolute_rate_limit_exempt_paths: { given: ['sys/health', 'sys/leader'] },
      enable_rate_limit_audit_logging: { given: true },
      enable_rate_limit_response_headers: { given: true },
      namespace: NAMESPACE,
      rate_limit_exempt_paths: { given: ['sys/health', 'sys/unseal'] },
    },
  },
  vault_policy: {
    write: (name) => ({ line: `PUT sys/policies/acl/${name}`, body: { policy: POLICY } }),
    read: (name) => ({ line: `GET sys/policies/acl/${name}` }),
    members: {
      name: PATH,
      namespace: NAMESPACE,
      policy: { given: `${POLICY} # Changed`, mustBe: true },
      ...LIMITS_OF_POLICIES,
    },
  },
  'vault_policy, by its older path': {
    write: (name) => ({ line: `POST sys/policy/${name}`, body: { rules: POLICY } }),
    read: (name) => ({ line: `GET sys/policy/${name}` }),
    members: {
      rules: { given: `${POLICY} # Changed`, mustBe: true },
      ...LIMITS_OF_POLICIES,
    },
  },
  vault_audit_request_header: {
    write: (name) => ({ line: `POST sys/config/auditing/request-headers/${name}`, body: {} }),
    read: (name) => ({ line: `GET sys/config/auditing/request-headers/${name}` }),
    members: { hmac: { given: true, shown: 'X-Own.hmac' }, name: PATH, namespace: NAMESPACE },
  },
  vault_sys_config_cors: {
    write: () => ({ line: 'POST sys/config/cors', body: { allowed_origins: ['https://one.example'] } }),
    read: () => ({ line: 'GET sys/config/cors' }),
    members: {
      allowed_headers: { elsewhere: 'it is shown among those that are always allowed' },
      allowed_origins: { given: ['https://one.example', 'https://two.example'], mustBe: true },
    },
  },
  vault_transit_secret_backend_key: {
    write: (name) => ({ line: `POST transit/keys/${name}`, body: {} }),
    read: (name) => ({ line: `GET transit/keys/${name}` }),
    members: {
      allow_plaintext_backup: { elsewhere: 'it is sent as configuration' },
      auto_rotate_period: { given: 3600 },
      backend: PATH,
      context: { elsewhere: 'it is about one request' },
      convergent_encryption: { given: true, beside: { derived: true } },
      deletion_allowed: { elsewhere: 'it is sent as configuration' },
      derived: { given: true },
      exportable: { elsewhere: 'it is sent as configuration' },
      hybrid_key_type_ec: { refused: 'ecdsa-p256' },
      hybrid_key_type_pqc: { refused: 'ml-dsa' },
      key_size: { given: 64, beside: { type: 'hmac' }, mustBe: true },
      managed_key_id: { refused: 'device' },
      managed_key_name: { refused: 'device' },
      min_decryption_version: { elsewhere: 'it is sent as configuration' },
      min_encryption_version: { elsewhere: 'it is sent as configuration' },
      name: PATH,
      namespace: NAMESPACE,
      parameter_set: { given: '65', beside: { type: 'ml-dsa' }, mustBe: true },
      type: { given: 'ed25519', mustBe: true },
    },
  },
  'vault_transit_secret_backend_key, its configuration': {
    before: (name) => [
      { line: `POST transit/keys/${name}`, body: {} },
      { line: `POST transit/keys/${name}/rotate`, body: {} },
    ],
    write: (name) => ({ line: `POST transit/keys/${name}/config`, body: {} }),
    read: (name) => ({ line: `GET transit/keys/${name}` }),
    members: {
      allow_plaintext_backup: { given: true },
      auto_rotate_period: { given: 3600 },
      deletion_allowed: { given: true },
      exportable: { given: true },
      min_decryption_version: { given: 2 },
      min_encryption_version: { given: 2 },
    },
  },
  vault_transit_secret_cache_config: {
    before: (name) => [{ line: `POST sys/mounts/${name}`, body: { type: 'transit' } }],
    write: (name) => ({ line: `POST ${name}/cache-config`, body: {} }),
    read: (name) => ({ line: `GET ${name}/cache-config` }),
    members: { backend: PATH, namespace: NAMESPACE, size: { given: 500 } },
  },
};
