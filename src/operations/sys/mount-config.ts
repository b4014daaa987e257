import { MAX_TTL_SECONDS } from '../../access/token.ts';
import { invalid, ownWords } from '../../ground/errors.ts';
import { familyVersion } from '../../ground/version.ts';
import type { LockoutConfig, Mount, MountConfig, MountTraits } from '../../mounts/mount.ts';
import { isLoginMount, relativePath } from '../../mounts/mounts.ts';
import { declareDuration, duration } from '../declaration/duration.ts';
import { lacking } from '../declaration/lacking.ts';
import {
  choice,
  declare,
  flag,
  hidden,
  integer,
  members,
  type Params,
  texts,
  type ValuesOf,
} from '../declaration/params.ts';
import { parseDurationSeconds } from '../declaration/weak-values.ts';

/** Lockout settings of a login method. `approle` stores them for compatibility only. */
const lockoutParam = members(
  {
    lockout_threshold: integer({
      help: 'Failed logins before a user is locked out (0: the default, 5).',
      minimum: 0,
    }),
    lockout_duration: duration({ help: 'Duration of a lockout (0: the default, 15m).' }),
    lockout_counter_reset_duration: duration({
      help: 'Time after which failed logins no longer count (0: the default, 15m).',
    }),
    lockout_disable: flag({ help: 'Disable user lockout.' }),
  },
  hidden('User lockout settings.'),
);

type GivenLockout = ValuesOf<{ readonly given: typeof lockoutParam }>['given'];

/** Login methods with guessable names. */
const LOCKING: ReadonlySet<string> = new Set(['approle', 'ldap', 'userpass']);

/**
 * Applies a change of the lockout settings; absent members stay unchanged.
 * @throws `invalid` for a method without such settings
 */
function changedLockout(
  type: string,
  before: MountConfig | undefined,
  given: GivenLockout | undefined,
): Pick<MountConfig, 'user_lockout_config'> {
  const mentioned = Object.entries(given ?? {}).filter(([, value]) => value !== undefined);
  if (mentioned.length === 0) return {};
  if (!LOCKING.has(type)) {
    throw invalid(`tuning of user lockout configuration for auth type "${type}" not allowed`, {
      field: 'user_lockout_config',
    });
  }
  const change: LockoutConfig = Object.fromEntries(mentioned.map(([name, value]) => [`user_${name}`, value]));
  return { user_lockout_config: { ...before?.user_lockout_config, ...change } };
}

/** TTL in seconds; `system` and 0 mean the server's default, empty text leaves it unchanged. */
const ttl = (help: string) =>
  declareDuration<number | undefined, { readonly help: string }>({ help }, (value, field) => {
    if (value === '' || value === null) return undefined;
    return value === 'system' ? 0 : parseDurationSeconds(value, field);
  });

const names = (help: string) => texts(hidden(help));

/** Settings of a mount: members of `config` on creation, and top-level when tuned. */
export const configParams = {
  default_lease_ttl: ttl('Time to live of tokens issued by this login method, unless a role sets another.'),
  max_lease_ttl: ttl('Maximum lifetime of tokens issued by this login method, renewals included.'),
  force_no_cache: flag({ help: 'Accepted and stored for compatibility; has no effect.' }),
  listing_visibility: choice(['', 'hidden', 'unauth'], {
    help: '"unauth" shows the login method to clients that are not logged in; "hidden" does not.',
    unknown: (word) => `invalid listing_visibility ${word}`,
  }),
  audit_non_hmac_request_keys: names('Request parameters that the audit log shows in plaintext.'),
  audit_non_hmac_response_keys: names('Response fields that the audit log shows in plaintext.'),
  passthrough_request_headers: names('Stored for compatibility; has no effect.'),
  allowed_response_headers: names('Stored for compatibility; has no effect.'),
  allowed_managed_keys: lacking('Not supported: keys in hardware devices.', 'managed keys are not supported'),
  delegated_auth_accessors: lacking('Not supported.', 'delegated authentication is not supported'),
  identity_token_key: lacking('Not supported.', 'identity tokens are not supported'),
  plugin_version: lacking('Not supported.', 'engines and login methods are built in'),
} as const satisfies Params;

const trait = (help: string) => flag(hidden(help));

/** Immutable properties of a mount, set on creation. */
export const traitParams = {
  local: trait('Stored for compatibility; has no effect.'),
  seal_wrap: trait('Stored for compatibility; Coffer always encrypts the whole store.'),
  external_entropy_access: trait('Stored for compatibility; has no effect.'),
  plugin_version: configParams.plugin_version,
} as const satisfies Params;

/** Returns the properties that are true; undefined if none is. */
export function traitsIn({
  local,
  seal_wrap,
  external_entropy_access,
}: Partial<ValuesOf<typeof traitParams>>): MountTraits | undefined {
  const set = Object.entries({ local, seal_wrap, external_entropy_access }).filter(([, value]) => value);
  return set.length === 0 ? undefined : Object.fromEntries(set);
}

/** Settings of login methods. */
export const loginConfigParams = {
  ...configParams,
  token_type: declare<NonNullable<MountConfig['token_type']> | '' | undefined, ReturnType<typeof hidden>>(
    hidden(
      'Type of issued tokens: service, batch, default-service or default-batch; roles can override the last two.',
    ),
    { type: 'string' },
    parseTokenType,
  ),
  user_lockout_config: lockoutParam,
} as const satisfies Params;

