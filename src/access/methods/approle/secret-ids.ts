import { randomUUID } from 'node:crypto';
import { denied, invalid, notFound, ownWords } from '../../../ground/errors.ts';
import type { Mount } from '../../../mounts/mount.ts';
import { collectionOf } from '../../../mounts/mounts.ts';
import type { ListOptions, View } from '../../../store/store.ts';
import { areWithin, boundNetworks, maskedNetworks } from '../../login/networks.ts';
import { changeBelow } from '../../login/role-table.ts';
import { MAX_TTL_SECONDS } from '../../token.ts';
import {
  type AccessorEntry,
  type AppRole,
  type AppRolePorts,
  accessorRef,
  findRole,
  hasEnded,
  removeSecret,
  type SecretId,
  secretDocument,
  secretPrefix,
  secretRef,
} from './documents.ts';
import { SECRETS } from './mount-type.ts';

/** Settings of a new secret ID; the role's apply if absent. */
interface SecretRequest {
  /** Secret ID chosen by the caller; absent for a random one. */
  readonly secretId?: string | undefined;
  readonly meta: Readonly<Record<string, string>>;
  readonly cidrs: readonly string[];
  readonly tokenCidrs: readonly string[];
  readonly uses?: number | undefined;
  /** Time to live, in seconds. */
  readonly ttl?: number | undefined;
}

/** Reference to a secret ID: its value, or its accessor. */
export type SecretName = { readonly secretId: string } | { readonly accessor: string };

/**
 * Creates a secret ID.
 * @throws `invalid` with Vault's messages
 */
export function makeSecret(room: AppRolePorts, name: string, request: SecretRequest) {
  const { mount, clock } = room;
  return changeBelow(room, async (tx) => {
    const role = await findRole(tx, mount, name);
    if (role === undefined) throw missingRole(name);
    if (!role.settings.bind_secret_id) throw invalid(ownWords('bind_secret_id is not set on the role'));
    const secretId = request.secretId ?? randomUUID();
    const id = secretDocument(role, secretId);
    const now = clock.now();
    const there = await tx.get<SecretId>(secretRef(mount, id));
    if (there !== undefined) {
      if (!hasEnded(there, now))
        throw invalid(ownWords('failed to store secret_id: SecretID is already registered'));
      removeSecret(tx, mount, id, there);
    }
    const ttl = Math.min(ttlOf(role, request.ttl), mount.config?.max_lease_ttl ?? MAX_TTL_SECONDS);
    const secret: SecretId = {
      role: name,
      accessor: randomUUID(),
      meta: request.meta,
      createdMs: now,
      updatedMs: now,
      ttl,
      expiresMs: ttl === 0 ? undefined : now + ttl * 1000,
      uses: usesOf(role, request.uses),
      ...networksOf(role, request),
    };
    tx.put(secretRef(mount, id), secret);
    tx.put(accessorRef(mount, secret.accessor), { role: name, secret: id });
    return { secretId, secret };
  });
}

function usesOf({ settings }: AppRole, wanted: number | undefined): number {
  const most = settings.secret_id_num_uses;
  if (wanted === undefined) return most;
  if (wanted < 0) throw invalid(ownWords('num_uses cannot be negative'), { field: 'num_uses' });
  if (most > 0 && (wanted === 0 || wanted > most)) {
    throw invalid(ownWords("num_uses cannot be higher than the role's secret_id_num_uses"), {
      field: 'num_uses',
    });
  }
  return wanted;
}

function ttlOf({ settings }: AppRole, wanted: number | undefined): number {
  const most = settings.secret_id_ttl;
  if (wanted === undefined) return most;
  if (most > 0 && (wanted === 0 || wanted > most)) {
    throw invalid(ownWords("ttl cannot be longer than the role's secret_id_ttl"), { field: 'ttl' });
  }
  return wanted;
}

function networksOf(role: AppRole, request: SecretRequest): Pick<SecretId, 'cidrs' | 'tokenCidrs'> {
  const cidrs = maskedNetworks(request.cidrs, 'cidr_list');
  checkWithin(cidrs, role.settings.secret_id_bound_cidrs, 'cidr_list');
  const tokenCidrs = boundNetworks(request.tokenCidrs, 'token_bound_cidrs');
  checkWithin(tokenCidrs, role.token.token_bound_cidrs, 'token_bound_cidrs');
  return { cidrs, tokenCidrs };
}

function checkWithin(inner: readonly string[], outer: readonly string[], field: string): void {
  if (outer.length === 0 || areWithin(inner, outer)) return;
  throw invalid(
    `failed to verify subset relationship between CIDR blocks on the role [${outer.join(' ')}] and CIDR blocks on the secret ID [${inner.join(' ')}]`,
    { field },
  );
}

/**
 * Lists the accessors of a role's secret IDs.
 * @throws `invalid` for an unknown role
 */
