import type { BackendKind } from '../../../../src/store/backends/backend-kind.ts';
import { type Break, createSqlite, SqliteBackend } from './sqlite-backend.ts';

/** How a location says in which way its stores are broken. */
export const BROKEN = 'broken';

const brokenIn = (defaults: Readonly<Record<string, string | undefined>>): Break | undefined =>
  defaults[BROKEN] as Break | undefined;

/** Stores in one SQLite file each, right or broken as their location says. */
export const sqlite: Pick<BackendKind, 'create' | 'open'> = {
  async open({ text, defaults }, options) {
    return new SqliteBackend(text, brokenIn(defaults), options);
  },
  async create({ text, defaults }, content) {
    await createSqlite(text, content, brokenIn(defaults));
  },
};
