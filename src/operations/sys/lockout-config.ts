import { invalid } from '../../ground/errors.ts';
import type { LockoutConfig, MountConfig } from '../../mounts/mount.ts';
import { duration, flag, integer, members, type ValuesOf } from '../declaration/params.ts';

/** Lockout settings of a login method. `approle` stores them for compatibility only. */
export const lockoutParam = members(
  {
    lockout_threshold: integer({
      help: 'Failed logins before a user is locked out (0: default).',
      minimum: 0,
    }),
    lockout_duration: duration({ help: 'Duration of a lockout (0: default).' }),
    lockout_counter_reset_duration: duration({
      help: 'Time after which failed logins no longer count (0: default).',
    }),
    lockout_disable: flag({ help: 'Disable user lockout.' }),
  },
  { help: 'User lockout settings.', cli: { hidden: true } },
);

type GivenLockout = ValuesOf<{ readonly given: typeof lockoutParam }>['given'];

/** Login methods with guessable names. */
const LOCKING: ReadonlySet<string> = new Set(['approle', 'ldap', 'userpass']);

/**
 * Applies a change of the lockout settings; absent members stay unchanged.
 * @throws `invalid` for a method without such settings
 */
export function changedLockout(
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
