import { printGoTime } from '../../ground/clock.ts';
import { conflict } from '../../ground/errors.ts';
import type { Engine } from '../engine.ts';
import { changeKey, requireNotSoftDeleted } from '../key-collection.ts';
import type { NamedKey } from '../named-key.ts';
import { writeBackup } from './writing.ts';

/**
 * Everything about a key as one text, private keys included, in the form of OpenBao (and, for the types it has, Vault). The
 * moment is recorded in the key, and so in the text.
 * @throws `not-found`; `conflict` unless the key is exportable and allows plaintext backups.
 */
export async function backupKey(engine: Engine, name: string): Promise<string> {
  const key = await changeKey(engine, name, `key "${name}" not found`, (current) => {
    requireBackupAllowed(current);
    const { document } = current;
    const backupInfo = { time: printGoTime(engine.clock.now()), version: document.latestVersion };
    return { ...document, backupInfo };
  });
  return writeBackup(key.document);
}

function requireBackupAllowed(key: NamedKey): void {
  requireNotSoftDeleted(key);
  const { exportable, allowPlaintextBackup } = key.document;
  if (!exportable) {
    throw conflict('exporting is disallowed on the policy', {
      field: 'name',
      hint: 'make it exportable first, with keys config --exportable --allow-plaintext-backup; that cannot be undone',
    });
  }
  if (!allowPlaintextBackup) {
    throw conflict('plaintext backup is disallowed on the policy', {
      field: 'name',
      hint: 'allow it first, with keys config --allow-plaintext-backup; that cannot be undone',
    });
  }
}
