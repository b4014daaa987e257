import { hash } from 'node:crypto';
import { accessSync, constants, readdirSync, rmSync, statSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { isThere as isAnythingAt, makeWithParents } from '../../../ground/directories.ts';
import { conflict, corrupt, failedAfter, placed } from '../../../ground/errors.ts';
import { storeThere } from '../../refusals.ts';
import { areas, CREATION_WAIT_MS, type InitialContent } from '../backend.ts';
import type { CreateOptions } from '../backend-kind.ts';
import { ELSEWHERE, onDisk } from './disk-errors.ts';
import {
  DIRECTORY_MODE,
  deleteFile,
  deleteTree,
  discardSyncMarkers,
  inParallel,
  isThere,
  moveFile,
  readWhole,
  refuseForeign,
  syncChanged,
  syncDirectory,
  syncFile,
  writeDurably,
} from './durable-files.ts';
import { FileLock } from './file-lock.ts';
import {
  deleteGeneration,
  digestAt,
  isOccupied,
  listGenerations,
  makeDirectory,
  writeGeneration,
} from './generation-files.ts';
import { storeIdOf, withFormat } from './header-format.ts';
import { HEADER, Layout, STAGED } from './layout.ts';
import { makeFile } from './log/next-file.ts';
import { logged, StateDirectory } from './state-directory.ts';

/**
 * Creates the files of a new store. The store exists from the moment its header is renamed to its final name; until
 * then the staged header marks the directory as unfinished, so that an `init` that was killed can be restarted.
 * @throws `exists` if the directory has a store; `conflict` if it has anything else; `unavailable` if the disk fails:
 * everything created is deleted again then
 */
export async function createFiles(
  directory: string,
  content: InitialContent,
  { resume = false }: CreateOptions = {},
): Promise<void> {
  const layout = new Layout(directory);
  const made = await makeStoreDirectory(directory);
  refuseOccupied(layout);
  try {
    await FileLock.holdOnce(layout.lock, CREATION_WAIT_MS, async () => {
      refuseOccupied(layout);
      await fill(layout, content, resume);
    });
  } catch (error) {
    // The original error matters more than a failure to remove the rest.
    if (!resume) await clear(layout, made).catch(() => undefined);
    throw error;
  }
}

async function fill(layout: Layout, content: InitialContent, resume: boolean): Promise<void> {
  const { version, blobs } = content;
  const header = withFormat(Buffer.from(content.header), 2);
  const stagedHeader = layout.header + STAGED;
  const state = new StateDirectory(layout.directory);
  const begun = resume && readWhole(stagedHeader)?.equals(header) === true;
  await writeDurably(stagedHeader, header);
  await syncDirectory(layout.directory);
  await removeUnfinished(layout, begun ? version.generation : undefined);
  if (resume) await completeGeneration(layout, version.generation, blobs);
  else await writeGeneration(layout, version.generation, blobs);
  makeDirectory(layout.log);
  const { generation, revision } = version;
  await makeFile(layout, 1, { isFirst: true, generation, base: revision, storeId: storeIdOf(header) });
  makeDirectory(state.path);
  await state.create(logged(version));
  await syncDirectory(state.path);
  await syncDirectory(layout.directory);
  moveFile(stagedHeader, layout.header);
  try {
    // A process that writes to the store before its name is on disk syncs it first.
    await syncDirectory(layout.directory);
  } catch (error) {
    takeBack(layout, stagedHeader, error);
    throw error;
  }
}

/**
 * Turns a store that has not been announced yet into an unfinished one again.
 * @throws `unconfirmed` if that fails
 */
function takeBack(layout: Layout, stagedHeader: string, why: unknown): void {
  try {
    moveFile(layout.header, stagedHeader);
  } catch {
    throw failedAfter('the store was created', why, 'do not create it again: check it with "coffer doctor"');
  }
}

/**
 * Checks before anything is written that the files of a new store can be created.
 * @throws as `createFiles`
 */
export function requireFree(directory: string): void {
  const look = (): void => {
    let path = resolve(directory);
    while (!isAnythingAt(path)) path = dirname(path);
    if (path === resolve(directory)) {
      requireOwnDirectory(directory);
      refuseOccupied(new Layout(directory));
      // With the dot, it has to be a directory.
    } else accessSync(`${path}${sep}.`, constants.W_OK);
  };
  onDisk('create', directory, look, ELSEWHERE);
}

function requireOwnDirectory(directory: string): void {
  const stats = statSync(directory);
  if (!stats.isDirectory())
    throw conflict(placed`${{ file: directory }} is a file`, { hint: 'use an empty or new directory' });
  refuseForeign(directory, stats, ELSEWHERE);
}

/**
 * Creates the directory.
 * @returns whether it is new
 */
function makeStoreDirectory(directory: string): Promise<boolean> {
  const make = async (): Promise<boolean> => {
    const first = makeWithParents(directory, DIRECTORY_MODE);
    requireOwnDirectory(directory);
    await syncPathTo(directory, first ?? directory);
    return first !== undefined;
  };
  return onDisk('create', directory, make, ELSEWHERE);
}

/**
 * Waits until the name of a directory is on disk. Parents of the same owner may have been created by an attempt that
 * was killed, so they are synced too.
 * @param first topmost directory that was created
 */
async function syncPathTo(directory: string, first: string): Promise<void> {
  const surely = dirname(resolve(first));
  let path = dirname(resolve(directory));
  for (; path.length > surely.length; path = dirname(path)) await syncDirectory(path);
  await syncDirectory(surely);
  for (; statSync(path).uid === process.geteuid?.() && path !== dirname(path); path = dirname(path)) {
    try {
      await syncDirectory(dirname(path));
    } catch {
      // A directory that this user may not read cannot contain anything that this user created.
      return;
    }
  }
}

function refuseOccupied(layout: Layout): void {
  if (readdirSync(layout.directory).includes(HEADER)) throw storeThere({ file: layout.directory });
  if (isOccupied(layout)) {
    throw conflict(placed`${{ file: layout.directory }} is not empty`, {
      hint: 'use an empty or new directory',
    });
  }
}

async function removeUnfinished(layout: Layout, but?: number): Promise<void> {
  for (const generation of listGenerations(layout)) {
    if (generation !== but) await deleteGeneration(layout, generation);
  }
  discardSyncMarkers(layout.directory);
  deleteTree(join(layout.directory, 'state'));
  deleteTree(layout.log);
}

async function clear(layout: Layout, madeDirectory: boolean): Promise<void> {
  // Another process may have completed its own store here in the meantime.
  if (isThere(layout.header)) return;
  if (isThere(layout.header + STAGED)) {
    await removeUnfinished(layout);
    deleteFile(layout.header + STAGED);
  }
  if (!madeDirectory) return;
  deleteFile(layout.lock);
  await rmdir(layout.directory).catch(() => undefined);
  await syncDirectory(dirname(layout.directory)).catch(() => undefined);
}

/**
 * Writes all blobs of an unused generation that an earlier attempt has not already written, and keeps its progress on
 * failure. Once resolved, the blobs are durable and compared with the input.
 * @throws `corrupt` if the disk returns other data
 */
async function completeGeneration(
  layout: Layout,
  generation: number,
  blobs: InitialContent['blobs'],
): Promise<void> {
  for (const path of [layout.generation(generation), ...areas.map((area) => layout.area(generation, area))]) {
    if (!isThere(path)) makeDirectory(path);
  }
  discardSyncMarkers(layout.generation(generation));
  const sent = new Map<string, string>();
  await inParallel(blobs, async ({ ref, bytes }) => {
    const path = layout.blob(generation, ref);
    sent.set(path, hash('sha256', bytes));
    try {
      // An attempt that was killed may have left it in the page cache only.
      if (digestAt(path) === hash('sha256', bytes)) await syncFile(path);
      else await writeDurably(path, bytes);
    } catch (error) {
      // After a failed sync it may count as written although it is not: the next attempt writes it again.
      deleteFile(path);
      throw error;
    }
  });
  for (const area of areas) {
    const directory = layout.area(generation, area);
    const surplus = readdirSync(directory).filter((name) => !sent.has(join(directory, name)));
    for (const name of surplus) rmSync(join(directory, name));
    // An earlier attempt may have failed here.
    await syncChanged(directory);
  }
  for (const [path, digest] of sent) {
    if (digestAt(path) !== digest)
      throw corrupt(placed`${{ file: path }} was not stored correctly: reading it back gave other data`);
  }
  await syncChanged(layout.generation(generation));
  await syncChanged(layout.directory);
}
