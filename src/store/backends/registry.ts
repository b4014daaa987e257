/** Registry of backends, matched by location. A new backend is a folder of its own and one line here. */
import type { Backend, InitialContent } from './backend.ts';
import type {
  BackendEnvironment,
  BackendKind,
  BackendOptions,
  CreateOptions,
  Located,
  Location,
  StoreMigration,
} from './backend-kind.ts';
import { files } from './files/files.ts';
import { postgres } from './postgres/postgres.ts';

/** The last kind that matches a location is used: the first one matches everything. */
const KINDS: readonly [BackendKind, ...BackendKind[]] = [files, postgres];

const kindOf = (text: string): BackendKind => KINDS.findLast((kind) => kind.matches(text)) ?? KINDS[0];

/** Normalizes a location to an object. */
export const located = (location: Location): Located =>
  typeof location === 'string' ? { text: location, defaults: {} } : location;

/** Forms of locations, for help texts: "directory, or postgres://…". */
export const locationForms = KINDS.map(({ form }) => form).join(', or ');

/** Returns the environment variables of all backends, for help texts. */
export const backendEnvironments = (): readonly BackendEnvironment[] =>
  KINDS.flatMap(({ environment }) => environment ?? []);

/**
 * Returns a location with its defaults from the environment.
 * @param variable returns the value of a variable; undefined if it is not set
 */
export const locationFrom = (text: string, variable: (name: string) => string | undefined): Location => {
  const { environment } = kindOf(text);
  return environment === undefined ? text : { text, defaults: environment.defaults(variable) };
};

/** Returns the names of secret variables that a store at this location does not need. */
export function uselessSecrets(location: Location): readonly string[] {
  const own = kindOf(located(location).text);
  return KINDS.filter((kind) => kind !== own).flatMap(({ environment }) => environment?.secrets ?? []);
}

/** Returns a canonical identity of a location: the same for all spellings, and without a password. */
export function identityOf(location: Location): string {
  const where = located(location);
  return kindOf(where.text).identity(where);
}

/** Returns an equivalent location for a process in another directory. */
export function lasting(location: Location): Location {
  const where = located(location);
  return kindOf(where.text).lasting?.(where) ?? where;
}

/** Returns the directory that holds a store; undefined for other backends. */
export function directoryOf(location: Location): string | undefined {
  const where = located(location);
  return kindOf(where.text).directory?.(where);
}

/** Returns the words for the place and the parts of a store at this location, for messages: "directory" and "files". */
export const placeWords = (location: Location): BackendKind['words'] => kindOf(located(location).text).words;

/**
 * Opens the backend of a store.
 * @throws `invalid` for an impossible location
 */
export async function backendAt(location: Location, options: BackendOptions = {}): Promise<Backend> {
  const where = located(location);
  return kindOf(where.text).open(where, options);
}

/** Runs `use` on the backend of a store, and closes it. */
export async function withBackendAt<T>(
  location: Location,
  use: (backend: Backend) => Promise<T>,
): Promise<T> {
  const backend = await backendAt(location);
  try {
    return await use(backend);
  } finally {
    backend.close();
  }
}

/**
 * Creates a store atomically; with `resume`, everything is compared with the input before it exists.
 * @throws `conflict` if something exists there; `unavailable` if the disk or the database fails
 */
export async function createAt(
  location: Location,
  content: InitialContent,
  options: CreateOptions = {},
): Promise<void> {
  const where = located(location);
  await kindOf(where.text).create(where, content, options);
}

/** Fails if a store can certainly not be created there, as far as the backend can tell before. */
export async function requireFreeAt(location: Location): Promise<void> {
  const where = located(location);
  await kindOf(where.text).requireFree?.(where);
}

/** Creates or migrates the schema for a store. Undefined for backends that have none, such as directories. */
export async function migrateAt(location: Location): Promise<StoreMigration | undefined> {
  const where = located(location);
  return kindOf(where.text).migrate?.(where);
}

/** Formats a location for messages, without its password. */
export async function printLocation(location: Location): Promise<string> {
  const where = located(location);
  return kindOf(where.text).print(where);
}
