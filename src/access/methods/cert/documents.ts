/** What a mount for certificates keeps. */

import type { Clock } from '../../../ground/clock.ts';
import type { Mount } from '../../../mounts/mount.ts';
import { collectionOf } from '../../../mounts/mounts.ts';
import type { DocumentRef, Store, View } from '../../../store/store.ts';
import type { LoginRole } from '../../login/login-token.ts';
import { RoleTable } from '../../login/role-table.ts';
import { LISTS, ROLES, SETTINGS } from './mount-type.ts';

/** Where a mount's roles and lists are worked on. */
export interface Room {
  readonly store: Store;
  readonly clock: Clock;
  readonly mount: Mount;
}

/** Whom a role lets in, in the words of the API. A list that is empty asks for nothing; of one that is not, one must match. */
export interface RoleSettings {
  /** PEM: authorities, or one leaf. */
  readonly certificate: string;
  readonly display_name: string;
  /** Patterns of the common name, and of alternative names for hosts and mail. */
  readonly allowed_names: readonly string[];
  readonly allowed_common_names: readonly string[];
  readonly allowed_dns_sans: readonly string[];
  readonly allowed_email_sans: readonly string[];
  readonly allowed_uri_sans: readonly string[];
  readonly allowed_organizational_units: readonly string[];
  /** `OID:PATTERN`; all must match. */
  readonly required_extensions: readonly string[];
  /** Object identifiers of extensions that tokens tell. */
  readonly allowed_metadata_extensions: readonly string[];
  /** Kept where they were given, and of no effect: nobody is asked by OCSP. The age in seconds. */
  readonly ocsp_max_retries?: number;
  readonly ocsp_this_update_max_age?: number;
}

export interface Role extends LoginRole {
  readonly settings: RoleSettings;
}

/** A list of revoked certificates, as it is kept. */
export interface KeptList {
  /** As `canonicalName` has it. */
  readonly issuer: string;
  /** Decimal. */
  readonly serials: readonly string[];
  /** Since when it is so; milliseconds since the epoch. Absent in those that were kept by earlier versions. */
  readonly sinceMs?: number;
  /** From where it is fetched again when it is out of date. Milliseconds since the epoch. */
  readonly source?: { readonly url: string; readonly nextMs?: number };
}

/** Settings of the mount, in the words of the API. */
export interface MountSettings {
  /** Tokens are renewed without the certificate. */
  readonly disable_binding: boolean;
  readonly enable_identity_alias_metadata: boolean;
  readonly ocsp_cache_size: number;
  /** Kept where it was given, and of no effect. */
  readonly role_cache_size?: number;
}

export const NO_MOUNT_SETTINGS: MountSettings = {
  disable_binding: false,
  enable_identity_alias_metadata: false,
  ocsp_cache_size: 0,
};

export const rolesOf = (room: Room): RoleTable<Role> => new RoleTable(room, ROLES);

export const roleRef = (mount: Mount, name: string): DocumentRef => ({
  collection: collectionOf(mount, ROLES),
  id: name,
});

export const listRef = (mount: Mount, name: string): DocumentRef => ({
  collection: collectionOf(mount, LISTS),
  id: name,
});

export const settingsRef = (mount: Mount): DocumentRef => ({
  collection: collectionOf(mount, SETTINGS),
  id: 'config',
});

/** All documents of a collection, by name, in the order of their names. */
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
