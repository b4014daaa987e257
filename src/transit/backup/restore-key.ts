import { printGoTime } from '../../ground/clock.ts';
import { conflict, invalid } from '../../ground/errors.ts';
import type { Engine } from '../engine.ts';
import { keyIn, keyRef } from '../key-collection.ts';
import type { NamedKeyDocument } from '../key-document.ts';
import { NamedKey } from '../named-key.ts';
import { readBackup } from './restoring.ts';

export interface Restoring {
  /** The text that a backup printed. */
  readonly backup: string;
  /** What the key is to be called; absent for its name in the backup. */
  readonly name?: string;
  /** Replaces a key of that name, whole. */
  readonly force: boolean;
}

/**
 * Brings a key back from a backup of this program, OpenBao or Vault. One change: on any error, nothing has changed.
 * @throws `invalid`, `unsupported` or `too-large` for a backup that is no good; `conflict` when the name is taken.
 */
export async function restoreKey(engine: Engine, { backup, name, force }: Restoring): Promise<NamedKey> {
  if (backup === '') {
    throw invalid("'backup' must be supplied", {
      field: 'backup',
      hint: 'give the text that a backup printed',
    });
  }
  const read = await readBackup(backup, name, engine.random);
  const restored: NamedKeyDocument = {
    ...read,
    restoreInfo: { time: printGoTime(engine.clock.now()), version: read.latestVersion },
  };
  return engine.store.transact(async (tx) => {
    // A damaged key can be replaced as well, so with force nobody looks at it.
    if (!force && (await keyIn(tx, engine, restored.name)) !== undefined) {
      throw conflict(`key "${restored.name}" already exists`, {
        field: 'name',
        hint: 'give another name, or force to replace the key with all its versions',
      });
    }
    tx.put(keyRef(engine, restored.name), restored);
    return NamedKey.open(restored);
  });
}
