import { createHash } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { corrupt, placed } from '../../../ground/errors.ts';
import { areas, type Blob } from '../backend.ts';
import { inParallel, isThere, readWhole, syncDirectory, writeDurably } from './durable-files.ts';
import { makeDirectory } from './generation-files.ts';
import type { Layout } from './layout.ts';

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
