/** Mount table: maps paths of the API to engines and login methods. */

import { createHash } from 'node:crypto';
import { alternatives } from '../ground/alternatives.ts';
import { type CofferError, exists, invalid, notFound, ownWords, unsupported } from '../ground/errors.ts';
import { type Random, uuidFrom } from '../ground/random.ts';
import { trimSlashes } from '../ground/trim.ts';
import type { Store, Transaction, View } from '../store/store.ts';
import { type MountMigration, migrationIn, noteMigration } from './migrations.ts';
import type { Mount, MountOptions, MountSettings, MountTraits, MountType } from './mount.ts';
import { checkedPath, DEFAULT_MOUNT, LOGIN_PREFIX, overlaps } from './paths.ts';
import { clearRemoved, noteRemoved } from './removed-mounts.ts';

const TRANSIT = 'transit';
const TOKEN = 'token';
/** Table of transit mounts, in its original form, because earlier releases read and change it. */
const TRANSIT_TABLE = { collection: 'sys', id: 'mounts' } as const;
/** Table of all other mounts; earlier releases neither see nor lose it. */
const TABLE = { collection: 'sys', id: 'typed-mounts' } as const;

interface MountTable<M> {
  readonly mounts: readonly M[];
  /** Defaults for all mounts of the type. */
  readonly defaults?: MountOptions | undefined;
}

/** Row that earlier releases can read: they only know `dialect`. */
type TransitRow = Omit<Mount, 'type' | 'options'> & { readonly dialect: string } & Partial<Mount>;

/** Mounts of a store. A new store has `transit` and, like every store, `auth/token`. */
export class Mounts {
  readonly #store: Store;
  readonly #random: Random;
  readonly #types: readonly MountType[];
  /** Made of documents that are still the same. */
  #known:
    | {
        readonly transit: MountTable<TransitRow> | undefined;
        readonly others: MountTable<Mount> | undefined;
        readonly mounts: readonly Mount[];
      }
    | undefined;

  constructor(store: Store, random: Random, types: readonly MountType[]) {
    this.#store = store;
    this.#random = random;
    this.#types = types;
  }

  /** Lists every mount, or those that have the operations of one type, sorted by path. */
  async list(type?: string): Promise<readonly Mount[]> {
    const mounts = await this.#store.read((view) => this.#table(view));
    return type === undefined ? mounts : mounts.filter((mount) => this.#operationsOf(mount) === type);
  }

  #operationsOf({ type }: Mount): string {
    return this.#types.find(({ name }) => name === type)?.operationsOf ?? type;
  }

  /** Finds the mount at `path`, of the type if given; undefined if there is none. */
  async find(path: string, type?: string): Promise<Mount | undefined> {
    const wanted = trimSlashes(path);
    return (await this.list(type)).find((candidate) => candidate.path === wanted);
  }

  /**
   * Finds a mount.
   * @throws `not-found` if nothing, or nothing of that type, is mounted at `path`
   */
  async get(path: string, type?: string): Promise<Mount> {
    const mount = await this.find(path, type);
    if (mount === undefined) throw noHandler(trimSlashes(path), type);
    return mount;
  }

