/** The table of mounts: which engine or login method answers below which path of the API. */

import { createHash } from 'node:crypto';
import { CofferError, invalid, notFound, unsupported } from '../ground/errors.ts';
import type { Random } from '../ground/random.ts';
import type { Store, Transaction, View } from '../store/store.ts';
import { DEFAULT_MOUNT, isLegal, isReserved, LOGIN_PREFIX, trimSlashes } from './paths.ts';

/** What this room must know of an engine or a login method; the room of the engine or method says it. */
export interface MountType {
  /** As the API calls it, e.g. `transit`. */
  readonly name: string;
  /** Login methods are mounted below `auth/`, engines anywhere else. */
  readonly isLogin?: true;
  /** What a mount keeps its data in, in the words of `collectionOf`; all of it goes with the mount. */
  readonly collections: readonly string[];
}

/** A place in the API's path space where one engine or login method answers, with data of its own. */
export interface Mount {
  /** The name of its `MountType`. */
  readonly type: string;
  /** Without slashes at the ends, e.g. `transit`, `teams/payments` or `auth/approle`. */
  readonly path: string;
  readonly description: string;
  /** Stable handle in the form that peers use, `transit_1a2b3c4d`. */
  readonly accessor: string;
  /** Names the mount's collections for good, so that a path taken again starts empty. */
  readonly uuid: string;
  /** What its type lets people set, e.g. the dialect of transit. */
  readonly options: Readonly<Record<string, string>>;
}

/** What can be chosen for a mount, and changed later. */
export interface MountSettings {
  readonly description?: string;
  readonly options?: Readonly<Record<string, string>>;
}

const TRANSIT = 'transit';
const TOKEN = 'token';
/** Mounts of transit are written as they were when there were no others, because earlier releases read and change them. */
const TRANSIT_TABLE = { collection: 'sys', id: 'mounts' } as const;
/** All others; earlier releases neither see nor lose them. */
const TABLE = { collection: 'sys', id: 'typed-mounts' } as const;

interface Table<M> {
  readonly mounts: readonly M[];
}

type TransitRow = Omit<Mount, 'type' | 'options'> & { readonly dialect: string } & Partial<Mount>;

/** The mounts of a store. A fresh store has `transit` and, as every store, `auth/token`. */
export class Mounts {
  readonly #store: Store;
  readonly #random: Random;
  readonly #types: readonly MountType[];

  constructor(store: Store, random: Random, types: readonly MountType[]) {
    this.#store = store;
    this.#random = random;
    this.#types = types;
  }

  /** Every mount, or those of one type, sorted by path. */
  async list(type?: string): Promise<readonly Mount[]> {
    const mounts = await this.#store.read((view) => this.#table(view));
    return type === undefined ? mounts : mounts.filter((mount) => mount.type === type);
  }

