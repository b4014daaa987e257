import { hash } from 'node:crypto';
import { promises as files, mkdirSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { areas, type InitialContent } from '../backend.ts';
import { onDisk } from './disk-errors.ts';
import {
  DIRECTORY_MODE,
  inParallel,
  isThere,
  readWhole,
  syncChanged,
  syncDirectory,
  writeDurably,
} from './durable-files.ts';
import { HEADER, type Layout, parseGeneration, STAGED } from './layout.ts';

/** Writes all blobs of an unused generation; durable once resolved. Leaves nothing behind on failure. */
export async function writeGeneration(
  layout: Layout,
  generation: number,
  blobs: InitialContent['blobs'],
): Promise<void> {
  try {
    makeDirectory(layout.generation(generation));
    for (const area of areas) makeDirectory(layout.area(generation, area));
    await inParallel(blobs, ({ ref, bytes }) => writeDurably(layout.blob(generation, ref), bytes));
    for (const area of areas) await syncDirectory(layout.area(generation, area));
    await syncDirectory(layout.generation(generation));
    await syncDirectory(layout.directory);
  } catch (error) {
    // The original error matters more than a failure to clean up, which the next writer does.
    await files.rm(layout.generation(generation), { recursive: true, force: true }).catch(() => undefined);
    throw error;
  }
}

export const makeDirectory = (path: string): void =>
  onDisk('create', path, () => mkdirSync(path, { mode: DIRECTORY_MODE }));

/**
 * Deletes leftovers of a killed rekey: a half-written next generation, or the previous one. The state that names the
 * current generation may not be on disk yet, so it is synced before the other generation is deleted for good.
 */
export async function deleteNeighbours(layout: Layout, statePath: string, generation: number): Promise<void> {
  const others = [generation - 1, generation + 1].filter((other) => isThere(layout.generation(other)));
  if (others.length === 0) return;
  await syncChanged(statePath);
  for (const other of others) await deleteGeneration(layout, other);
  await syncDirectory(layout.directory);
}

export function deleteGeneration(layout: Layout, generation: number): Promise<void> {
  const path = layout.generation(generation);
  // A process that moves changes from the log to the documents may put one more file there.
  const options = { recursive: true, force: true, maxRetries: 10, retryDelay: 20 };
  return onDisk('delete', path, () => files.rm(path, options));
}

/** Lists the numbers of all generations in the store directory. */
export function listGenerations(layout: Layout): number[] {
  return readdirSync(layout.directory)
    .map(parseGeneration)
    .filter((generation) => generation !== undefined);
}

/** Returns the SHA-256 of a file in hexadecimal; undefined if it does not exist. */
export function digestAt(path: string): string | undefined {
  const bytes = readWhole(path);
  return bytes && hash('sha256', bytes);
}

/** Whether a directory has files of somebody else; those of a store whose creation was interrupted are none. */
export function isOccupied(layout: Layout): boolean {
  const names = readdirSync(layout.directory);
  return names.some((name) => name !== basename(layout.lock)) && !names.includes(HEADER + STAGED);
}
