import { type CofferError, invalid } from '../../ground/errors.ts';

const HINT = 'the backup is damaged or was altered';

/** Settings or versions that do not fit each other. What follows the colon is in the words of peers where they have any. */
export const inconsistentBackup = (name: string, text: string): CofferError =>
  invalid(`failed to restore the policy "${name}": ${text}`, { field: 'backup', hint: HINT });

/** Something about one version. */
export const damagedVersion = (number: number, text: string): CofferError =>
  invalid(`backup cannot be restored: version ${number}: ${text}`, { field: 'backup', hint: HINT });
