import { createHash } from 'node:crypto';
import { CofferError, invalid, notFound } from '../ground/errors.ts';
import type { Random } from '../ground/random.ts';
import type { Store, View } from '../store/store.ts';

/** Which prefix the mount's ciphertexts get, and whether every key type rotates as in Vault. */
export type Dialect = 'service' | 'vault';

/** A place in the API's path space with its own named keys. */
export interface Mount {
  /** Without slashes at the ends, e.g. `transit` or `teams/payments`. */
  readonly path: string;
  readonly dialect: Dialect;
  readonly description: string;
  /** Stable handle in the form that peers use, `transit_1a2b3c4d`. */
  readonly accessor: string;
  /** Names the mount's collections for good, so that a path taken again starts empty. */
  readonly uuid: string;
}

interface MountTable {
  readonly mounts: readonly Mount[];
}

const TABLE = { collection: 'sys', id: 'mounts' } as const;
export const DEFAULT_MOUNT = 'transit';
export const MAX_MOUNT_PATH_LENGTH = 512;
const SEGMENT = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?$/;
/** Other parts of the API, and in policies the paths of the tags API, which start with `api/v2/`. */
const RESERVED_FIRST_SEGMENTS = new Set(['sys', 'auth', 'identity', 'cubbyhole', 'api']);

/** The mounts of a store. A fresh store has one, `transit`. */
export class Mounts {
  readonly #store: Store;
  readonly #random: Random;
  readonly #default: readonly Mount[];

  constructor(store: Store, random: Random) {
    this.#store = store;
    this.#random = random;
    this.#default = [defaultMount(store.id)];
  }

  /** Every mount, sorted by path. */
  async list(): Promise<readonly Mount[]> {
    return this.#store.read((view) => this.#table(view));
  }

  /** @throws `not-found` when nothing is mounted at `path`. */
  async get(path: string): Promise<Mount> {
    const wanted = trimSlashes(path);
    const mount = (await this.list()).find((candidate) => candidate.path === wanted);
    if (mount === undefined) {
      throw notFound(`no handler for route "${wanted}". route entry not found.`, {
        field: 'mount',
        hint: 'list the mounts with "coffer mounts list"',
      });
    }
    return mount;
  }

  /**
   * Adds a mount.
   * @throws `invalid` for an impossible path, `conflict` when it is taken, or lies above or below a taken one.
   */
  async add(path: string, options: { dialect?: Dialect; description?: string } = {}): Promise<Mount> {
    const mount: Mount = {
      path: checkedPath(path),
      dialect: options.dialect ?? 'service',
      description: options.description ?? '',
      accessor: `transit_${this.#random.bytes(4).toString('hex')}`,
      uuid: uuidFrom(this.#random.bytes(16)),
    };
    await this.#store.transact(async (tx) => {
      const mounts = await this.#table(tx);
      const clash = mounts.find((other) => overlaps(other.path, mount.path));
      if (clash !== undefined) {
        throw new CofferError('conflict', `path is already in use at ${clash.path}/`, {
          field: 'path',
          hint: 'choose a path that is neither above nor below another mount',
        });
      }
      tx.put(TABLE, { mounts: [...mounts, mount].sort(byPath) });
    });
    return mount;
  }

  /** Changes a mount's description or dialect. @throws `not-found`. */
  async tune(path: string, change: { dialect?: Dialect; description?: string }): Promise<void> {
    const wanted = trimSlashes(path);
    await this.#store.transact(async (tx) => {
      const mounts = await this.#table(tx);
      if (!mounts.some((mount) => mount.path === wanted)) throw noMount(wanted);
      tx.put(TABLE, {
        mounts: mounts.map((mount) => (mount.path === wanted ? { ...mount, ...change } : mount)),
      });
    });
  }

  /**
   * Removes a mount and every key in it, in one change. A path that is not mounted is no error, as with peers.
   * @returns whether there was one.
   */
  async remove(path: string): Promise<boolean> {
    const wanted = trimSlashes(path);
    return this.#store.transact(async (tx) => {
      const mounts = await this.#table(tx);
      const mount = mounts.find((candidate) => candidate.path === wanted);
      if (mount === undefined) return false;
      tx.put(TABLE, { mounts: mounts.filter((candidate) => candidate !== mount) });
      for (const collection of collectionsOf(mount)) {
        for (const id of await tx.list(collection)) tx.delete({ collection, id });
      }
      return true;
    });
  }

  async #table(view: View): Promise<readonly Mount[]> {
    const table = await view.get<MountTable>(TABLE);
    return table?.mounts ?? this.#default;
  }
}

/** The collections in which a mount keeps its data. */
export const keysCollection = (mount: Mount): string => `transit/${mount.uuid}/keys`;
export const configCollection = (mount: Mount): string => `transit/${mount.uuid}/config`;
const collectionsOf = (mount: Mount): readonly string[] => [keysCollection(mount), configCollection(mount)];

/** What a store has before any mount was added: nothing needs to be written for it. */
function defaultMount(storeId: string): Mount {
  const seed = createHash('sha256').update(`default mount of ${storeId}`).digest();
  return {
    path: DEFAULT_MOUNT,
    dialect: 'service',
    description: '',
    accessor: `transit_${seed.toString('hex', 16, 20)}`,
    uuid: uuidFrom(seed.subarray(0, 16)),
  };
}

const trimSlashes = (path: string): string => path.replace(/^\/+|\/+$/g, '');

const isLegal = (path: string): boolean =>
  path.length <= MAX_MOUNT_PATH_LENGTH && path.split('/').every((segment) => SEGMENT.test(segment));

const isReserved = (path: string): boolean => RESERVED_FIRST_SEGMENTS.has(path.split('/')[0] ?? '');

/** Whether a mount can be at a path, without slashes at its ends; whether there is one is another question. */
export const isMountPath = (path: string): boolean => isLegal(path) && !isReserved(path);

function checkedPath(path: string): string {
  const trimmed = trimSlashes(path);
  if (!isLegal(trimmed)) {
    throw invalid(`mount path ${JSON.stringify(path)} is not allowed`, {
      field: 'path',
      hint: 'use segments of letters, digits, "_", "-" and "." with "/" between them',
    });
  }
  if (isReserved(trimmed)) {
    throw invalid(`cannot mount under the reserved path "${trimmed.split('/')[0]}/"`, { field: 'path' });
  }
  return trimmed;
}

const overlaps = (a: string, b: string): boolean =>
  `${a}/`.startsWith(`${b}/`) || `${b}/`.startsWith(`${a}/`);

const byPath = (a: Mount, b: Mount): number => (a.path < b.path ? -1 : 1);

const noMount = (path: string): CofferError =>
  notFound(`No secret engine mount at ${path}/`, {
    field: 'path',
    hint: 'list the mounts with "coffer mounts list"',
  });

/** The text form of 16 bytes as a random (version 4) UUID, RFC 9562. */
function uuidFrom(bytes: Uint8Array): string {
  const copy = Buffer.from(bytes);
  copy.writeUInt8((copy.readUInt8(6) & 0x0f) | 0x40, 6);
  copy.writeUInt8((copy.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = copy.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
