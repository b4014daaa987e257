import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { areas } from '../backend.ts';
import type { StoreDirectory } from './commit.ts';
import { diskError } from './disk-errors.ts';
import { HEADER, parseBlobFileName, parseGeneration, STAGED } from './layout.ts';
import { DECIDED } from './state-directory.ts';

const OWN_NAMES = new Set([HEADER, 'lock', 'state']);

/**
 * Paths in a store directory that are no part of the store. What a writer is at, or has left when it was killed, is
 * not reported: whoever writes next clears it away.
 */
export function findStrays({ layout, state }: StoreDirectory): string[] {
  const { state: present, others } = state.list();
  const strays = others
    .filter((name) => name !== DECIDED && !name.endsWith(STAGED))
    .map((name) => join(state.path, name));
  const known = (name: string): boolean => OWN_NAMES.has(name) || isNear(name, present?.generation);
  strays.push(...unknownIn(layout.directory, known));
  if (present === undefined) return strays;
  const generation = layout.generation(present.generation);
  strays.push(...unknownIn(generation, (name) => areas.some((area) => area === name)));
  for (const area of areas) {
    const directory = layout.area(present.generation, area);
    strays.push(...unknownIn(directory, (name) => parseBlobFileName(area, name) !== undefined));
  }
  return strays;
}

/** The directory of the present generation, or of one that a rekey is making or deleting. */
function isNear(name: string, present: number | undefined): boolean {
  const generation = parseGeneration(name);
  return generation !== undefined && present !== undefined && Math.abs(generation - present) <= 1;
}

function unknownIn(directory: string, isKnown: (name: string) => boolean): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => !isKnown(name))
      .map((name) => join(directory, name));
  } catch (error) {
    throw diskError(error, 'read', directory);
  }
}
