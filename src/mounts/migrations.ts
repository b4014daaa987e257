/** Completed moves of mounts, which clients query. */

import { notFound } from '../ground/errors.ts';
import type { Transaction, View } from '../store/store.ts';

const MIGRATIONS = { collection: 'sys', id: 'migrations' } as const;
const MAX_MIGRATIONS = 100;

/** Move of a mount. Paths without slashes at the ends. */
export interface MountMigration {
  readonly id: string;
  readonly from: string;
  readonly to: string;
}

interface Migrations {
  readonly migrations: readonly MountMigration[];
}

/** Records a move, as part of it. */
export async function noteMigration(tx: Transaction, migration: MountMigration): Promise<void> {
  const before = await tx.get<Migrations>(MIGRATIONS);
  tx.put(MIGRATIONS, { migrations: [...(before?.migrations ?? []), migration].slice(-MAX_MIGRATIONS) });
}

/**
 * Finds one of the latest moves.
 * @throws `not-found`
 */
export async function migrationIn(view: View, id: string): Promise<MountMigration> {
  const known = await view.get<Migrations>(MIGRATIONS);
  const found = known?.migrations.find((migration) => migration.id === id);
  if (found === undefined) throw notFound(`no migration ${id}`, { field: 'migration_id' });
  return found;
}
