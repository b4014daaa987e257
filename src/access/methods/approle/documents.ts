/** Documents of an AppRole mount. */

import { createHmac } from 'node:crypto';
import type { Clock } from '../../../ground/clock.ts';
import type { Random } from '../../../ground/random.ts';
import type { Mount } from '../../../mounts/mount.ts';
import type { DocumentRef, Store, Transaction, View } from '../../../store/store.ts';
import type { LoginRole } from '../../login/login-token.ts';
import { RoleTable, refBelow } from '../../login/role-table.ts';
import { NO_TEXTS } from '../../login/token-settings.ts';
import { ACCESSORS, ROLE_IDS, ROLES, SECRETS } from './mount-type.ts';

/** Context for the roles and secret IDs of a mount. */
export interface AppRolePorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly mount: Mount;
}

/** Settings of a role, except those of its tokens, in API terms. Times in seconds, 0 for none. */
export const NEW_ROLE = {
  /** Whether a secret ID is required; if false, the role ID alone is sufficient. */
  bind_secret_id: true,
  /** Networks that logins are allowed from, each with a mask. */
  secret_id_bound_cidrs: NO_TEXTS,
  /** Maximum number of logins per secret ID; 0 for unlimited. */
  secret_id_num_uses: 0,
  secret_id_ttl: 0,
  /** Stored for compatibility; can only be set on creation. */
  local_secret_ids: false,
};

export type AppRoleSettings = Readonly<typeof NEW_ROLE>;

export interface AppRole extends LoginRole {
  /** Base64 key that hashes the role's secret IDs: if the role is recreated, older secret IDs are invalid. */
  readonly key: string;
  readonly roleId: string;
  readonly settings: AppRoleSettings;
}

/** Secret ID, stored under its hash; its value is not stored. */
export interface SecretId {
  /** Name of the role. */
  readonly role: string;
  readonly accessor: string;
  readonly meta: Readonly<Record<string, string>>;
  /** Creation time, in milliseconds since the epoch. */
  readonly createdMs: number;
  readonly updatedMs: number;
  readonly expiresMs?: number | undefined;
  /** Time to live in seconds; 0 for one that never expires. */
  readonly ttl: number;
  /** Remaining logins; 0 for unlimited. A used-up one is deleted. */
  readonly uses: number;
  /** Networks that replace the role's, and are within them; empty for none. */
  readonly cidrs: readonly string[];
  readonly tokenCidrs: readonly string[];
}

/** Entry of an accessor. */
export interface AccessorEntry {
  readonly role: string;
  readonly secret: string;
}

export const roleRef = (mount: Mount, name: string): DocumentRef => refBelow(mount, ROLES, name);

/** Reference to the document that maps a role ID to its role. */
export const roleIdRef = (mount: Mount, roleId: string): DocumentRef => refBelow(mount, ROLE_IDS, roleId);

export const secretRef = (mount: Mount, id: string): DocumentRef => refBelow(mount, SECRETS, id);

export const accessorRef = (mount: Mount, accessor: string): DocumentRef =>
  refBelow(mount, ACCESSORS, accessor);

/** Prefix shared by all secret IDs of a role, so that they can be listed together. */
export const secretPrefix = ({ key }: AppRole): string => `${keyed(key, '')}:`;

/** Returns the document ID of a secret ID. */
export const secretDocument = (role: AppRole, secretId: string): string =>
  secretPrefix(role) + keyed(role.key, `secret:${secretId}`);

const keyed = (key: string, text: string): string =>
  createHmac('sha256', Buffer.from(key, 'base64')).update(text).digest('hex');

export const hasEnded = ({ expiresMs }: SecretId, nowMs: number): boolean =>
  expiresMs !== undefined && expiresMs <= nowMs;

export const rolesOf = (room: AppRolePorts): RoleTable<AppRole> => new RoleTable(room, ROLES);

export const findRole = (view: View, mount: Mount, name: string): Promise<AppRole | undefined> =>
  view.get<AppRole>(roleRef(mount, name));

/** Deletes a secret ID together with its accessor. */
export function removeSecret(tx: Transaction, mount: Mount, id: string, { accessor }: SecretId): void {
  tx.delete(secretRef(mount, id));
  tx.delete(accessorRef(mount, accessor));
}