export function listSecrets(
  { store, mount, clock }: AppRolePorts,
  name: string,
  { after, limit }: ListOptions,
): Promise<readonly string[]> {
  return store.read(async (view) => {
    const role = await findRole(view, mount, name);
    if (role === undefined) throw missingRole(name);
    const accessors: string[] = [];
    for (const id of await secretsOf(view, mount, role)) {
      const secret = await view.get<SecretId>(secretRef(mount, id));
      if (secret !== undefined && !hasEnded(secret, clock.now())) accessors.push(secret.accessor);
    }
    const page = accessors.sort().filter((accessor) => after === undefined || accessor > after);
    return limit === undefined ? page : page.slice(0, limit);
  });
}

async function secretsOf(view: View, mount: Mount, role: AppRole): Promise<readonly string[]> {
  const prefix = secretPrefix(role);
  const ids = await view.list(collectionOf(mount, SECRETS), { after: prefix });
  const end = ids.findIndex((id) => !id.startsWith(prefix));
  return end === -1 ? ids : ids.slice(0, end);
}

/**
 * Looks up a secret ID of a role; undefined if it is unknown, or of another role.
 * @throws `not-found` for an unknown role or accessor
 */
export function lookUpSecret(
  { store, mount, clock }: AppRolePorts,
  name: string,
  named: SecretName,
): Promise<SecretId | undefined> {
  return store.read(async (view) => {
    const found = await find(view, mount, name, named);
    if (found === undefined || found.secret.role !== name || hasEnded(found.secret, clock.now())) {
      return undefined;
    }
    return found.secret;
  });
}

/**
 * Destroys a secret ID; tokens issued for it stay valid. Succeeds if it does not exist.
 * @throws `not-found` for an unknown role or accessor; `denied` for an accessor of another role
 */
export async function destroySecret(
  { store, mount }: AppRolePorts,
  name: string,
  named: SecretName,
): Promise<void> {
  await store.transact(async (tx) => {
    const found = await find(tx, mount, name, named);
    if (found === undefined) return;
    if (found.secret.role !== name)
      throw denied(ownWords('invalid secret id accessor'), { field: 'secret_id_accessor' });
    removeSecret(tx, mount, found.id, found.secret);
  });
}

async function find(
  view: View,
  mount: Mount,
  name: string,
  named: SecretName,
): Promise<{ readonly id: string; readonly secret: SecretId } | undefined> {
  const role = await findRole(view, mount, name);
  if (role === undefined) throw goneRole(name);
  const id =
    'secretId' in named ? secretDocument(role, named.secretId) : await idOf(view, mount, named.accessor);
  const secret = await view.get<SecretId>(secretRef(mount, id));
  return secret === undefined ? undefined : { id, secret };
}

async function idOf(view: View, mount: Mount, accessor: string): Promise<string> {
  const entry = await view.get<AccessorEntry>(accessorRef(mount, accessor));
  if (entry !== undefined) return entry.secret;
  throw notFound(`failed to find accessor entry for secret_id_accessor: "${accessor}"`, {
    field: 'secret_id_accessor',
  });
}

const missingRole = (name: string) => invalid(`role "${name}" does not exist`, { field: 'role_name' });

/**
 * Error for a missing role, marked as gone: clients that manage a secret ID continue if it was deleted with its role.
 */
const goneRole = (name: string) =>
  notFound(`role "${name}" does not exist`, { field: 'role_name', isGone: true });

/** Number of secret IDs checked per transaction. */
const BATCH = 500;

/** Deletes secret IDs that have expired, or whose role is gone. */
export async function tidySecrets(room: AppRolePorts): Promise<void> {
  const { store, mount } = room;
  let after = '';
  for (;;) {
    const ids = await store.read((view) => view.list(collectionOf(mount, SECRETS), { after, limit: BATCH }));
    const last = ids.at(-1);
    if (last === undefined) return;
    if ((await store.read((view) => deadOf(view, room, ids))).length > 0) {
      await store.transact(
        async (tx) => {
          for (const [id, secret] of await deadOf(tx, room, ids)) removeSecret(tx, mount, id, secret);
        },
        { alone: true },
      );
    }
    after = last;
  }
}

async function deadOf(
  view: View,
  { mount, clock }: AppRolePorts,
  ids: readonly string[],
): Promise<readonly (readonly [string, SecretId])[]> {
  const dead: (readonly [string, SecretId])[] = [];
  for (const id of ids) {
    const secret = await view.get<SecretId>(secretRef(mount, id));
    if (secret === undefined) continue;
    const role = await findRole(view, mount, secret.role);
    const isNobodys = role === undefined || !id.startsWith(secretPrefix(role));
    if (isNobodys || hasEnded(secret, clock.now())) dead.push([id, secret]);
  }
  return dead;
}
