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
import { refuseUnknownScheme, schemeIn } from './unknown-scheme.ts';

const KINDS: readonly BackendKind[] = [files, postgres];

/** @throws `invalid` for a location that looks like a URL, but whose scheme is unknown */
function kindOf(text: string): BackendKind {
  const scheme = schemeIn(text);
  const kind = KINDS.find(({ schemes = [] }) => scheme !== undefined && schemes.includes(scheme));
  if (kind === undefined) refuseUnknownScheme(text, KINDS, 'store');
  return kind ?? files;
}

/**
 * Refuses a location that looks like a URL, but whose scheme is unknown.
 * @param field option or argument that names it
 * @throws `invalid`
 */
export const refuseUnknownLocation = (text: string, field: string): void =>
  refuseUnknownScheme(text, KINDS, field);

/** Normalizes a location to an object. */
export const located = (location: Location): Located =>
  typeof location === 'string' ? { text: location, defaults: {} } : location;

const at = <T>(location: Location, use: (kind: BackendKind, where: Located) => T): T => {
  const where = located(location);
  return use(kindOf(where.text), where);
};

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
export const identityOf = (location: Location): string => at(location, (kind, where) => kind.identity(where));

/** Returns an equivalent location for a process in another directory. */
export const lasting = (location: Location): Location =>
  at(location, (kind, where) => kind.lasting?.(where) ?? where);

/** Returns the directory that holds a store; undefined for other backends. */
export const directoryOf = (location: Location): string | undefined =>
  at(location, (kind, where) => kind.directory?.(where));

/** Returns the words for the place and the parts of a store at this location, for messages: "directory" and "files". */
export const placeWords = (location: Location): BackendKind['words'] => kindOf(located(location).text).words;

/**
 * Opens the backend of a store.
 * @throws `invalid` for an impossible location
 */
export const backendAt = (location: Location, options: BackendOptions = {}): Promise<Backend> =>
  at(location, (kind, where) => kind.open(where, options));

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
export const createAt = (
  location: Location,
  content: InitialContent,
  options: CreateOptions = {},
): Promise<void> => at(location, (kind, where) => kind.create(where, content, options));

/** Fails if a store can certainly not be created there, as far as the backend can tell before. */
export const requireFreeAt = async (location: Location): Promise<void> =>
  at(location, (kind, where) => kind.requireFree?.(where));

/** Creates or migrates the schema for a store. Undefined for backends that have none, such as directories. */
export const migrateAt = async (location: Location): Promise<StoreMigration | undefined> =>
  at(location, (kind, where) => kind.migrate?.(where));

/** Formats a location for messages, without its password. */
export const printLocation = (location: Location): Promise<string> =>
  at(location, (kind, where) => kind.print(where));
