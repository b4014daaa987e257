import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Version } from '../../backend.ts';
import { diskError } from '../disk-errors.ts';
import {
  deleteTree,
  isThere,
  moveFile,
  readWhole,
  syncChanged,
  syncDirectory,
  writeDurably,
} from '../durable-files.ts';
import { makeDirectory } from '../generation-files.ts';
import { withFormat } from '../header-format.ts';
import { STAGED } from '../layout.ts';
import { makeFile } from '../log/next-file.ts';
import { logged, type StateName } from '../state-directory.ts';
import type { StoreDirectory } from '../store-directory.ts';
import { recoverOld } from './recovery.ts';

/**
 * Gives a store of format 1 a log. Under the write lock. Until the state has its new name the log counts for nothing, so
 * an upgrade that was interrupted is begun again, whatever a server of an older release has written in between.
 * @returns the new state
 * @see docs/decisions/0321
 */
export async function upgrade(directory: StoreDirectory, found: StateName): Promise<StateName> {
  const { layout, state, log } = directory;
  let version: Version = found;
  let present = found;
  if (found.kind === 'dirty') {
    version = await recoverOld({ layout, statePath: state.path }, found);
    discardOthers(directory);
    // The journal must be gone from the disk before its commit counts as done.
    await syncDirectory(state.path);
    present = { ...version, kind: 'clean' };
    state.change(found, present);
  }
  discardOthers(directory);
  await emptyLog(directory);
  log.forget();
  const { generation, revision } = version;
  await makeFile(layout, 1, { generation, base: revision, storeId: log.storeId });
  await syncDirectory(layout.directory);
  await writeHeader(directory);
  state.change(present, logged(version));
  await syncChanged(state.path);
  return logged(version);
}

function discardOthers({ state }: StoreDirectory): void {
  state.discard(state.list().others);
}

/** Makes the directory of the log, or deletes everything in it but its lock, which another process may have open. */
async function emptyLog({ layout }: StoreDirectory): Promise<void> {
  if (!isThere(layout.log)) makeDirectory(layout.log);
  try {
    for (const name of readdirSync(layout.log)) if (name !== 'lock') deleteTree(join(layout.log, name));
  } catch (error) {
    throw diskError(error, 'read', layout.log);
  }
}

async function writeHeader({ layout }: StoreDirectory): Promise<void> {
  const header = readWhole(layout.header);
  const next = header && withFormat(header, 2);
  if (next === undefined || header === undefined || next.equals(header)) return;
  await writeDurably(layout.header + STAGED, next);
  moveFile(layout.header + STAGED, layout.header);
  await syncDirectory(layout.directory);
}
