import { type CofferError, invalid } from '../../ground/errors.ts';

/** The refusal of a version's key in a backup. @param what goes on from "backup …". Never holds a number of the key. */
export const refusedBackup = (what: string): CofferError =>
  invalid(`backup ${what}`, { field: 'backup', hint: 'the backup is damaged or was altered' });
