import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { REPAIR } from '../../refusals.ts';
import { areas, type Version } from '../backend.ts';
import { versionOf } from '../witness.ts';
import { onDisk } from './disk-errors.ts';
import { deleteFile, isSyncMarker, syncChanged } from './durable-files.ts';
import { hiddenLog, isOfFormat1 } from './format-1/hidden-log.ts';
import { deleteNeighbours, listGenerations } from './generation-files.ts';
import { HEADER, KEPT, parseBlobFileName, parseGeneration, pathIn, STAGED } from './layout.ts';
import { addRecord, settle, settleLog } from './log/append.ts';
import { FIRST_MARK, missingLog, NUMBER, type StoreDirectory } from './log/log.ts';
import type { OpenedFiles } from './opened-files.ts';
import { logged, type StateName } from './state-directory.ts';

/**
 * Brings the store to a settled state, whatever the last session left behind. Under the write lock.
 * @param opened checks the versions that the store has, and is about to get
 * @param look called when the state's name was read
 * @throws `corrupt` if the state is missing or contradicts the log
 */
export async function prepareStore(
  directory: StoreDirectory,
  opened: OpenedFiles,
  look: () => void,
): Promise<Version> {
  const { layout, state } = opened;
  const { log } = directory;
  const { state: listed, others } = state.list();
  let found =
    listed === undefined ? await replaceMissingState(directory, others, opened, look) : state.read();
  look();
  const hidden = hiddenLog(directory, found);
  if (hidden !== undefined) throw hidden;
  if (found.kind === 'dirty') {
    opened.examine({ generation: found.generation, revision: found.revision + 1 });
    const { finishOld } = await import('./format-1/upgrade.ts');
    found = await finishOld(directory, found);
    look();
  }
  if (found.kind !== 'log') {
    // Only a change gives it a log: a server of an older release may be at work.
    opened.admit(found);
    log.forget();
    await discardLeft(directory, found);
    return versionOf(found);
  }
  const version = await settle(directory, found, (future) => opened.examine(future));
  opened.admit(version);
  discardStaged(layout.log);
  await discardLeft(directory, version);
  return version;
}

/** Deletes what killed processes have left beside the state, and generations that are gone. */
async function discardLeft({ layout, state }: StoreDirectory, { generation }: Version): Promise<void> {
  const { others } = state.list();
  if (others.length > 0) {
    state.discard(others);
    await syncChanged(state.path);
  }
  await deleteNeighbours(layout, state.path, generation);
}

/** Age after which a file that another process may be making counts as left, in milliseconds. */
const LEFT_MS = 60_000;

/** Deletes files that were being made by processes that were killed, or that make them again. */
function discardStaged(path: string): void {
  onDisk('read', path, () => {
    for (const name of readdirSync(path)) {
      if (!name.endsWith(STAGED)) continue;
      const file = pathIn(path, name);
      // Those of other processes have their number in their name; they need no write lock.
      const madeMs = name.includes('-') ? statSync(file, { throwIfNoEntry: false })?.mtimeMs : 0;
      if (madeMs !== undefined && Math.abs(Date.now() - madeMs) > LEFT_MS) deleteFile(file);
    }
  });
}

/**
 * Puts back a state file that was deleted, with a revision that no process has seen.
 * @throws `corrupt` if the generation is not certain, or the log is missing as well
 */
async function replaceMissingState(
  directory: StoreDirectory,
  others: readonly string[],
  opened: OpenedFiles,
  look: () => void,
): Promise<StateName> {
  const { layout, state, log } = directory;
  const [generation, ...more] = listGenerations(layout);
  if (generation === undefined || more.length > 0 || others.some((name) => !name.endsWith(STAGED))) {
    throw state.missing(REPAIR);
  }
  look();
  log.forget();
  const { seen } = state.witness;
  const examine = (version: Version): void => {
    if (seen !== undefined) state.witness.examine({ ...seen, ...version });
  };
  if (isOfFormat1(directory)) {
    const replacement: StateName = { kind: 'dirty', generation, revision: state.unusedRevision() };
    examine(replacement);
    await state.create(replacement);
    return replacement;
  }
  const proven = await settleLog(directory);
  if (proven === undefined) throw missingLog(layout);
  if (proven.generation !== generation) throw state.missing(REPAIR);
  const problem = log.contradiction(proven);
  if (problem !== undefined) throw problem;
  const replacement = { generation, revision: state.unusedRevision(proven.revision) };
  examine(replacement);
  const made = 'the missing state file was restored';
  const show = await addRecord(directory, {
    from: proven,
    to: replacement,
    kind: 'raise',
    changes: [],
    made,
  });
  await state.create(logged(replacement));
  show();
  await syncChanged(state.path);
  opened.admit(replacement);
  return logged(replacement);
}

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
