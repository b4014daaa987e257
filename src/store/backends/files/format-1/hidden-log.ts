import { type CofferError, corrupt, placed, unlessRefused } from '../../../../ground/errors.ts';
import { REPAIR } from '../../../refusals.ts';
import { readWhole } from '../durable-files.ts';
import { formatOf, WITH_LOG, WITHOUT_LOG } from '../header-format.ts';
import { listLog, missingLog, type StoreDirectory } from '../log/log.ts';
import { LogFile } from '../log/log-file.ts';
import type { StateName } from '../state-directory.ts';

/** Whether a store has no log yet. */
export const isOfFormat1 = (store: StoreDirectory): boolean => formatIn(store) === WITHOUT_LOG;

/** Returns the format that the header names; none for a missing or damaged one. */
function formatIn({ layout }: StoreDirectory): number | undefined {
  const header = readWhole(layout.header);
  return header && formatOf(header);
}

/**
 * Checks that a state of format 1 does not hide the changes of a log: an older release, which does not know the log,
 * gives the store such a state when it repairs it. The log of an upgrade that was interrupted has no change, but its
 * file is there as soon as the header has format 2.
 * @returns the error if there is such a log, or if there was one
 */
export function hiddenLog(directory: StoreDirectory, name: StateName): CofferError | undefined {
  if (name.kind === 'log') return undefined;
  const { layout } = directory;
  const format = formatIn(directory);
  if (format === WITHOUT_LOG) return undefined;
  const numbers = listLog(layout);
  if (numbers.length === 0 && format === WITH_LOG) return missingLog(layout);
  if (!numbers.some((number) => number > 1 || hasChange(directory, number))) return undefined;
  return corrupt(
    placed`${{ file: layout.log }} has changes that are missing from the store, because an older release repaired the store without them`,
    { hint: REPAIR },
  );
}

function hasChange({ layout, log }: StoreDirectory, number: number): boolean {
  const at = { number, path: layout.logFile(number), storeId: log.storeId };
  const records = () => LogFile.read(at, { upTo: Number.POSITIVE_INFINITY })?.records ?? 0;
  return unlessRefused(() => records() > 0, true, 'corrupt');
}
