import type { Clock } from '../../../ground/clock.ts';
import type { Mount } from '../../../mounts/mount.ts';
import { collectionOf } from '../../../mounts/mounts.ts';
import type { DocumentRef, Store } from '../../../store/store.ts';
import type { LoginRole } from '../../login/login-token.ts';
import { RoleTable } from '../../login/role-table.ts';
import type { TokenSettings } from '../../login/token-settings.ts';
import { CONFIG, FETCHED, ROLES } from './mount-type.ts';

/** What the method works with. */
export interface Room {
  readonly store: Store;
  readonly clock: Clock;
  readonly mount: Mount;
}

/** How a mount verifies tokens, in the words of the API; texts and lists are empty where nothing was set. */
export interface JwtConfig {
  readonly oidc_discovery_url: string;
  /** Whom to trust in place of the machine's authorities, as PEM. */
  readonly oidc_discovery_ca_pem: string;
  readonly jwks_url: string;
  readonly jwks_ca_pem: string;
  readonly jwt_validation_pubkeys: readonly string[];
  readonly bound_issuer: string;
  readonly jwt_supported_algs: readonly string[];
  readonly default_role: string;
  /** Names that the certificate of the key set's server may have in place of the host's. */
  readonly override_allowed_server_names: readonly string[];
  /** Of logins by browser, which there are not: kept for clients that compare. */
  readonly namespace_in_state: boolean;
  readonly oidc_client_id: string;
  readonly oidc_response_mode: string;
  readonly oidc_response_types: readonly string[];
}

/** What a role asks of tokens, in the words of the API. */
export interface JwtSettings {
  readonly role_type: 'jwt' | 'oidc';
  readonly user_claim: string;
  readonly user_claim_json_pointer: boolean;
  readonly bound_audiences: readonly string[] | null;
  readonly bound_subject: string;
  readonly bound_claims: Readonly<Record<string, unknown>> | null;
  readonly bound_claims_type: 'string' | 'glob';
  /** Claim or JSON pointer, and the name in the metadata. */
  readonly claim_mappings: Readonly<Record<string, string>> | null;
  /** Seconds; 0 for the usual ones, negative for none. */
  readonly expiration_leeway: number;
  readonly not_before_leeway: number;
  readonly clock_skew_leeway: number;
  readonly token_policies_template_claims: boolean;
  /** Of logins by browser: kept and shown. */
  readonly allowed_redirect_uris: readonly string[] | null;
  readonly callback_mode: string;
  readonly max_age: number;
  readonly oauth2_metadata: readonly string[] | null;
  readonly oidc_disable_confirmation: boolean;
  readonly oidc_scopes: readonly string[] | null;
  readonly verbose_oidc_logging: boolean;
}

export interface JwtRole extends LoginRole {
  readonly settings: JwtSettings;
  readonly token: TokenSettings;
}

/** A key set as it was fetched, so that a process which is started while the issuer can't be reached knows it. */
export interface FetchedKeys {
  /** What it was fetched by, in the form of `sourceOf`. */
  readonly source: string;
  /** The key set (RFC 7517) as JSON; empty where nothing was fetched yet. */
  readonly keys: string;
  /** Milliseconds since the epoch. */
  readonly fetchedMs: number;
}

export const configRef = (mount: Mount): DocumentRef => ({
  collection: collectionOf(mount, CONFIG),
  id: CONFIG,
});

export const fetchedRef = (mount: Mount): DocumentRef => ({
  collection: collectionOf(mount, FETCHED),
  id: 'keys',
});

export const rolesOf = (room: Room): RoleTable<JwtRole> => new RoleTable(room, ROLES);

/** @param name in lower case. */
export const roleRef = (mount: Mount, name: string): DocumentRef => ({
  collection: collectionOf(mount, ROLES),
  id: name,
});
