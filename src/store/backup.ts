import { unsupported } from '../errors.ts';

export interface BackupSummary {
  /** The store's id. */
  readonly id: string;
  readonly files: number;
  readonly bytes: number;
}

/**
 * Writes the whole store, as it is at one moment, to one file (0600, whole or not at all). Needs no key: everything
 * stays sealed. Others may write meanwhile; they wait while the files are read.
 * @throws `conflict` when `to` exists.
 */
export async function backupStore(_options: { directory: string; to: string }): Promise<BackupSummary> {
  throw unsupported('not yet');
}

/**
 * Brings a backup back into a directory that is missing or empty. The keys are those of the time of the backup.
 * @throws `conflict` when the directory isn't empty, `corrupt` when the backup is damaged or newer; nothing is written then.
 */
export async function restoreStore(_options: { from: string; directory: string }): Promise<BackupSummary> {
  throw unsupported('not yet');
}