  /**
   * Adds a mount.
   * @throws `invalid` for an unknown type or an impossible path; `exists` if the path is taken, or is above or below a
   * taken one
   */
  async add(
    type: string,
    path: string,
    {
      description = '',
      options = {},
      config,
      traits,
    }: MountSettings & { readonly traits?: MountTraits | undefined } = {},
  ): Promise<Mount> {
    const { isLogin } = this.#typeFor(type, path);
    const mount: Mount = {
      type,
      path: checkedPath(path, isLogin === true),
      description,
      options: withoutEmpty(options),
      config,
      traits,
      ...handles(isLogin ? `auth_${type}` : type, this.#random.bytes(SEED_BYTES)),
    };
    await this.#store.transact(async (tx) => {
      const mounts = await this.#table(tx);
      const clash = mounts.find((other) => overlaps(other.path, mount.path));
      if (clash !== undefined) {
        throw exists(`path is already in use at ${isLogin ? relativePath(clash) : clash.path}/`, {
          field: 'path',
          hint:
            clash.path === mount.path
              ? `${clash.type} is already enabled there: use it, or choose another path`
              : NESTED,
        });
      }
      await write(tx, type, [...mounts, mount]);
    });
    return mount;
  }

  /**
   * Changes a mount's description, settings, or given options.
   * @param decide returns the changes for the current mount; may run again
   * @throws `not-found`, and errors of `decide`
   */
  async tune(path: string, decide: (mount: Mount) => MountSettings): Promise<void> {
    const wanted = trimSlashes(path);
    await this.#store.transact(async (tx) => {
      const mounts = await this.#table(tx);
      const mount = mounts.find((candidate) => candidate.path === wanted);
      if (mount === undefined) throw noMount(wanted);
      if (mount.type === TOKEN) throw unsupported(ownWords('the login method "token" has no settings'));
      const { description = mount.description, config = mount.config, options } = decide(mount);
      await replace(tx, mounts, mount, {
        ...mount,
        description,
        config,
        options: withoutEmpty({ ...mount.options, ...options }),
      });
    });
  }

  /** Sets the default options of all transit mounts, including future ones. */
  async setDefaults(defaults: MountOptions): Promise<void> {
    await this.#store.transact(async (tx) => {
      const rows = (await this.#table(tx)).filter(({ type }) => type === TRANSIT);
      tx.put(TRANSIT_TABLE, transitTable(rows, defaults));
    });
  }

  /**
   * Moves a mount with all its data. Policies are not changed: they name paths. The tokens of a login method become
   * invalid, because their path, by which they are revoked, is the old one.
   * @throws `invalid` for a missing or built-in mount, and for a path that is impossible or taken
   */
  async move(from: string, to: string): Promise<MountMigration> {
    const source = trimSlashes(from);
    const target = trimSlashes(to);
    return this.#store.transact(async (tx) => {
      const mounts = await this.#table(tx);
      const mount = mounts.find(({ path }) => path === source);
      if (mount === undefined) throw invalid(`no matching mount at "${source}/"`, { field: 'from' });
      if (mount.type === TOKEN) throw invalid(`cannot remount "${source}/"`, { field: 'from' });
      const isLogin = isLoginMount(mount);
      if (isLogin && !target.startsWith(LOGIN_PREFIX)) {
        throw invalid(`login methods cannot be mounted at "${target}/"`, {
          field: 'to',
          hint: `use a path below ${LOGIN_PREFIX}`,
        });
      }
      const path = checkedPath(target, isLogin);
      const clash = mounts.find((other) => overlaps(other.path, path));
      if (clash !== undefined) {
        const hint = clash.path === path ? 'choose another path' : NESTED;
        throw invalid(`path in use at "${path}/"`, { field: 'to', hint });
      }
      const migration = { id: uuidFrom(this.#random.bytes(16)), from: source, to: path };
      await replace(tx, mounts, mount, { ...mount, path, moved: isLogin ? migration.id : undefined });
      await noteMigration(tx, migration);
      return migration;
    });
  }

  /**
   * Finds one of the latest moves.
   * @throws `not-found`
   */
  migration(id: string): Promise<MountMigration> {
    return this.#store.read((view) => migrationIn(view, id));
  }

  /**
   * Removes a mount and all its data; the tokens of a login method become invalid. An engine is deleted with its data
   * in one transaction. A login method is removed in one transaction as well, and its data, which may be large, is
   * deleted afterwards: it is no longer accessible. Succeeds if nothing is mounted there, as in Vault. The built-in
   * mount stays.
   * @returns whether there was one
   * @throws `unsupported` for a type that only a later release knows
   */
  async remove(path: string): Promise<boolean> {
    const wanted = trimSlashes(path);
    const removed = await this.#store.transact(
      async (tx) => {
        const mounts = await this.#table(tx);
        const mount = mounts.find((candidate) => candidate.path === wanted);
        if (mount === undefined || mount.type === TOKEN) return undefined;
        const type = this.#types.find(({ name }) => name === mount.type);
        if (type === undefined)
          throw unsupported(`this version of Coffer does not support mounts of type ${mount.type}`);
        await replace(tx, mounts, mount);
        const collections = type.collections.map((name) => collectionOf(mount, name));
        if (type.isLogin) await noteRemoved(tx, collections);
        else {
          for (const collection of collections) {
            for (const id of await tx.list(collection)) tx.delete({ collection, id });
          }
        }
        return mount;
      },
      { alone: true },
    );
    if (removed !== undefined && isLoginMount(removed)) await this.sweep();
    return removed !== undefined;
  }

  /**
   * Deletes data of removed login methods. Servers call it periodically, in case a process was killed during a removal.
   */
  sweep(): Promise<void> {
    return clearRemoved(this.#store);
  }

  async #table(view: View): Promise<readonly Mount[]> {
    const transit = await view.get<MountTable<TransitRow>>(TRANSIT_TABLE);
    const others = await view.get<MountTable<Mount>>(TABLE);
    const known = this.#known;
    if (known !== undefined && known.transit === transit && known.others === others) return known.mounts;
    const { id } = this.#store;
    const mounts = [
      tokenMount(id),
      ...(transit === undefined ? [firstMount(id)] : transitMounts(transit)),
      ...(others?.mounts ?? []),
    ].sort(byPath);
    this.#known = { transit, others, mounts };
    return mounts;
  }

  #typeFor(type: string, path: string): MountType {
    const isLoginPath = trimSlashes(path).startsWith(LOGIN_PREFIX);
    const types = this.#types.filter(({ isLogin }) => isLoginPath || !isLogin);
    const found = types.find(({ name }) => name === type);
    if (found !== undefined) return found;
    throw invalid(`plugin not found in the catalog: ${type}`, {
      field: 'type',
      hint: `use ${alternatives(types.map(({ name }) => `"${name}"`))}`,
    });
  }
}

/** Returns the full name of a mount's collection. */
export const collectionOf = ({ type, uuid }: Mount, name: string): string => `${type}/${uuid}/${name}`;

export const isLoginMount = ({ path }: Mount): boolean => path.startsWith(LOGIN_PREFIX);

