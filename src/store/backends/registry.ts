/** The backends, by the locations that they match. A new one is a folder of its own, and one line here. */
import type { Backend, InitialContent } from './backend.ts';
import type {
  BackendEnvironment,
  BackendKind,
  BackendOptions,
  CreateOptions,
  Located,
  Location,
  Migration,
} from './backend-kind.ts';
import { files } from './files/files.ts';
import { postgres } from './postgres/postgres.ts';

/** The last that matches a location has it: the first takes what nobody else does. */
const KINDS: readonly [BackendKind, ...BackendKind[]] = [files, postgres];

const kindOf = (text: string): BackendKind => KINDS.findLast((kind) => kind.matches(text)) ?? KINDS[0];

/** A location taken apart. */
export const located = (location: Location): Located =>
  typeof location === 'string' ? { text: location, defaults: {} } : location;

/** How locations look, for people: "directory, or postgres://…". */
export const locationForms = KINDS.map(({ form }) => form).join(', or ');

/** What backends take from the environment, for people. */
export const backendEnvironments = (): readonly BackendEnvironment[] =>
  KINDS.flatMap(({ environment }) => environment ?? []);

/**
 * A location as it was given, with what the environment says of it.
 * @param variable the value of a variable; undefined when it is not set.
 */
export const locationFrom = (text: string, variable: (name: string) => string | undefined): Location => {
  const { environment } = kindOf(text);
  return environment === undefined ? text : { text, defaults: environment.defaults(variable) };
};

/** Variables with secrets that a store at this location has no use for. */
export function uselessSecrets(location: Location): readonly string[] {
  const own = kindOf(located(location).text);
  return KINDS.filter((kind) => kind !== own).flatMap(({ environment }) => environment?.secrets ?? []);
}

/** What tells a location from others; the same however it is written, and without a password. */
export function identityOf(location: Location): string {
  const where = located(location);
  return kindOf(where.text).identity(where);
}

/** The same location for a process that works in another directory. */
export function lasting(location: Location): Location {
  const where = located(location);
  return kindOf(where.text).lasting?.(where) ?? where;
}

/** The directory that holds a store; undefined for one that lies elsewhere. */
export function directoryOf(location: Location): string | undefined {
  const where = located(location);
  return kindOf(where.text).directory?.(where);
}

/** What a store at this location lies in and what it consists of, for people: "directory" and "files". */
export const placeWords = (location: Location): BackendKind['words'] => kindOf(located(location).text).words;

/** The backend of a store. @throws `invalid` for an impossible location. */
export async function backendAt(location: Location, options: BackendOptions = {}): Promise<Backend> {
  const where = located(location);
  return kindOf(where.text).open(where, options);
}

/** Runs `use` on the backend of a store, and lets go of it. */
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
 * Makes a store. It exists whole or not at all; with `resume`, everything is compared with what was sent before it does.
 * @throws `conflict` when something is there already; `unavailable` when the disk or the database refuses.
 */
export async function createAt(
  location: Location,
  content: InitialContent,
  options: CreateOptions = {},
): Promise<void> {
  const where = located(location);
  await kindOf(where.text).create(where, content, options);
}

/** Brings what holds a store up to date, or makes it. Undefined for a directory, where there is nothing of the kind. */
export async function migrateAt(location: Location): Promise<Migration | undefined> {
  const where = located(location);
  return kindOf(where.text).migrate?.(where);
}

/** A location for messages: without a password. */
export async function printLocation(location: Location): Promise<string> {
  const where = located(location);
  return kindOf(where.text).print(where);
}
