import type { Backend, InitialContent } from './backend.ts';

/** What a location leaves out, by names of its backend's own. Plain JSON. */
export type Defaults = Readonly<Record<string, string | undefined>>;

/** Where a store is, as people write it, with what is known beside that. */
export interface Located {
  readonly text: string;
  readonly defaults: Defaults;
}

/** Where a store is: a directory, or `postgres://…`. Plain JSON. */
export type Location = string | Located;

export interface BackendOptions {
  /** Milliseconds to wait for other writers before giving up; 30,000 by default. */
  readonly lockWaitMs?: number;
}

export interface CreateOptions {
  /** Goes on from what an earlier attempt with the same header left, and leaves what it has done when it fails. */
  readonly resume?: boolean;
}

/** What a migration did, as versions of the backend's own schema; 0 stands for none. */
export interface Migration {
  readonly from: number;
  readonly to: number;
}

/** What the variables of the environment have to do with the stores of a backend. */
export interface BackendEnvironment {
  /** Where these stores are, for people: what follows "a store in". */
  readonly title: string;
  /** Names of variables and what they hold, for people. */
  readonly variables: readonly (readonly [name: string, meaning: string])[];
  /** Variables that hold secrets; only these stores have any use for them, and for as long as one is open. */
  readonly secrets: readonly string[];
  /** @param variable the value of a variable; undefined when it is not set. */
  defaults(variable: (name: string) => string | undefined): Defaults;
}

/**
 * One kind of place where stores are kept; all that others know of it. Every command loads it to learn whose a location is, so what
 * it does is loaded when it is done.
 */
export interface BackendKind {
  /** How its locations look, for people. */
  readonly form: string;
  /** What a store lies in and what it consists of, for people. */
  readonly words: { readonly place: string; readonly parts: string };
  readonly environment?: BackendEnvironment;
  matches(text: string): boolean;
  /** The same for all ways to write one location, as far as that can be told without a look at it; without a password. */
  identity(location: Located): string;
  /** The same location for a process in another directory; absent where it is the same anyway. */
  lasting?(location: Located): Located;
  /** The directory of the store; absent where it lies in none. */
  directory?(location: Located): string;
  /** @throws `invalid` for an impossible location. */
  open(location: Located, options: BackendOptions): Promise<Backend>;
  /**
   * Makes a store. It exists whole or not at all.
   * @throws `conflict` when something is there already; `unavailable` when the disk or the database refuses.
   */
  create(location: Located, content: InitialContent, options: CreateOptions): Promise<void>;
  /** Brings what holds the stores up to date, or makes it. */
  migrate?(location: Located): Promise<Migration>;
  /** A location for messages: without a password. */
  print(location: Located): Promise<string>;
}
