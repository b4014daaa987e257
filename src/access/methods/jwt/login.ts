import { isDeepStrictEqual } from 'node:util';
import { asCofferError, invalid, ownWords, unavailable } from '../../../ground/errors.ts';
import { isObject } from '../../../ground/objects.ts';
import type { Mount } from '../../../mounts/mount.ts';
import type { View } from '../../../store/store.ts';
import type { Login } from '../../login/login-token.ts';
import { requireWithin } from '../../login/networks.ts';
import { settingsFrom } from '../../login/token-settings.ts';
import type { IssuedToken, Tokens } from '../../tokens.ts';
import {
  type Claims,
  checkBoundClaims,
  checkGroups,
  checkTimes,
  invalidToken,
  mappedClaims,
  pointedAt,
  templatedPolicies,
} from './claims.ts';
import {
  configRef,
  type JwtConfig,
  type JwtPorts,
  type JwtRole,
  type JwtSettings,
  roleRef,
} from './documents.ts';
import { sourceOf } from './key-set.ts';
import { keysOf } from './keys.ts';
import { KUBERNETES } from './mount-type.ts';
import { badSignature, checkForm, type SignedToken, verified } from './signed-token.ts';

/** Credentials of a login, with the client address. */
interface JwtCredentials {
  /** In lower case; empty for the mount's default. */
  readonly role: string;
  readonly jwt: string;
  readonly address: string;
}

/**
 * Logs in with a token that is signed by an issuer and meets the requirements of a role. Errors have Vault's order and
 * messages.
 * @throws `invalid`; `denied` from an address that the role does not allow; `unavailable` if the mount's configuration
 * changes in the meantime
 * @see docs/decisions/0178
 */
export async function login(
  room: JwtPorts,
  tokens: Tokens,
  credentials: JwtCredentials,
): Promise<IssuedToken> {
  const { store, mount, clock } = room;
  const { jwt, address } = credentials;
  const config = await store.read((view) => view.get<JwtConfig>(configRef(mount)));
  if (config === undefined) throw invalid(ownWords('could not load configuration'));
  const name = credentials.role === '' ? config.default_role : credentials.role;
  if (name === '') throw invalid(ownWords('missing role'), { field: 'role' });
  const first = await store.read((view) => roleFor(view, mount, name));
  if (jwt === '') throw invalid(ownWords('missing token'), { field: 'jwt' });
  requireWithin(first.token.token_bound_cidrs, address);
  checkForm(jwt, sourceOf(config) !== undefined);
  const token = await verifiedToken(room, config, jwt);
  return tokens.login(async (view) => {
    // Either may have changed while the signature was verified, because an issuer may respond slowly.
    if (!isDeepStrictEqual(await view.get<JwtConfig>(configRef(mount)), config)) throw changedMeanwhile();
    const role = await roleFor(view, mount, name);
    requireWithin(role.token.token_bound_cidrs, address);
    const { claims } = token;
    const caller = callerOf(token, config, role.settings, clock.now());
    const { claim_mappings: mappings } = role.settings;
    const meta = { ...serviceAccount(mount, claims), ...mappedClaims(mappings ?? {}, claims), role: name };
    if (role.settings.groups_claim) checkGroups(role.settings.groups_claim, claims);
    checkBoundClaims(role.settings.bound_claims ?? {}, claims, role.settings.bound_claims_type === 'glob');
    const settings = settingsFrom(role.token, address);
    return {
      mount,
      path: `${mount.path}/login`,
      displayName: caller,
      meta,
      settings: policiesFor(settings, role.settings, claims),
      role: roleRef(mount, name),
      name,
    };
  });
}

const changedMeanwhile = () =>
  unavailable(ownWords('the configuration was changed during the login'), { hint: 'try again' });

async function roleFor(view: View, mount: Mount, name: string): Promise<JwtRole> {
  const role = await view.get<JwtRole>(roleRef(mount, name));
  if (role === undefined) throw invalid(`role "${name}" could not be found`, { field: 'role' });
  if (role.settings.role_type === 'oidc')
    throw invalid(ownWords('role with oidc role_type is not allowed'), { field: 'role' });
  return role;
}