/** Parses the token type; leaving the choice to roles is the default, which is not stored. */
function parseTokenType(value: unknown, field: string): MountConfig['token_type'] | '' {
  if (value === 'service' || value === 'batch' || value === 'default-batch') return value;
  if (value === 'default-service') return '';
  if (value === '' || value === null) return undefined;
  throw invalid(ownWords(`invalid value for 'token_type'`), { field });
}

type ConfigValues = Partial<ValuesOf<typeof loginConfigParams>>;

/**
 * Applies a change; values equal to the server's default are not stored.
 * @param type mount type
 * @throws `invalid` if the default TTL would exceed the maximum, and for settings that the type does not have
 */
export function changedConfig(
  type: string,
  before: MountConfig | undefined,
  { user_lockout_config: lockout, ...change }: ConfigValues,
): MountConfig {
  const mentioned = Object.entries(change).filter(([, value]) => value !== undefined);
  const changed = { ...before, ...Object.fromEntries(mentioned), ...changedLockout(type, before, lockout) };
  const kept: MountConfig = Object.fromEntries(
    Object.entries(changed).filter(([, value]) => (Array.isArray(value) ? value.length > 0 : Boolean(value))),
  );
  const { usual, longest } = effectiveTtls(kept);
  if (usual <= longest) return kept;
  if (before === undefined && kept.max_lease_ttl !== undefined) {
    throw invalid(ownWords('given default lease TTL greater than given max lease TTL'), {
      field: 'default_lease_ttl',
    });
  }
  throw invalid(
    kept.max_lease_ttl === undefined
      ? `given default lease TTL greater than system max lease TTL of ${longest}`
      : `backend max lease TTL of ${longest} would be less than backend default lease TTL of ${usual}`,
    { field: 'default_lease_ttl' },
  );
}

/** Returns the effective TTLs in seconds, with the server's defaults. */
function effectiveTtls(config: MountConfig): { readonly usual: number; readonly longest: number } {
  const longest = config.max_lease_ttl ?? MAX_TTL_SECONDS;
  return { usual: config.default_lease_ttl ?? Math.min(MAX_TTL_SECONDS, longest), longest };
}

/** Formats settings for lists of mounts: a TTL of 0 means the server's default. */
const printConfig = (config: MountConfig = {}) => ({
  default_lease_ttl: 0,
  max_lease_ttl: 0,
  force_no_cache: false,
  ...config,
});

/** Formats the settings of one mount, with the effective TTLs. */
function printTuning(config: MountConfig = {}) {
  const { usual, longest } = effectiveTtls(config);
  const { user_lockout_config: lockout, ...rest } = config;
  return { ...printConfig(rest), ...lockout, default_lease_ttl: usual, max_lease_ttl: longest };
}

/** Whether it is the token method, which every store has. */
const isToken = ({ type }: Mount): boolean => type === 'token';

/** Formats a mount in API terms. There are no plugins, so these values are constant. */
export const printMount = (mount: Mount) => ({
  type: mount.type,
  description: mount.description,
  accessor: mount.accessor,
  local: false,
  seal_wrap: false,
  external_entropy_access: false,
  ...mount.traits,
  options: hasOptions(mount) || (isLoginMount(mount) && !isToken(mount)) ? mount.options : null,
  uuid: mount.uuid,
  plugin_version: '',
  running_plugin_version: `v${familyVersion}`,
  running_sha256: '',
  deprecation_status: isToken(mount) ? undefined : 'supported',
  config: { ...printConfig(mount.config), token_type: tokenTypeOf(mount) },
});

type MountsByPath = Readonly<Record<string, ReturnType<typeof printMount>>>;

/** Formats mounts by path with a final slash; login methods without `auth/`. */
/** Declares how a command lists mounts; the second column is what tells them apart. */
export const mountListing = (head: string, second: (mount: MountsByPath[string]) => string) => ({
  table: (mounts: MountsByPath) => ({
    head: ['Path', head, 'Accessor', 'Description'],
    rows: Object.entries(mounts).map(([path, mount]) => [
      path,
      second(mount),
      mount.accessor,
      mount.description,
    ]),
    whole: 0,
    lesser: [2],
  }),
  lines: (mounts: MountsByPath) => Object.keys(mounts),
});

export const printMounts = (mounts: readonly Mount[]): MountsByPath => byPath(mounts, printMount);

/** Formats public mounts for callers without a token. */
export const printForStrangers = (mounts: readonly Mount[]) =>
  byPath(mounts, ({ description, options, type }) => ({ description, options, type }));

/** Formats the settings of one mount, with the effective TTLs. */
export const printMountTuning = (mount: Mount) => ({
  ...printTuning(mount.config),
  token_type: tokenTypeOf(mount),
  description: mount.description,
  options: hasOptions(mount) ? mount.options : undefined,
});

const byPath = <T>(mounts: readonly Mount[], print: (mount: Mount) => T): Readonly<Record<string, T>> =>
  Object.fromEntries(mounts.map((mount) => [`${relativePath(mount)}/`, print(mount)]));

const hasOptions = ({ options }: Mount): boolean => Object.keys(options).length > 0;

/** Only login methods issue tokens. */
const tokenTypeOf = (mount: Mount): string | undefined =>
  isLoginMount(mount) ? (mount.config?.token_type ?? 'default-service') : undefined;
