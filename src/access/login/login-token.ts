import { invalid } from '../../ground/errors.ts';
import { ownWords } from '../../ground/own-words.ts';
import type { Mount } from '../../mounts/mount.ts';
import { loginMount } from '../../mounts/mounts.ts';
import type { DocumentRef, View } from '../../store/store.ts';
import { DEFAULT, ROOT } from '../policies.ts';
import type { Token, TokenLogin } from '../token.ts';
import { checkBatchTerms, kindBy, type TokenKind } from '../token-kind.ts';
import { grantLifetime, MAX_TTL_SECONDS } from '../token-lifetime.ts';
import { checkedPolicies, checkSizes, normalize } from '../token-request.ts';
import type { TokenSettings } from './token-settings.ts';

/** What each method keeps of a role or a user, beside what is its own. */
export interface LoginRole {
  readonly token: TokenSettings;
}

/** Somebody whom a method lets in. */
export interface Login {
  readonly mount: Mount;
  /** The API path of the request. */
  readonly path: string;
  /** Beside the mount's own name, e.g. that of the user. */
  readonly displayName?: string;
  readonly meta: Readonly<Record<string, string>>;
  readonly settings: TokenSettings;
  /** Where the `LoginRole` is kept, and how people call it. */
  readonly role: DocumentRef;
  readonly name: string;
  /** The token is renewed only as long as the policies are the same. */
  readonly keepsPolicies?: true;
  /** The token is renewed only by who has the key again. */
  readonly certifiedKey?: string;
}

/** What kind of token a login gets: the mount decides, or leaves it to the role. */
export const kindOfLogin = ({ config = {} }: Mount, { token_type: asked }: TokenSettings): TokenKind =>
  kindBy(config.token_type ?? 'default-service', asked === 'default' ? undefined : asked);

/**
 * The token of a login. Nobody issued it, so it ends with nobody; but it holds only while the method's mount is there.
 * @throws `invalid` for a role with the policy `root`, and others that no token may have, by a template or by hand; `too-large` for a
 *   name or metadata that are; `invalid` for one whose tokens can't be of the kind that the mount demands.
 */
export function buildLoginToken(
  { mount, settings, ...login }: Login,
  nowMs: number,
): { token: Token; warnings: readonly string[] } {
  const policies = checkedPolicies(policiesOf(settings));
  if (policies.includes(ROOT)) throw invalid(ownWords('auth methods cannot create root tokens'));
  const explicitMaxTtl = settings.token_explicit_max_ttl;
  const isBatch = kindOfLogin(mount, settings) === 'batch';
  // That of the mount may decide: then the role knows nothing of it.
  if (isBatch) checkBatchTerms({ numUses: settings.token_num_uses, period: settings.token_period });
  const terms = termsOf(mount, settings);
  const { ttl, warnings } = grantLifetime({
    ...terms,
    ...(isBatch ? { maxTtl: Math.min(terms.maxTtl, MAX_TTL_SECONDS) } : {}),
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
    // A batch token says in whole seconds when it was made, and lives from there.
    expiresMs: (isBatch ? createdMs : nowMs) + ttl * 1000,
    ...(boundCidrs.length === 0 ? {} : { boundCidrs }),
  };
  checkSizes(common);
  if (isBatch) {
    const { uuid } = mount;
    return { token: { ...batchTerms, ...common, login: { mount: uuid } }, warnings };
  }
  const token: Token = {
    ...common,
    renewable: true,
    explicitMaxTtl,
    period: settings.token_period,
    ...(uses === 0 ? {} : { usesLeft: uses }),
    login: {
      mount: mount.uuid,
      role: login.role,
      name: login.name,
      ...(login.keepsPolicies ? { keepsPolicies: true } : {}),
      ...(login.certifiedKey === undefined ? {} : { certifiedKey: login.certifiedKey }),
    },
  };
  return { token, warnings };
}

/**
 * Looks whether who asks for a renewal has the key again that logged in.
 * @throws `invalid` in the words of the method.
 */
export type KeyCheck = (view: View, mount: Mount, login: TokenLogin, nowMs: number) => Promise<void>;

/** For callers without a connection that could have shown it. */
export const nobodyHasKey: KeyCheck = async () => {
  throw invalid(ownWords('no client certificate found'));
};

/**
 * What a renewal grants, by what mount and role say by now.
 * @throws `invalid` when the role is gone, or when its policies are no longer those of the token; when it takes a certificate,
 *   and there is none that counts.
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

const policiesOf = (settings: TokenSettings): readonly string[] =>
  normalize([...settings.token_policies, ...(settings.token_no_default_policy ? [] : [DEFAULT])]);

/** Times in seconds. */
function termsOf({ config = {} }: Mount, settings: TokenSettings) {
  const ofMount = config.max_lease_ttl ?? MAX_TTL_SECONDS;
  const maxTtl = Math.min(ofMount, settings.token_max_ttl || ofMount);
  return {
    maxTtl,
    ttl: settings.token_ttl || config.default_lease_ttl || maxTtl,
    period: settings.token_period,
  };
}
