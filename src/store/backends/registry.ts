import type { Backend, InitialContent } from './backend.ts';
import { FilesBackend } from './files/files.ts';
import type { Migration } from './postgres/schema.ts';
import { isPostgres } from './postgres/scheme.ts';

export interface LocationOptions {
  /** Milliseconds to wait for other writers before giving up; 30,000 by default. */
  readonly lockWaitMs?: number;
}

/** The backend of a store: at `postgres://…` in a database, else in a directory. */
export async function backendAt(location: string, options: LocationOptions = {}): Promise<Backend> {
  if (!isPostgres(location)) return new FilesBackend(location, options);
  const { PostgresBackend } = await import('./postgres/postgres.ts');
  return new PostgresBackend(location, options);
}

/** Runs `use` on the backend of a store, and lets go of it. */
export async function withBackendAt<T>(location: string, use: (backend: Backend) => Promise<T>): Promise<T> {
  const backend = await backendAt(location);
  try {
    return await use(backend);
  } finally {
    backend.close();
  }
}

/**
 * Makes a store. It exists whole or not at all.
 * @throws `conflict` when something is there already; `unavailable` when the disk or the database refuses.
 */
export async function createAt(location: string, content: InitialContent): Promise<void> {
  if (isPostgres(location)) {
    const { createInPostgres } = await import('./postgres/create.ts');
    return createInPostgres(location, content);
  }
  const { createFiles } = await import('./files/create-files.ts');
  return createFiles(location, content);
}

/**
 * As `createAt`, but what is done when it is cut short stays, and the next call with the same header goes on from there.
 * Everything is compared with what was sent before the store exists.
 */
export async function createResumably(location: string, content: InitialContent): Promise<void> {
  if (isPostgres(location)) {
    const { createInPostgres } = await import('./postgres/create.ts');
    return createInPostgres(location, content, { resume: true });
  }
  const { createFiles } = await import('./files/create-files.ts');
  return createFiles(location, content, { resume: true });
}

/** Brings the tables of a store up to date, or makes them. Undefined for a directory, which has nothing of the kind. */
export async function migrateAt(location: string): Promise<Migration | undefined> {
  if (!isPostgres(location)) return undefined;
  const { migratePostgres } = await import('./postgres/create.ts');
  return migratePostgres(location);
}

/** A location for messages: without a password. */
export async function printLocation(location: string): Promise<string> {
  if (!isPostgres(location)) return location;
  const { parseAddress } = await import('./postgres/address.ts');
  return parseAddress(location).printed;
}