/** Returns the path of a login method as in `sys/auth`. */
export const relativePath = ({ path }: Mount): string =>
  path.startsWith(LOGIN_PREFIX) ? path.slice(LOGIN_PREFIX.length) : path;

/**
 * Finds a login method; undefined once it was removed.
 * @param uuid UUID of the mount, which does not change when it is moved
 */
export async function loginMount(view: View, uuid: string): Promise<Mount | undefined> {
  const table = await view.get<MountTable<Mount>>(TABLE);
  return table?.mounts.find((mount) => mount.uuid === uuid);
}

/**
 * Requires that a login method still exists.
 * @throws `not-found`
 */
export async function requireLoginMount(view: View, { uuid, path }: Mount): Promise<void> {
  if ((await loginMount(view, uuid)) === undefined) throw noHandler(path);
}

/** Advice for a path above or below that of another mount. */
const NESTED = 'a mount cannot be inside another one: choose another path';

/**
 * Returns the error for a path at which nothing is mounted.
 * @param type login method that was expected there
 */
const noHandler = (path: string, type?: string): CofferError =>
  notFound(`no handler for route "${path}". route entry not found.`, {
    field: 'mount',
    hint: path.startsWith(LOGIN_PREFIX) ? loginHint(path, type) : 'list the mounts with "coffer mounts list"',
  });

function loginHint(path: string, type: string | undefined): string {
  if (type === undefined) return 'list the login methods with "coffer auth list"';
  const name = path.slice(LOGIN_PREFIX.length);
  const where = name === type ? '' : ` --path ${name}`;
  return `enable it with "coffer auth enable ${type}${where}"`;
}

/** Converts the rows of transit; a dialect that differs from the default was set, possibly by an earlier release. */
function transitMounts({ mounts, defaults }: MountTable<TransitRow>): readonly Mount[] {
  const usual = usualDialect(defaults);
  return mounts.map(({ dialect, options = {}, ...row }): Mount => {
    const isSet = options['dialect'] !== undefined || dialect !== usual;
    return {
      ...row,
      type: TRANSIT,
      options: isSet ? { ...options, dialect } : options,
      defaults,
    };
  });
}

const transitTable = (
  mounts: readonly Mount[],
  defaults: MountOptions | undefined,
): MountTable<TransitRow> => ({
  mounts: mounts.map(({ defaults: _defaults, ...mount }) => {
    return { ...mount, dialect: mount.options['dialect'] ?? usualDialect(defaults) };
  }),
  defaults,
});

const withoutEmpty = (options: MountOptions): MountOptions =>
  Object.fromEntries(Object.entries(options).filter(([, text]) => text !== ''));

const usualDialect = (defaults: MountOptions | undefined): string => defaults?.['dialect'] ?? 'service';

/** Writes the mounts with another in the place of one, or without it. */
const replace = (
  tx: Transaction,
  mounts: readonly Mount[],
  mount: Mount,
  ...now: readonly Mount[]
): Promise<void> =>
  write(
    tx,
    mount.type,
    mounts.flatMap((other) => (other === mount ? now : other)),
  );

/** Writes the changed table: that of the transit mounts, or the other one. */
async function write(tx: Transaction, changed: string, mounts: readonly Mount[]): Promise<void> {
  const sorted = mounts.toSorted(byPath);
  if (changed === TRANSIT) {
    const { defaults } = (await tx.get<MountTable<TransitRow>>(TRANSIT_TABLE)) ?? {};
    tx.put(
      TRANSIT_TABLE,
      transitTable(
        sorted.filter(({ type }) => type === TRANSIT),
        defaults,
      ),
    );
  } else tx.put(TABLE, { mounts: sorted.filter(({ type }) => type !== TRANSIT && type !== TOKEN) });
}

/** Returns the mount of a store before any was added: it need not be stored. */
const firstMount = (storeId: string): Mount => ({
  type: TRANSIT,
  path: DEFAULT_MOUNT,
  description: '',
  ...builtIn(TRANSIT, `default mount of ${storeId}`),
});

/** Returns the token mount of every store: its operations have their own paths, outside of all mounts. */
const tokenMount = (storeId: string): Mount => ({
  type: TOKEN,
  path: `${LOGIN_PREFIX}${TOKEN}`,
  description: 'token based credentials',
  ...builtIn(`auth_${TOKEN}`, `token mount of ${storeId}`),
});

const builtIn = (prefix: string, name: string) => ({
  options: {},
  ...handles(prefix, createHash('sha256').update(name).digest()),
});

const SEED_BYTES = 20;

const handles = (prefix: string, seed: Buffer): Pick<Mount, 'accessor' | 'uuid'> => ({
  accessor: `${prefix}_${seed.toString('hex', 16, SEED_BYTES)}`,
  uuid: uuidFrom(seed.subarray(0, 16)),
});

const byPath = (a: Mount, b: Mount): number => (a.path < b.path ? -1 : 1);

const noMount = (path: string): CofferError =>
  notFound(`No secret engine mount at ${path}/`, {
    field: 'path',
    hint: 'list the mounts with "coffer mounts list"',
  });
