/** What a mount of AppRole keeps. */

import { createHmac } from 'node:crypto';
import type { Clock } from '../../../ground/clock.ts';
import type { Random } from '../../../ground/random.ts';
import type { Mount } from '../../../mounts/mount.ts';
import { collectionOf } from '../../../mounts/mounts.ts';
import type { DocumentRef, Store, Transaction, View } from '../../../store/store.ts';
import type { LoginRole } from '../../login/login-token.ts';
import { RoleTable } from '../../login/role-table.ts';
import { ACCESSORS, ROLE_IDS, ROLES, SECRETS } from './mount-type.ts';

/** Where a mount's roles and secret IDs are worked on. */
export interface Room {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly mount: Mount;
}

/** A role, but for its tokens in the words of the API. Times in seconds, 0 for none. */
export interface RoleSettings {
  /** False: the role ID alone lets in. */
  readonly bind_secret_id: boolean;
  /** Networks of logins, each with its mask. */
  readonly secret_id_bound_cidrs: readonly string[];
  /** Logins by one secret ID; 0 for any number. */
  readonly secret_id_num_uses: number;
  readonly secret_id_ttl: number;
  /** Kept for clients that compare; can be chosen once. */
  readonly local_secret_ids: boolean;
}

export interface Role extends LoginRole {
  /** Base64. What its secret IDs are hashed with: when the role is made anew, older ones are nobody's. */
  readonly key: string;
  readonly roleId: string;
  readonly settings: RoleSettings;
}

/** A secret ID under its hash; itself it is nowhere. */
export interface SecretId {
  /** The name of the role. */
  readonly role: string;
  readonly accessor: string;
  readonly meta: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch. */
  readonly createdMs: number;
  readonly updatedMs: number;
  readonly expiresMs?: number;
  /** Seconds; 0 for one that never ends. */
  readonly ttl: number;
  /** Logins left; 0 for any number. A used-up one is deleted. */
  readonly uses: number;
  /** In place of the role's, within them; empty for none of its own. */
  readonly cidrs: readonly string[];
  readonly tokenCidrs: readonly string[];
}

/** What an accessor names. */
export interface AccessorEntry {
  readonly role: string;
  readonly secret: string;
}

export const roleRef = (mount: Mount, name: string): DocumentRef => ({
  collection: collectionOf(mount, ROLES),
  id: name,
});

/** Of the document that says the name of the role. */
export const roleIdRef = (mount: Mount, roleId: string): DocumentRef => ({
  collection: collectionOf(mount, ROLE_IDS),
  id: roleId,
});

export const secretRef = (mount: Mount, id: string): DocumentRef => ({
  collection: collectionOf(mount, SECRETS),
  id,
});

export const accessorRef = (mount: Mount, accessor: string): DocumentRef => ({
  collection: collectionOf(mount, ACCESSORS),
  id: accessor,
});

/** All secret IDs of a role begin alike, so that they are listed together. */
export const secretPrefix = ({ key }: Role): string => `${keyed(key, '')}:`;

/** Under which a secret ID of a role is kept. */
export const secretDocument = (role: Role, secretId: string): string =>
  secretPrefix(role) + keyed(role.key, `secret:${secretId}`);

const keyed = (key: string, text: string): string =>
  createHmac('sha256', Buffer.from(key, 'base64')).update(text).digest('hex');

export const hasEnded = ({ expiresMs }: SecretId, nowMs: number): boolean =>
  expiresMs !== undefined && expiresMs <= nowMs;

export const rolesOf = (room: Room): RoleTable<Role> => new RoleTable(room, ROLES);

export const findRole = (view: View, mount: Mount, name: string): Promise<Role | undefined> =>
  view.get<Role>(roleRef(mount, name));

/** A secret ID and its accessor go together. */
export function removeSecret(tx: Transaction, mount: Mount, id: string, { accessor }: SecretId): void {
  tx.delete(secretRef(mount, id));
  tx.delete(accessorRef(mount, accessor));
}