async function verifiedToken(room: JwtPorts, config: JwtConfig, jwt: string): Promise<SignedToken> {
  const keys = keysOf(room, config);
  const current = await keys.current().catch((error: unknown) => {
    // Unauthenticated clients do not learn the reason; it is shown with the configuration.
    throw asCofferError(error)?.kind === 'unavailable'
      ? badSignature(ownWords('fetching keys oidc: get keys failed'))
      : error;
  });
  const token = await verified(jwt, current);
  if (token !== undefined) return token;
  const newer = await keys.newerThan(current);
  const retried = newer === undefined ? undefined : await verified(jwt, newer);
  if (retried === undefined) throw badSignature((newer ?? current).refusal);
  return retried;
}

/** Returns the caller's identity, after checking that the token is meant for this place and time. */
function callerOf(token: SignedToken, config: JwtConfig, settings: JwtSettings, nowMs: number): string {
  const { claims, algorithm } = token;
  const { jwt_supported_algs: algorithms } = config;
  if (algorithms.length > 0 && !algorithms.includes(algorithm)) {
    throw invalidToken(
      ownWords('invalid algorithm (alg) header parameter: token signed with unexpected algorithm'),
    );
  }
  checkText(claims, 'iss', config.bound_issuer, 'invalid issuer (iss) claim');
  checkText(claims, 'sub', settings.bound_subject, 'invalid subject (sub) claim');
  const audiences = settings.bound_audiences ?? [];
  checkAudience(claims, audiences);
  checkTimes(claims, settings, nowMs);
  if (audiencesOf(claims).length > 0 && audiences.length === 0) {
    throw invalid(ownWords('audience claim found in JWT but no audiences bound to the role'));
  }
  const { user_claim: name, user_claim_json_pointer: isPointer } = settings;
  const caller = isPointer ? pointedAt(claims, name) : Object.hasOwn(claims, name) ? claims[name] : undefined;
  if (caller === undefined || caller === null) throw invalid(`claim "${name}" not found in token`);
  if (typeof caller !== 'string') throw invalid(`claim "${name}" could not be converted to string`);
  if (caller === '') throw invalid(ownWords('missing name in alias'));
  return caller;
}

/**
 * Checks a text claim.
 * @param wanted empty for any text, or none
 */
function checkText(claims: Claims, name: string, wanted: string, refusal: string): void {
  const value = pointedAt(claims, `/${name}`) ?? '';
  if (typeof value !== 'string') {
    const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
    throw invalidToken(`json: cannot unmarshal ${kind} into Go struct field Claims.${name} of type string`);
  }
  if (wanted !== '' && value !== wanted) throw invalidToken(refusal);
}

function checkAudience(claims: Claims, wanted: readonly string[]): void {
  const audiences = audiencesOf(claims);
  if (!audiences.every((one) => typeof one === 'string')) {
    throw invalidToken(
      ownWords('go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience'),
    );
  }
  if (wanted.length === 0 || audiences.some((one) => wanted.includes(one))) return;
  throw invalidToken(
    ownWords('invalid audience (aud) claim: audience claim does not match any expected audience'),
  );
}

const audiencesOf = (claims: Claims): readonly unknown[] => [pointedAt(claims, '/aud') ?? []].flat();

/** Returns the service account that Vault's Kubernetes method stores; nothing for other methods. */
function serviceAccount({ type }: Mount, claims: Claims): Readonly<Record<string, string>> {
  const account = type === KUBERNETES ? pointedAt(claims, '/kubernetes.io/serviceaccount') : undefined;
  const known = {
    service_account_name: isObject(account) ? account['name'] : undefined,
    service_account_uid: isObject(account) ? account['uid'] : undefined,
    service_account_namespace: isObject(account) ? pointedAt(claims, '/kubernetes.io/namespace') : undefined,
  };
  return Object.fromEntries(
    Object.entries(known).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}

const policiesFor = (settings: Login['settings'], role: JwtSettings, claims: Claims): Login['settings'] =>
  role.token_policies_template_claims
    ? { ...settings, token_policies: templatedPolicies(settings.token_policies, claims) }
    : settings;
