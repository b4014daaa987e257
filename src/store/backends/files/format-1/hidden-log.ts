import { asCofferError, type CofferError, corrupt, placed } from '../../../../ground/errors.ts';
import { parseChecked } from '../../../checked-json.ts';
import { REPAIR } from '../../../refusals.ts';
import { readWhole } from '../durable-files.ts';
import type { Layout } from '../layout.ts';
import { listLog } from '../log/log.ts';
import { LogFile } from '../log/log-file.ts';
import type { StateName } from '../state-directory.ts';
import type { StoreDirectory } from '../store-directory.ts';

/** Whether a store has no log yet. */
export function isOfFormat1({ layout }: { readonly layout: Layout }): boolean {
  const header = readWhole(layout.header);
  return header !== undefined && parseChecked(header)?.['format'] === 1;
}

/**
 * Checks that a state of format 1 does not hide the changes of a log: an older release, which does not know the log,
 * gives the store such a state when it repairs it. The log of an upgrade that was interrupted has no change.
 * @returns the error if there is such a log
 */
export function hiddenLog(directory: StoreDirectory, name: StateName): CofferError | undefined {
  if (name.kind === 'log' || isOfFormat1(directory)) return undefined;
  const { layout } = directory;
  if (!listLog(layout).some((number) => number > 1 || hasChange(directory, number))) return undefined;
  return corrupt(
    placed`${{ file: layout.log }} has changes that the state does not include: an older release has repaired the store`,
    { hint: REPAIR },
  );
}

function hasChange({ layout, log }: StoreDirectory, number: number): boolean {
  try {
    const at = { number, path: layout.logFile(number), storeId: log.storeId };
    const file = LogFile.read(at, { upTo: Number.POSITIVE_INFINITY });
    return file !== undefined && file.records > 0;
  } catch (error) {
    if (asCofferError(error)?.kind !== 'corrupt') throw error;
    return true;
  }
}
