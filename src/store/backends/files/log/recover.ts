import { asCofferError } from '../../../../ground/errors.ts';
import { areas, type BlobRef } from '../../backend.ts';
import {
  deleteFile,
  isThere,
  moveFile,
  stageBlobFile,
  syncChanged,
  syncDirectory,
} from '../durable-files.ts';
import { makeDirectory } from '../generation-files.ts';
import { STAGED } from '../layout.ts';
import { logged, type StateName } from '../state-directory.ts';
import type { StoreDirectory } from '../store-directory.ts';
import { listLog, withoutGap } from './log.ts';
import { LogFile } from './log-file.ts';
import { makeFile } from './next-file.ts';

/** Whether the log of a store is whole up to a state. Under the write lock. */
export function isWhole({ log }: StoreDirectory, name: StateName): boolean {
  try {
    log.forget();
    return log.follow(name.revision) && log.contradiction(name) === undefined;
  } catch (error) {
    if (asCofferError(error)?.kind === 'corrupt') return false;
    throw error;
  }
}

/** Reads the log as far as it is whole, so that the blobs in it can be read. */
export function readWhatIsWhole(directory: StoreDirectory): void {
  directory.log.forget();
  for (const file of wholeFiles(directory)) directory.log.add(file);
}

/**
 * Replaces a damaged log, and the state if it is missing. What is whole of the log is put into the documents; the new
 * log begins at a revision that no process has seen.
 * @param found present state, if there is one
 */
export async function replaceLog(
  directory: StoreDirectory,
  generation: number,
  found: StateName | undefined,
): Promise<void> {
  const { layout, state, log } = directory;
  if (!isThere(layout.log)) makeDirectory(layout.log);
  const numbers = listLog(layout);
  const files = wholeFiles(directory).filter(({ head }) => head.generation === generation);
  for (const file of files) {
    for (const area of areas) {
      for (const [name] of file.names(area)) await putInPlace(directory, file, generation, { area, name });
    }
  }
  for (const area of areas) await syncDirectory(layout.area(generation, area));
  const used = Math.max(found?.revision ?? -1, ...files.map(({ revision }) => revision));
  const version = { generation, revision: state.unusedRevision(used) };
  // With a gap, files that come back after a power failure count no more.
  const number = (numbers.at(-1) ?? 0) + 2;
  await makeFile(layout, number, { isFirst: true, generation, base: version.revision, storeId: log.storeId });
  if (found === undefined) await state.create(logged(version));
  else state.change(found, logged(version));
  await syncChanged(state.path);
  for (const each of numbers) deleteFile(layout.logFile(each));
  await syncChanged(layout.log);
  await syncDirectory(layout.directory);
  log.forget();
}

async function putInPlace(
  { layout }: StoreDirectory,
  file: LogFile,
  generation: number,
  ref: BlobRef,
): Promise<void> {
  const path = layout.blob(generation, ref);
  const bytes = file.find(ref.area, ref.name)?.bytes;
  if (bytes === undefined) {
    deleteFile(path);
    return;
  }
  await stageBlobFile(path, path + STAGED, bytes);
  moveFile(path + STAGED, path);
}

/** Reads every file of the log as far as it is whole, the oldest first. */
function wholeFiles({ layout, log }: StoreDirectory): LogFile[] {
  const found: LogFile[] = [];
  for (const number of withoutGap(listLog(layout))) {
    try {
      const at = { number, path: layout.logFile(number), storeId: log.storeId };
      const file = LogFile.look(at, undefined, (each, fd) => each.advance(fd, Number.POSITIVE_INFINITY));
      if (file !== undefined) found.push(file);
    } catch (error) {
      if (asCofferError(error)?.kind !== 'corrupt') throw error;
    }
  }
  return found;
}
