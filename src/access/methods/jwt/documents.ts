import type { Clock } from '../../../ground/clock.ts';
import type { Mount } from '../../../mounts/mount.ts';
import type { DocumentRef, Store } from '../../../store/store.ts';
import type { LoginRole } from '../../login/login-token.ts';
import { RoleTable, refBelow } from '../../login/role-table.ts';
import type { TokenSettings } from '../../login/token-settings.ts';
import { CONFIG, FETCHED, ROLES } from './mount-type.ts';

/** Context of the method. */
export interface JwtPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly mount: Mount;
}

/** Configuration of a mount, in API terms; texts and lists are empty if not set. */
export interface JwtConfig {
  readonly oidc_discovery_url: string;
  /** Certificate authorities in PEM that replace the platform's. */
  readonly oidc_discovery_ca_pem: string;
  readonly jwks_url: string;
  readonly jwks_ca_pem: string;
  readonly jwt_validation_pubkeys: readonly string[];
  readonly bound_issuer: string;
  readonly jwt_supported_algs: readonly string[];
  readonly default_role: string;
  /** Names that the certificate of the key set's server may have instead of the host name. */
  readonly override_allowed_server_names: readonly string[];
  /** Setting of browser logins, which are not supported: stored for compatibility. */
  readonly namespace_in_state: boolean;
  readonly oidc_client_id: string;
  readonly oidc_response_mode: string;
  readonly oidc_response_types: readonly string[];
}

const none = <T>(): T | null => null;

/** Requirements of a new role, in API terms. */
export const NEW_ROLE = {
  role_type: 'jwt' as 'jwt' | 'oidc',
  user_claim: '',
  user_claim_json_pointer: false,
  bound_audiences: none<readonly string[]>(),
  bound_subject: '',
  bound_claims: none<Readonly<Record<string, unknown>>>(),
  bound_claims_type: 'string' as 'string' | 'glob',
  /** Claim or JSON pointer, and the name in the metadata. */
  claim_mappings: none<Readonly<Record<string, string>>>(),
  /** In seconds; 0 for the default, negative for none. */
  expiration_leeway: 0,
  not_before_leeway: 0,
  clock_skew_leeway: 0,
  token_policies_template_claims: false,
  /** Setting of browser logins: stored and returned. */
  allowed_redirect_uris: none<readonly string[]>(),
  callback_mode: 'client',
  max_age: 0,
  oauth2_metadata: none<readonly string[]>(),
  oidc_disable_confirmation: false,
  oidc_scopes: none<readonly string[]>(),
  verbose_oidc_logging: false,
};

export interface JwtSettings extends Readonly<typeof NEW_ROLE> {
  /** Claim or JSON pointer that must list groups; empty for none. Absent in roles that release 0.1 wrote. */
  readonly groups_claim?: string;
}

export interface JwtRole extends LoginRole {
  readonly settings: JwtSettings;
  readonly token: TokenSettings;
}

/** Fetched key set, stored so that a process that starts while the issuer is unreachable has it. */
export interface FetchedKeys {
  /** Source of the keys, as printed by `printSource`. */
  readonly source: string;
  /** Key set (RFC 7517) as JSON; empty if it was not fetched yet. */
  readonly keys: string;
  /** Time of the last fetch, in milliseconds since the epoch. */
  readonly fetchedMs: number;
}

export const configRef = (mount: Mount): DocumentRef => refBelow(mount, CONFIG, CONFIG);

export const fetchedRef = (mount: Mount): DocumentRef => refBelow(mount, FETCHED, 'keys');

export const rolesOf = (room: JwtPorts): RoleTable<JwtRole> => new RoleTable(room, ROLES);

/**
 * Returns the reference to a role.
 * @param name in lower case
 */
export const roleRef = (mount: Mount, name: string): DocumentRef => refBelow(mount, ROLES, name);