  /** @throws `not-found` when nothing, or nothing of that type, is mounted at `path`. */
  async get(path: string, type?: string): Promise<Mount> {
    const wanted = trimSlashes(path);
    const mount = (await this.list(type)).find((candidate) => candidate.path === wanted);
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
   * @throws `invalid` for an unknown type or an impossible path, `conflict` when the path is taken, or lies above or below a
   *   taken one.
   */
  async add(
    type: string,
    path: string,
    { description = '', options = {} }: MountSettings = {},
  ): Promise<Mount> {
    const { isLogin } = this.#typeFor(type, path);
    const mount: Mount = {
      type,
      path: checkedPath(path, isLogin === true),
      description,
      options,
      ...handles(isLogin ? `auth_${type}` : type, this.#random.bytes(SEED_BYTES)),
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
      write(tx, type, [...mounts, mount]);
    });
    return mount;
  }

  /** Changes a mount's description, or those of its options that are given. @throws `not-found`. */
  async tune(path: string, change: MountSettings): Promise<void> {
    const wanted = trimSlashes(path);
    await this.#store.transact(async (tx) => {
      const mounts = await this.#table(tx);
      const mount = mounts.find((candidate) => candidate.path === wanted);
      if (mount === undefined) throw noMount(wanted);
      const changed = { ...mount, ...change, options: { ...mount.options, ...change.options } };
      write(
        tx,
        mount.type,
        mounts.map((other) => (other === mount ? changed : other)),
      );
    });
  }

  /**
   * Removes a mount and all its data, in one change. A path that is not mounted is no error, as with peers.
   * @returns whether there was one. The built-in one stays.
   * @throws `unsupported` for a type that only a later release knows.
   */
  async remove(path: string): Promise<boolean> {
    const wanted = trimSlashes(path);
    return this.#store.transact(async (tx) => {
      const mounts = await this.#table(tx);
      const mount = mounts.find((candidate) => candidate.path === wanted);
      if (mount === undefined || mount.type === TOKEN) return false;
      const type = this.#types.find(({ name }) => name === mount.type);
      if (type === undefined) throw unsupported(`mounts of type ${mount.type} are not known here`);
      write(
        tx,
        mount.type,
        mounts.filter((candidate) => candidate !== mount),
      );
      for (const name of type.collections) {
        const collection = collectionOf(mount, name);
        for (const id of await tx.list(collection)) tx.delete({ collection, id });
      }
      return true;
    });
  }

  async #table(view: View): Promise<readonly Mount[]> {
    const transit = await view.get<Table<TransitRow>>(TRANSIT_TABLE);
    const others = await view.get<Table<Mount>>(TABLE);
    const { id } = this.#store;
    return [
      tokenMount(id),
      ...(transit?.mounts.map(fromRow) ?? [firstMount(id)]),
      ...(others?.mounts ?? []),
    ].sort(byPath);
  }

  #typeFor(type: string, path: string): MountType {
    const isLoginPath = trimSlashes(path).startsWith(LOGIN_PREFIX);
    const types = this.#types.filter(({ isLogin }) => isLoginPath || !isLogin);
    const found = types.find(({ name }) => name === type);
    if (found !== undefined) return found;
    throw invalid(`plugin not found in the catalog: ${type}`, {
      field: 'type',
      hint: `use ${types.map(({ name }) => `"${name}"`).join(' or ')}`,
    });
  }
}

/** The full name of one of a mount's collections. */
export const collectionOf = ({ type, uuid }: Mount, name: string): string => `${type}/${uuid}/${name}`;

export const isLoginMount = ({ path }: Mount): boolean => path.startsWith(LOGIN_PREFIX);

const fromRow = ({ dialect, ...row }: TransitRow): Mount => ({
  ...row,
  type: TRANSIT,
  options: { ...row.options, dialect },
});

/** Writes what changed: the mounts of transit, or all others. */
function write(tx: Transaction, changed: string, mounts: readonly Mount[]): void {
  const sorted = mounts.toSorted(byPath);
  if (changed === TRANSIT) {
    const rows = sorted.filter(({ type }) => type === TRANSIT);
    tx.put(TRANSIT_TABLE, {
      mounts: rows.map((mount): TransitRow => ({ ...mount, dialect: mount.options['dialect'] ?? 'service' })),
    });
  } else tx.put(TABLE, { mounts: sorted.filter(({ type }) => type !== TRANSIT && type !== TOKEN) });
}

/** What a store has before any mount was added: nothing needs to be written for it. */
const firstMount = (storeId: string): Mount => ({
  type: TRANSIT,
  path: DEFAULT_MOUNT,
  description: '',
  options: { dialect: 'service' },
  ...handles(TRANSIT, createHash('sha256').update(`default mount of ${storeId}`).digest()),
});

/** Every store has it for good: its operations have paths of their own, and a place in no mount. */
const tokenMount = (storeId: string): Mount => ({
  type: TOKEN,
  path: `${LOGIN_PREFIX}${TOKEN}`,
  description: 'token based credentials',
  options: {},
  ...handles(`auth_${TOKEN}`, createHash('sha256').update(`token mount of ${storeId}`).digest()),
});

const SEED_BYTES = 20;

const handles = (prefix: string, seed: Buffer): Pick<Mount, 'accessor' | 'uuid'> => ({
  accessor: `${prefix}_${seed.toString('hex', 16, SEED_BYTES)}`,
  uuid: uuidFrom(seed.subarray(0, 16)),
});

function checkedPath(path: string, isLogin: boolean): string {
  const trimmed = trimSlashes(path);
  if (!isLegal(trimmed)) {
    throw invalid(`mount path ${JSON.stringify(path)} is not allowed`, {
      field: 'path',
      hint: 'use segments of letters, digits, "_", "-" and "." with "/" between them',
    });
  }
  if (isReserved(trimmed) && !isLogin) {
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
