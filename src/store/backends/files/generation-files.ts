import { createHash } from 'node:crypto';
import { promises as files, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { corrupt, placed } from '../../../ground/errors.ts';
import { areas, type Blob } from '../backend.ts';
import { diskError } from './disk-errors.ts';
import {
  DIRECTORY_MODE,
  inParallel,
  isThere,
  readWhole,
  syncDirectory,
  writeDurably,
} from './durable-files.ts';
import { type Layout, parseGeneration } from './layout.ts';

/** Writes all blobs of a generation that nobody uses yet; durable once resolved. Leaves nothing when it fails. */
export async function writeGeneration(
  layout: Layout,
  generation: number,
  blobs: AsyncIterable<Blob>,
): Promise<void> {
  try {
    makeDirectory(layout.generation(generation));
    for (const area of areas) makeDirectory(layout.area(generation, area));
    await inParallel(blobs, ({ ref, bytes }) => writeDurably(layout.blob(generation, ref), bytes));
    for (const area of areas) await syncDirectory(layout.area(generation, area));
    await syncDirectory(layout.generation(generation));
    await syncDirectory(layout.directory);
  } catch (error) {
    // Why it failed is worth more than why the rest of it stays: whoever writes next clears that away.
    await files.rm(layout.generation(generation), { recursive: true, force: true }).catch(() => undefined);
    throw error;
  }
}

export function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: DIRECTORY_MODE });
  } catch (error) {
    throw diskError(error, 'create', path);
  }
}

/** Deletes what a rekey left that was killed: a half-written next generation, or the one before. */
export async function deleteNeighbours(layout: Layout, generation: number): Promise<void> {
  let deleted = false;
  for (const other of [generation - 1, generation + 1]) {
    if (!isThere(layout.generation(other))) continue;
    await deleteGeneration(layout, other);
    deleted = true;
  }
  if (deleted) await syncDirectory(layout.directory);
}

export async function deleteGeneration(layout: Layout, generation: number): Promise<void> {
  const path = layout.generation(generation);
  try {
    await files.rm(path, { recursive: true, force: true });
  } catch (error) {
    throw diskError(error, 'delete', path);
  }
}

/** The numbers of all generations in the store directory. */
export function listGenerations(layout: Layout): number[] {
  return readdirSync(layout.directory)
    .map(parseGeneration)
    .filter((generation) => generation !== undefined);
}

/**
 * Writes all blobs of a generation that nobody uses yet, as far as they are not there already from an earlier attempt, and
 * leaves what it has done when it fails. Durable and compared with what was sent once resolved.
 * @throws `corrupt` when the disk gives back something else.
 */
export async function completeGeneration(
  layout: Layout,
  generation: number,
  blobs: AsyncIterable<Blob>,
): Promise<void> {
  for (const path of [layout.generation(generation), ...areas.map((area) => layout.area(generation, area))]) {
    if (!isThere(path)) makeDirectory(path);
  }
  const sent = new Map<string, string>();
  await inParallel(blobs, async ({ ref, bytes }) => {
    const path = layout.blob(generation, ref);
    sent.set(path, digestOf(bytes));
    if (digestAt(path) !== digestOf(bytes)) await writeDurably(path, bytes);
  });
  for (const area of areas) {
    const directory = layout.area(generation, area);
    const surplus = readdirSync(directory).filter((name) => !sent.has(join(directory, name)));
    for (const name of surplus) rmSync(join(directory, name));
    await syncDirectory(directory);
  }
  for (const [path, digest] of sent) {
    if (digestAt(path) !== digest)
      throw corrupt(placed`${{ file: path }} does not hold what was written to it`);
  }
  await syncDirectory(layout.generation(generation));
  await syncDirectory(layout.directory);
}

const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

function digestAt(path: string): string | undefined {
  const bytes = readWhole(path);
  return bytes === undefined ? undefined : digestOf(bytes);
}
