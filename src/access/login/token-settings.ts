import { invalid, ownWords } from '../../ground/errors.ts';
import type { TokenKind } from '../token.ts';
import { boundNetworks } from './networks.ts';

/** Lists that are not set. */
export const NO_TEXTS: readonly string[] = [];

/** Token settings of a role or user, in API terms. Times in seconds, 0 for "not set". */
const UNSET = {
  /** Policies as given; a login resolves templates in them. */
  token_policies: NO_TEXTS,
  token_no_default_policy: false,
  token_ttl: 0,
  token_max_ttl: 0,
  token_explicit_max_ttl: 0,
  /** Present: renewals extend the lifetime by this period. */
  token_period: 0,
  /** 0: unlimited. */
  token_num_uses: 0,
  token_bound_cidrs: NO_TEXTS,
};

interface NewSettings extends Readonly<typeof UNSET> {
  readonly token_type: 'default' | TokenKind;
  /** Bind each token to the client address of its login. */
  readonly token_strictly_bind_ip: boolean;
  /** Stored for compatibility; has no effect, because there are no entities. Absent if empty. */
  readonly alias_metadata?: Readonly<Record<string, string>> | undefined;
}

/**
 * Older names of settings, which clients still send. The names that a method accepts are declared by its operations.
 */
export const OLDER_NAMES = {
  policies: 'token_policies',
  ttl: 'token_ttl',
  max_ttl: 'token_max_ttl',
  period: 'token_period',
  num_uses: 'token_num_uses',
  bound_cidrs: 'token_bound_cidrs',
} as const satisfies Readonly<Record<string, keyof NewSettings>>;

export type OlderName = keyof typeof OLDER_NAMES;

/** Settings that were set by an older name, which are returned under both. */
type OlderSettings = { readonly [N in OlderName]?: NewSettings[(typeof OLDER_NAMES)[N]] };

export interface TokenSettings extends NewSettings, OlderSettings {}

export const NO_SETTINGS: TokenSettings = {
  ...UNSET,
  token_type: 'default',
  token_strictly_bind_ip: false,
};

/**
 * Applies a change; absent members stay unchanged. A member with an older name (`ttl` for `token_ttl`) only says that
 * the caller used this name; its value is taken from the newer member.
 * @throws `invalid` with Vault's messages
 */
export function changedSettings(before: TokenSettings, change: Partial<TokenSettings>): TokenSettings {
  const changed = { ...before, ...change };
  const { token_ttl: ttl, token_max_ttl: maxTtl, token_num_uses: uses } = changed;
  if (maxTtl > 0 && ttl > maxTtl) {
    throw invalid(ownWords("'token_ttl' cannot be greater than 'token_max_ttl'"), { field: 'token_ttl' });
  }
  if (uses < 0) throw invalid(ownWords("'token_num_uses' cannot be negative"), { field: 'token_num_uses' });
  if (changed.token_type === 'batch') checkBatchSettings(changed);
  const networks = boundNetworks(changed.token_bound_cidrs, 'token_bound_cidrs');
  if (changed.token_strictly_bind_ip && networks.length > 0) {
    throw invalid(ownWords("'token_strictly_bind_ip' conflicts with 'token_bound_cidrs'; set only one"), {
      field: 'token_strictly_bind_ip',
    });
  }
  const { alias_metadata: metadata = {}, ...rest } = changed;
  const kept = { ...rest, alias_metadata: Object.keys(metadata).length > 0 ? metadata : undefined };
  return withOlderNames({ ...kept, token_bound_cidrs: networks }, change);
}

/** Updates the older names in use: setting only the newer name clears the older one. */
function withOlderNames(settings: TokenSettings, change: Partial<TokenSettings>): TokenSettings {
  const names = Object.keys(OLDER_NAMES) as OlderName[];
  const shown = names.flatMap((older) => {
    const name = OLDER_NAMES[older];
    const value = settings[name];
    const isUsed =
      change[older] !== undefined || (change[name] === undefined && settings[older] !== undefined);
    return isUsed && !isUnset(value) ? [[older, value]] : [];
  });
  const rest = Object.entries(settings).filter(([name]) => !Object.hasOwn(OLDER_NAMES, name));
  return Object.fromEntries([...rest, ...shown]) as unknown as TokenSettings;
}

const isUnset = (value: number | readonly string[]): boolean =>
  typeof value === 'number' ? value === 0 : value.length === 0;

function checkBatchSettings({ token_period: period, token_num_uses: uses }: TokenSettings): void {
  const what = period > 0 ? 'periodic tokens' : uses > 0 ? 'tokens with limited use count' : undefined;
  if (what === undefined) return;
  throw invalid(`'token_type' cannot be 'batch' or 'default_batch' when set to generate ${what}`, {
    field: 'token_type',
  });
}

/** Returns the settings for a login from an address. */
export const settingsFrom = (settings: TokenSettings, address: string): TokenSettings =>
  settings.token_strictly_bind_ip ? { ...settings, token_bound_cidrs: [address] } : settings;
