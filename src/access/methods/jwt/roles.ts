import { invalid, ownWords } from '../../../ground/errors.ts';
import { isObject } from '../../../ground/objects.ts';
import { changedSettings, NO_SETTINGS, type TokenSettings } from '../../login/token-settings.ts';
import { MAX_TTL_SECONDS } from '../../token.ts';
import { printGo } from './claims.ts';
import { type JwtPorts, type JwtSettings, NEW_ROLE, rolesOf } from './documents.ts';
import { KUBERNETES } from './mount-type.ts';

/** Change of a role. */
export interface JwtRoleChange {
  /** Settings to change. Absent members stay unchanged, except the three below. */
  readonly settings: Partial<Omit<JwtSettings, 'role_type' | 'bound_claims_type' | 'callback_mode'>>;
  /** Members as sent: every write sets them, or resets them to their defaults. */
  readonly roleType: string;
  readonly boundClaimsType: string;
  readonly callbackMode: string | undefined;
  readonly token: Partial<TokenSettings>;
}

/** @see docs/decisions/0297 */
const NO_GROUPS =
  'groups are not supported: groups_claim assigns no policies, and only refuses tokens without that claim. To assign policies by group, create a role for each group, with bound_claims';

/**
 * Creates or changes a role. A role for browser logins is stored for compatibility, but does not allow logins.
 * @returns warnings
 * @throws `invalid` with Vault's messages
 */
export async function writeRole(
  room: JwtPorts,
  name: string,
  change: JwtRoleChange,
): Promise<readonly string[]> {
  const { mount } = room;
  const roleType = roleTypeIn(change.roleType === '' && mount.type === KUBERNETES ? 'jwt' : change.roleType);
  const most = mount.config?.max_lease_ttl ?? MAX_TTL_SECONDS;
  await rolesOf(room).write(name, (before) => {
    const token = changedSettings(before?.token ?? NO_SETTINGS, change.token);
    if (token.token_period > most) {
      throw invalid(
        `'period' of '"${printHours(token.token_period)}"' is greater than the backend's maximum lease TTL of '"${printHours(most)}"'`,
        {
          field: 'token_period',
        },
      );
    }
    const settings: JwtSettings = {
      ...(before?.settings ?? NEW_ROLE),
      ...change.settings,
      role_type: roleType,
      bound_claims_type: claimsTypeIn(change.boundClaimsType),
      callback_mode: change.callbackMode ?? before?.settings.callback_mode ?? NEW_ROLE.callback_mode,
    };
    checkSettings(settings, token);
    return { settings, token };
  });
  return change.settings.groups_claim ? [NO_GROUPS] : [];
}

/** Prints seconds of an hour or more, like Go. */
const printHours = (seconds: number): string =>
  `${Math.floor(seconds / 3600)}h${Math.floor((seconds % 3600) / 60)}m${seconds % 60}s`;

function roleTypeIn(given: string): JwtSettings['role_type'] {
  if (given === 'jwt') return 'jwt';
  if (given === '' || given === 'oidc') return 'oidc';
  throw invalid(`invalid 'role_type': ${given}`, { field: 'role_type' });
}

function claimsTypeIn(given: string): JwtSettings['bound_claims_type'] {
  if (given === 'glob') return 'glob';
  if (given === '' || given === 'string') return 'string';
  throw invalid(`invalid 'bound_claims_type': ${given}`, { field: 'bound_claims_type' });
}

/** Checks settings in Vault's order. */
function checkSettings(settings: JwtSettings, token: TokenSettings): void {
  if (settings.bound_claims_type === 'glob') checkGlobs(settings.bound_claims ?? {});
  checkMappings(settings.claim_mappings ?? {});
  const unknown = settings.oauth2_metadata?.find((name) => !OAUTH2_METADATA.includes(name));
  if (unknown !== undefined) {
    throw invalid(`Unrecognized oauth2 metadata name ${unknown}`, { field: 'oauth2_metadata' });
  }
  if (settings.user_claim === '') {
    throw invalid(ownWords('a user claim must be defined on the role'), { field: 'user_claim' });
  }
  if (!CALLBACK_MODES.includes(settings.callback_mode)) {
    throw invalid(`invalid 'callback_mode': ${settings.callback_mode}`, { field: 'callback_mode' });
  }
  if (settings.role_type === 'oidc') {
    if ((settings.allowed_redirect_uris ?? []).length > 0) return;
    throw invalid(ownWords("'allowed_redirect_uris' must be set if 'role_type' is 'oidc' or unspecified."), {
      field: 'role_type',
      hint: 'set role_type=jwt each time you create or change a role',
    });
  }
  if (!isBound(settings, token)) {
    throw invalid(ownWords('must have at least one bound constraint when creating/updating a role'));
  }
}

const OAUTH2_METADATA = ['access_token', 'id_token', 'refresh_token'];
const CALLBACK_MODES = ['client', 'direct', 'device'];

const isBound = (settings: JwtSettings, token: TokenSettings): boolean =>
  (settings.bound_audiences ?? []).length > 0 ||
  settings.bound_subject !== '' ||
  Object.keys(settings.bound_claims ?? {}).length > 0 ||
  token.token_bound_cidrs.length > 0;

function checkGlobs(bound: Readonly<Record<string, unknown>>): void {
  for (const wanted of Object.values(bound)) {
    if (isObject(wanted) || wanted === null) {
      throw invalid(`claim is not a string or list: ${printGo(wanted)}`, { field: 'bound_claims' });
    }
    const other = [wanted].flat().find((item) => typeof item !== 'string');
    if (other !== undefined) {
      throw invalid(`claim is not a string: ${printGo(other)}`, { field: 'bound_claims' });
    }
  }
}

function checkMappings(mappings: Readonly<Record<string, string>>): void {
  const targets = new Set<string>();
  for (const target of Object.values(mappings)) {
    if (target === 'role') {
      throw invalid(ownWords('metadata key "role" is reserved and may not be a mapping destination'), {
        field: 'claim_mappings',
      });
    }
    if (targets.has(target)) {
      throw invalid(`multiple keys are mapped to metadata key "${target}"`, { field: 'claim_mappings' });
    }
    targets.add(target);
  }
}
