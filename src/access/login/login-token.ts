import { invalid, ownWords } from '../../ground/errors.ts';
import type { Mount } from '../../mounts/mount.ts';
import { loginMount } from '../../mounts/mounts.ts';
import type { DocumentRef, View } from '../../store/store.ts';
import { DEFAULT, ROOT } from '../policies.ts';
import {
  checkBatchTerms,
  grantLifetime,
  kindBy,
  MAX_TTL_SECONDS,
  type Token,
  type TokenKind,
  type TokenLogin,
} from '../token.ts';
import { checkedPolicies, checkSizes, normalize } from '../token-request.ts';
import type { TokenSettings } from './token-settings.ts';

/** Common part of a role or user of every login method. */
export interface LoginRole {
  readonly token: TokenSettings;
}

/** Successful login. */
export interface Login {
  readonly mount: Mount;
  /** API path of the request. */
  readonly path: string;
  /** Suffix of the mount's own name, e.g. the user's name. */
  readonly displayName?: string;
  readonly meta: Readonly<Record<string, string>>;
  readonly settings: TokenSettings;
  /** Reference to the stored `LoginRole`, and its name for messages. */
  readonly role: DocumentRef;
  readonly name: string;
  /** Present if the token can only be renewed while its policies are unchanged. */
  readonly keepsPolicies?: true;
  /** Present if renewing the token requires proof of this key. */
  readonly certifiedKey?: string;
}

/** Determines the kind of a login's token: set by the mount, or left to the role. */
export const kindOfLogin = ({ config = {} }: Mount, { token_type: asked }: TokenSettings): TokenKind =>
  kindBy(config.token_type ?? 'default-service', asked === 'default' ? undefined : asked);

/**
 * Builds the token of a login. It has no parent, but is valid only while the method's mount exists.
 * @throws `invalid` for a role with the policy `root` or other policies that no token may have, whether from a template
 * or literal; `too-large` for a name or metadata that are; `invalid` if its tokens cannot be of the kind that the mount
 * requires
 */
export function buildLoginToken(
  { mount, settings, ...login }: Login,
  nowMs: number,
): { token: Token; warnings: readonly string[] } {
  const policies = checkedPolicies(policiesOf(settings));
  if (policies.includes(ROOT)) throw invalid(ownWords('auth methods cannot create root tokens'));
  const explicitMaxTtl = settings.token_explicit_max_ttl;
  const isBatch = kindOfLogin(mount, settings) === 'batch';
  // The mount's setting may override the role, so the role was not checked for it.
  if (isBatch) checkBatchTerms({ numUses: settings.token_num_uses, period: settings.token_period });
  const terms = termsOf(mount, settings);
  const { ttl, warnings } = grantLifetime({
    ...terms,
    maxTtl: isBatch ? Math.min(terms.maxTtl, MAX_TTL_SECONDS) : terms.maxTtl,
    explicitMaxTtl,
    age: 0,
    wanted: 0,
  });
  const createdMs = Math.floor(nowMs / 1000) * 1000;
  const { token_bound_cidrs: boundCidrs, token_num_uses: uses } = settings;
  const common = {
    displayName: [...mount.path.split('/').slice(1), login.displayName ?? []].flat().join('-'),
    policies,
    path: login.path,
    meta: login.meta,
    createdMs,
    creationTtl: ttl,
    // The creation time in a batch token has whole seconds, and its lifetime starts there.
    expiresMs: (isBatch ? createdMs : nowMs) + ttl * 1000,
    boundCidrs: boundCidrs.length === 0 ? undefined : boundCidrs,
  };
  checkSizes(common);
  if (isBatch) {
    const { uuid, moved } = mount;
    return { token: { ...batchTerms, ...common, login: { mount: uuid, moved } }, warnings };
  }
  const token: Token = {
    ...common,
    renewable: true,
    explicitMaxTtl,
    period: settings.token_period,
    usesLeft: uses === 0 ? undefined : uses,
    login: {
      mount: mount.uuid,
      moved: mount.moved,
      role: login.role,
      name: login.name,
      keepsPolicies: login.keepsPolicies ? true : undefined,
      certifiedKey: login.certifiedKey,
    },
  };
  return { token, warnings };
}

/**
 * Checks whether the client of a renewal has proved the key of the login.
 * @throws `invalid` with the method's message
 */
export type KeyCheck = (view: View, mount: Mount, login: TokenLogin, nowMs: number) => Promise<void>;

/** Check for callers without a connection that could prove a key. */
export const nobodyHasKey: KeyCheck = async () => {
  throw invalid(ownWords('no client certificate found'));
};

/**
 * Determines the terms of a renewal, by the current settings of mount and role.
 * @throws `invalid` if the role is gone, or its policies are no longer those of the token; or if it requires a
 * certificate, and there is no valid one
 */
export async function renewalTerms(
  view: View,
  { login, policies }: Token,
  { nowMs, checkKey }: { readonly nowMs: number; readonly checkKey: KeyCheck },
) {
  if (login === undefined) return {};
  const mount = await loginMount(view, login.mount);
  const role = login.role && (await view.get<LoginRole>(login.role));
  if (mount === undefined || role === undefined) {
    throw invalid(`failed to renew entry: role "${login.name}" does not exist during renewal`);
  }
  if (login.certifiedKey !== undefined) await checkKey(view, mount, login, nowMs);
  if (login.keepsPolicies && policiesOf(role.token).join() !== policies.join()) {
    throw invalid(ownWords('failed to renew entry: policies have changed, not renewing'));
  }
  return termsOf(mount, role.token);
}

const batchTerms = { kind: 'batch', renewable: false, explicitMaxTtl: 0, period: 0 } as const;

/** Returns the policies of the tokens of a role or user, normalized; templates in them are not resolved. */
export const policiesOf = (settings: TokenSettings): readonly string[] =>
  normalize([...settings.token_policies, ...(settings.token_no_default_policy ? [] : [DEFAULT])]);

/** Returns the lifetime settings, in seconds. */
function termsOf({ config = {} }: Mount, settings: TokenSettings) {
  const ofMount = config.max_lease_ttl ?? MAX_TTL_SECONDS;
  const maxTtl = Math.min(ofMount, settings.token_max_ttl || ofMount);
  return {
    maxTtl,
    ttl: settings.token_ttl || config.default_lease_ttl || maxTtl,
    period: settings.token_period,
  };
}
