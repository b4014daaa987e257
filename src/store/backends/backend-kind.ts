import type { Backend, InitialContent } from './backend.ts';

/** Defaults for missing parts of a location, under names that the backend defines. Plain JSON. */
export type Defaults = Readonly<Record<string, string | undefined>>;

/** Store location as the user wrote it, with its defaults. */
export interface Located {
  readonly text: string;
  readonly defaults: Defaults;
}

/** Store location: a directory, or `postgres://…`. Plain JSON. */
export type Location = string | Located;

export interface BackendOptions {
  /** Time to wait for other writers before giving up, in milliseconds. Default: 30,000. */
  readonly lockWaitMs?: number | undefined;
}

export interface CreateOptions {
  /** Whether to continue an earlier attempt with the same header, and to keep the progress on failure. */
  readonly resume?: boolean;
}

/** Result of a migration, as versions of the backend's own schema; 0 if there was none. */
export interface StoreMigration {
  readonly from: number;
  readonly to: number;
}

/** Environment variables of a backend. */
export interface BackendEnvironment {
  /** Place of these stores for help texts; follows "a store in". */
  readonly title: string;
  /** Names of variables and their meaning, for help texts. */
  readonly variables: readonly (readonly [name: string, meaning: string])[];
  /** Variables that contain secrets. Only these stores use them, and only while one is open. */
  readonly secrets: readonly string[];
  /**
   * Reads the defaults from the environment.
   * @param variable returns the value of a variable; undefined if it is not set
   */
  defaults(variable: (name: string) => string | undefined): Defaults;
}

/**
 * Kind of storage backend. This is its static description, loaded by every command to find the backend of a location;
 * the implementation is loaded on use.
 */
export interface BackendKind {
  /** Form of its locations, for help texts. */
  readonly form: string;
  /** Words for the place and the parts of a store, for messages. */
  readonly words: { readonly place: string; readonly parts: string };
  readonly environment?: BackendEnvironment;
  /** Schemes of the URLs that are its locations, in lower case; absent for the paths of directories. */
  readonly schemes?: readonly string[];
  /**
   * Returns a canonical form that is the same for all spellings of a location, as far as that can be determined without
   * accessing it; without a password.
   */
  identity(location: Located): string;
  /** Returns an equivalent location for a process in another directory; absent if it is always the same. */
  lasting?(location: Located): Located;
  /** Returns the directory of the store; absent if the backend has none. */
  directory?(location: Located): string;
  /**
   * Opens the backend.
   * @throws `invalid` for an impossible location
   */
  open(location: Located, options: BackendOptions): Promise<Backend>;
  /**
   * Creates a store atomically.
   * @throws `conflict` if something already exists there; `unavailable` if the disk or the database fails
   */
  create(location: Located, content: InitialContent, options: CreateOptions): Promise<void>;
  /**
   * Fails if `create` would certainly fail there, so that the user is not asked for a secret in vain. Absent if only an
   * attempt shows it.
   */
  requireFree?(location: Located): void | Promise<void>;
  /** Creates the database schema of the stores, or updates it. */
  migrate?(location: Located): Promise<StoreMigration>;
  /** Formats a location for messages, without its password. */
  print(location: Located): Promise<string>;
}
