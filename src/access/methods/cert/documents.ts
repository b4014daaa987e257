/** Documents of a mount of the certificate login method. */

import type { Clock } from '../../../ground/clock.ts';
import type { Mount } from '../../../mounts/mount.ts';
import { collectionOf } from '../../../mounts/mounts.ts';
import type { DocumentRef, Store, View } from '../../../store/store.ts';
import type { LoginRole } from '../../login/login-token.ts';
import { RoleTable, refBelow } from '../../login/role-table.ts';
import { NO_TEXTS } from '../../login/token-settings.ts';
import { LISTS, ROLES, SETTINGS } from './mount-type.ts';

/** Context for the roles and lists of a mount. */
export interface CertPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly mount: Mount;
}

/**
 * Requirements of a new role, in API terms. An empty list requires nothing; of a non-empty one, one entry must match.
 */
export const NEW_ROLE = {
  /** PEM: certificate authorities, or one leaf. */
  certificate: '',
  display_name: '',
  /** Patterns for the common name, and for DNS and email alternative names. */
  allowed_names: NO_TEXTS,
  allowed_common_names: NO_TEXTS,
  allowed_dns_sans: NO_TEXTS,
  allowed_email_sans: NO_TEXTS,
  allowed_uri_sans: NO_TEXTS,
  allowed_organizational_units: NO_TEXTS,
  /** `OID:PATTERN`; all must match. */
  required_extensions: NO_TEXTS,
  /** Object identifiers of extensions that are copied into the token's metadata. */
  allowed_metadata_extensions: NO_TEXTS,
};

export interface CertRoleSettings extends Readonly<typeof NEW_ROLE> {
  /** Stored for compatibility; has no effect, because OCSP is not supported. The age is in seconds. */
  readonly ocsp_max_retries?: number;
  readonly ocsp_this_update_max_age?: number;
}

export interface CertRole extends LoginRole {
  readonly settings: CertRoleSettings;
}

/** Certificate revocation list, as stored. */
export interface KeptList {
  /** Issuer, in the form of `canonicalName`. */
  readonly issuer: string;
  /** Serial numbers, decimal. */
  readonly serials: readonly string[];
  /** Time of the list (thisUpdate), in milliseconds since the epoch. Absent in lists stored by earlier versions. */
  readonly sinceMs?: number;
  /** URL from which an outdated list is fetched again. Time in milliseconds since the epoch. */
  readonly source?: { readonly url: string; readonly nextMs?: number | undefined } | undefined;
}

/** Settings of the mount, in API terms. */
export interface CertMountSettings {
  /** Whether tokens can be renewed without the certificate. */
  readonly disable_binding: boolean;
  readonly enable_identity_alias_metadata: boolean;
  readonly ocsp_cache_size: number;
  /** Stored for compatibility; has no effect. */
  readonly role_cache_size?: number;
}

export const NO_MOUNT_SETTINGS: CertMountSettings = {
  disable_binding: false,
  enable_identity_alias_metadata: false,
  ocsp_cache_size: 0,
};

export const rolesOf = (room: CertPorts): RoleTable<CertRole> => new RoleTable(room, ROLES);

export const roleRef = (mount: Mount, name: string): DocumentRef => refBelow(mount, ROLES, name);

export const listRef = (mount: Mount, name: string): DocumentRef => refBelow(mount, LISTS, name);

export const settingsRef = (mount: Mount): DocumentRef => refBelow(mount, SETTINGS, 'config');

/** Reads all documents of a collection, sorted by name. */
export async function allIn<T>(
  view: View,
  mount: Mount,
  name: string,
): Promise<readonly (readonly [string, T])[]> {
  const collection = collectionOf(mount, name);
  const ids = await view.list(collection);
  const found = await Promise.all(ids.map((id) => view.get<T>({ collection, id })));
  return ids.flatMap((id, index) => {
    const document = found[index];
    return document === undefined ? [] : [[id, document] as const];
  });
}
