import { type CofferError, conflict, ownWords } from '../../ground/errors.ts';

interface LeavingKey {
  readonly name: string;
  readonly exportable: boolean;
  readonly allowPlaintextBackup: boolean;
}

/** Returns the error for a key that must not be backed up in plaintext; undefined if it may be. */
export function backupRefusal({
  name,
  exportable,
  allowPlaintextBackup,
}: LeavingKey): CofferError | undefined {
  if (!exportable) {
    return conflict(ownWords('exporting is disallowed on the policy'), {
      field: 'name',
      hint: `run "coffer transit keys config ${name} --exportable --allow-plaintext-backup" first; this cannot be undone`,
    });
  }
  if (allowPlaintextBackup) return undefined;
  return conflict(ownWords('plaintext backup is disallowed on the policy'), {
    field: 'name',
    hint: `run "coffer transit keys config ${name} --allow-plaintext-backup" first; this cannot be undone`,
  });
}
