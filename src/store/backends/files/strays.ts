import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { areas } from '../backend.ts';
import { onDisk } from './disk-errors.ts';
import { isSyncMarker } from './durable-files.ts';
import { HEADER, KEPT, parseBlobFileName, parseGeneration, STAGED } from './layout.ts';
import { FIRST_MARK, NUMBER } from './log/log.ts';
import type { StoreDirectory } from './store-directory.ts';

const OWN_NAMES = new Set([HEADER, 'lock', 'log', 'state']);
const LOG_NAMES = new Set(['lock', 'spare']);

/**
 * Finds paths in a store directory that do not belong to the store. Files of a current or killed writer are not
 * reported: the next writer removes them.
 */
export function findStrays({ layout, state }: StoreDirectory): string[] {
  const { state: present, others } = state.list();
  const strays = others
    .filter((name) => !isOfWriter(name) && !(present?.kind !== 'log' && name === 'commit'))
    .map((name) => join(state.path, name));
  // Staged while a store of format 1 is given a log.
  const isUpgraded = (name: string): boolean => present?.kind === 'clean' && name === HEADER + STAGED;
  const known = (name: string): boolean =>
    OWN_NAMES.has(name) || isNear(name, present?.generation) || isUpgraded(name) || isSyncMarker(name);
  strays.push(...unknownIn(layout.directory, known));
  if (present === undefined) return strays;
  if (present.kind === 'log') strays.push(...unknownIn(layout.log, isOfLog));
  const generation = layout.generation(present.generation);
  strays.push(...unknownIn(generation, (name) => areas.some((area) => area === name)));
  for (const area of areas) {
    const directory = layout.area(present.generation, area);
    strays.push(
      ...unknownIn(directory, (name) => parseBlobFileName(area, name) !== undefined || isOfWriter(name)),
    );
  }
  return strays;
}

const isOfLog = (name: string): boolean =>
  LOG_NAMES.has(name) ||
  NUMBER.test(name) ||
  FIRST_MARK.test(name) ||
  name.endsWith(KEPT) ||
  isOfWriter(name);

const isOfWriter = (name: string): boolean => name.endsWith(STAGED);

/** Whether a name is the directory of the current generation, or of one that a rekey is creating or deleting. */
function isNear(name: string, present: number | undefined): boolean {
  const generation = parseGeneration(name);
  return generation !== undefined && present !== undefined && Math.abs(generation - present) <= 1;
}

const unknownIn = (directory: string, isKnown: (name: string) => boolean): string[] =>
  onDisk('read', directory, () => readdirSync(directory))
    .filter((name) => !isKnown(name))
    .map((name) => join(directory, name));
