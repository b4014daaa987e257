import { chmodSync, lstatSync, readdirSync, rmdirSync, type Stats, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { elapsedMs } from '../../../ground/clock.ts';
import { asCofferError, attempt } from '../../../ground/errors.ts';
import { pause } from '../../../ground/pause.ts';
import { REPAIR, RESTORE } from '../../refusals.ts';
import {
  areas,
  type ChooseGeneration,
  type Flaw,
  LOCK_WAIT_MS,
  type Mend,
  type OpensBlobs,
} from '../backend.ts';
import { diskError, errorCode, onDisk } from './disk-errors.ts';
import {
  DIRECTORY_MODE,
  deleteFile,
  FILE_MODE,
  foreign,
  isThere,
  readWhole,
  syncDirectory,
} from './durable-files.ts';
import { FileLock } from './file-lock.ts';
import { hiddenLog, isOfFormat1 } from './format-1/hidden-log.ts';
import { decidedJournal, mendUnfinished } from './format-1/mend.ts';
import { decidedPath } from './format-1/recovery.ts';
import { listGenerations, makeDirectory } from './generation-files.ts';
import { isIntact, storeIdOf } from './header-format.ts';
import { KEPT, type Layout, parseBlobFileName, STAGED } from './layout.ts';
import { heldByOther } from './lock-holder.ts';
import { FIRST_MARK, listLog, NUMBER, type StoreDirectory } from './log/log.ts';
import { damageOf, flawsOfDamage, readWhatIsWhole, replaceLog } from './log/recover.ts';
import type { StateName } from './state-directory.ts';

/**
 * Message about a restored state file. To a running process it could belong to another store, so the owner has to
 * accept it.
 */
const STATE_IS_BACK =
  'has a new state file in place of the missing one; running servers continue only after "coffer store accept" or a restart';

/** Message about a state that an older release had given the store. */
const LOG_IS_BACK =
  'had been repaired by an older release without the changes in the log; these changes are in the store again; running servers continue only after "coffer store accept" or a restart';

/** Message about a log that was damaged, exchanged or deleted. */
const LOG_REPLACED = 'was damaged or missing, and was replaced: everything that could still be read is kept';

/** Flaw and its repair, if there is one. */
interface MendableFlaw extends Flaw {
  readonly mend?: { readonly done: string; run(): void };
}

/**
 * Finds deviations of a store's directories and files from how they were created. Empty for a directory without a
 * store.
 */
export const flawsOf = (directory: StoreDirectory): Flaw[] =>
  [...findFlaws(directory)].map(({ place, reason, hint }) => ({ place, reason, hint }));

/**
 * Yields flaws, directories before their contents; the next one is searched only after the previous one was repaired,
 * because that may make it visible.
 */
function* findFlaws(directory: StoreDirectory): Generator<MendableFlaw> {
  const { layout, state } = directory;
  if (statsOf(layout.directory, statSync) === undefined) return;
  yield* flawsOfEntry(layout.directory, DIRECTORY_MODE);
  if (!isThere(layout.header)) return;
  yield* flawsOfEntry(layout.header, FILE_MODE);
  yield* flawsOfLock(layout.lock);
  yield* flawsOfEntry(state.path, DIRECTORY_MODE);
  const present = presentState(state.path, () => state.list().state);
  if (present !== undefined) yield* flawsOfEntry(state.file(present), FILE_MODE);
  if (present?.kind === 'log') yield* flawsOfLog(directory, present);
  for (const generation of present === undefined ? listGenerations(layout) : [present.generation]) {
    yield* flawsOfEntry(layout.generation(generation), DIRECTORY_MODE);
    for (const area of areas) {
      const path = layout.area(generation, area);
      yield* flawsOfEntry(path, DIRECTORY_MODE);
      for (const name of namesIn(path)) {
        if (parseBlobFileName(area, name) !== undefined) yield* flawsOfEntry(join(path, name), FILE_MODE);
      }
    }
  }
}

function* flawsOfLog(directory: StoreDirectory, state: StateName): Generator<MendableFlaw> {
  const { layout, log } = directory;
  yield* flawsOfEntry(layout.log, DIRECTORY_MODE);
  yield* flawsOfLock(layout.logLock);
  const files = namesIn(layout.log).filter((name) => NUMBER.test(name) || FIRST_MARK.test(name));
  for (const name of files) yield* flawsOfEntry(join(layout.log, name), FILE_MODE);
  for (const name of namesIn(layout.log).filter((each) => each.endsWith(KEPT)))
    yield {
      place: { file: join(layout.log, name) },
      reason: 'is a copy from before the repair of a damaged log',
      hint: 'delete the file once you are sure that nothing is missing',
    };
  try {
    const header = readWhole(layout.header);
    if (header === undefined || !isIntact(header)) return;
    log.storeId = storeIdOf(header);
    yield* flawsOfDamage(directory, state);
  } catch (error) {
    // What keeps a file from being read is a flaw of its own.
    if (asCofferError(error)?.kind !== 'unavailable') throw error;
  }
}

function* flawsOfLock(path: string): Generator<MendableFlaw> {
  const stats = statsOf(path, lstatSync);
  const place = { file: path };
  if (stats?.isDirectory() === true) {
    const run = () => onDisk('delete', path, () => rmdirSync(path));
    const mend =
      namesIn(path).length === 0 ? { mend: { done: 'was an empty directory, and is deleted', run } } : {};
    const hint = 'mend' in mend ? REPAIR : 'move its contents elsewhere, then delete it';
    yield { place, reason: 'is a directory, but should be an empty file', hint, ...mend };
    return;
  }
  yield* flawsOfEntry(path, FILE_MODE, OPEN_TO_OTHERS);
  if (stats === undefined || stats.size === 0) return;
  // Truncate in place, so that a process that holds the lock keeps it.
  const run = () => onDisk('write', path, () => truncateSync(path, 0));
  yield {
    place,
    reason: 'is damaged: it must be empty',
    hint: REPAIR,
    mend: { done: 'was emptied', run },
  };
}

const WRITABLE_BY_OTHERS = 0o022;
/** Mode bits that let other users read or write the lock: read access is enough to hold it. */
const OPEN_TO_OTHERS = 0o066;

/**
 * Checks one directory entry.
 * @param expected mode that it was created with; determines the expected file type
 * @param forbidden harmful mode bits; reading is harmless where contents are sealed
 */
function* flawsOfEntry(
  path: string,
  expected: number,
  forbidden = WRITABLE_BY_OTHERS,
): Generator<MendableFlaw> {
  const isDirectory = expected === DIRECTORY_MODE;
  // Symbolic links to directories, and one to the lock, may be intended.
  const stats = statsOf(path, isDirectory ? statSync : lstatSync);
  if (stats === undefined || stats.isSymbolicLink() || process.geteuid === undefined) return;
  const place = { file: path };
  if (stats.isDirectory() !== isDirectory) {
    yield { place, reason: `is not a ${isDirectory ? 'directory' : 'file'}`, hint: RESTORE };
    return;
  }
  if (stats.uid !== process.geteuid()) {
    const hint = foreign(path, stats)?.texts.hint ?? REPAIR;
    yield { place, reason: 'belongs to another user', hint };
    return;
  }
  const mode = stats.mode & 0o777;
  if ((mode & forbidden) === 0 && (mode & expected) === expected) return;
  const run = () => onDisk('write', path, () => chmodSync(path, expected));
  const done = `has mode ${octal(expected)} again`;
  yield {
    place,
    reason: `has mode ${octal(mode)}, expected ${octal(expected)}`,
    hint: REPAIR,
    mend: { done, run },
  };
}

/**
 * Repairs what `flawsOf` finds, a state that is missing, and a damaged log. Leftovers of killed writers are only
 * reported here; the next writer removes them.
 * @throws `corrupt` if neither the log nor the generations reveal the state
 */
export async function repairFiles(
  directory: StoreDirectory,
  lock: FileLock,
  keys: RepairKeys,
): Promise<Mend[]> {
  const mended: Mend[] = [];
  for (const { place, mend } of findFlaws(directory)) {
    if (mend === undefined) continue;
    mend.run();
    mended.push({ place, done: mend.done });
  }
  const { layout } = directory;
  const header = readWhole(layout.header);
  // Without the header nobody knows whose log this is.
  if (header === undefined || !isIntact(header)) return mended;
  directory.log.storeId = storeIdOf(header);
  const mend = (): Promise<void> => mendUnderLock(directory, keys, mended);
  if (isThere(layout.log)) await withBothLocks(layout, lock, mend);
  else await lock.hold(mend);
  return mended;
}

/** Time to wait for a writer while no log is emptied, in milliseconds. */
const TURN_MS = 1000;
const LONGEST_PAUSE_MS = 50;

/**
 * Runs `work` with the lock of the log and the write lock. A writer may have the latter and wait until the log is
 * emptied, so the lock of the log is let go from time to time.
 */
async function withBothLocks(layout: Layout, lock: FileLock, work: () => Promise<void>): Promise<void> {
  const start = elapsedMs();
  const tryWork = async (): Promise<boolean> => {
    const turn = elapsedMs();
    do {
      if ((await lock.tryHold(work)) !== undefined) return true;
      await pause(1 + Math.random() * LONGEST_PAUSE_MS);
    } while (elapsedMs() - turn < TURN_MS);
    return false;
  };
  while (!(await FileLock.holdOnce(layout.logLock, LOCK_WAIT_MS, tryWork))) {
    if (elapsedMs() - start > LOCK_WAIT_MS) throw heldByOther(layout.lock, elapsedMs() - start);
    await pause(Math.random() * TURN_MS);
  }
}

interface RepairKeys {
  readonly choose: ChooseGeneration;
  readonly opens: OpensBlobs;
}

async function mendUnderLock(directory: StoreDirectory, keys: RepairKeys, mended: Mend[]): Promise<void> {
  const { layout, state } = directory;
  const before = state.list().state;
  let found = before ?? (await replaceState(directory, mended, keys));
  if (hiddenLog(directory, found) !== undefined) {
    const { generation, revision } = found;
    const { opens } = keys;
    const isLost = listLog(layout).length === 0;
    mended.push(...(await replaceLog(directory, { generation, found: undefined, opens, above: revision })));
    if (!isLost) mended.push({ place: { file: state.path }, done: LOG_IS_BACK });
    found = state.read();
  }
  if (found.kind === 'dirty') found = await mendUnfinished(directory, found, mended);
  if (before?.kind === 'dirty')
    mended.push({
      place: { file: state.path },
      done: 'recorded an unfinished change, which was completed',
    });
  if (found.kind === 'log' && damageOf(directory, found) !== undefined) {
    const { generation } = found;
    mended.push({ place: { file: layout.log }, done: LOG_REPLACED });
    mended.push(...(await replaceLog(directory, { generation, found, opens: keys.opens })));
  }
  await noteLeftovers(directory, found.generation, mended);
}

/**
 * Restores a missing state: from a decided commit of format 1, otherwise from the existing generation, with a revision
 * that no process has seen.
 */
async function replaceState(
  directory: StoreDirectory,
  mended: Mend[],
  { choose, opens }: RepairKeys,
): Promise<StateName> {
  const { layout, state, log } = directory;
  if (!isThere(state.path)) makeDirectory(state.path);
  const generations = listGenerations(layout);
  const from = decidedJournal(decidedPath(directory))?.from;
  const [first = 0, ...more] = generations;
  if (first === 0) throw state.missing(RESTORE);
  const known = from !== undefined && generations.includes(from.generation) ? from : undefined;
  readWhatIsWhole(directory);
  const generation =
    known?.generation ?? (more.length === 0 ? first : await choose(generations.sort((a, b) => b - a)));
  if (isOfFormat1(directory)) {
    const revision = known?.revision ?? state.unusedRevision();
    await state.create({ kind: 'dirty', generation, revision });
    await syncDirectory(state.path);
    await syncDirectory(layout.directory);
  } else {
    mended.push(...(await replaceLog(directory, { generation, found: undefined, opens })));
    log.forget();
  }
  mended.push({ place: { file: state.path }, done: STATE_IS_BACK });
  return state.read();
}

/** Reports leftovers of killed writers while holding the write lock. */
async function noteLeftovers(
  { layout, state }: StoreDirectory,
  generation: number,
  mended: Mend[],
): Promise<void> {
  const { state: present, others } = state.list();
  for (const name of others) {
    if (present?.kind !== 'dirty' || name !== 'commit')
      mended.push({ place: { file: join(state.path, name) }, done: LEFT });
  }
  for (const other of [generation - 1, generation + 1]) {
    if (isThere(layout.generation(other)))
      mended.push({ place: { file: layout.generation(other) }, done: LEFT });
  }
  const staged = layout.header + STAGED;
  if (!isThere(staged)) return;
  deleteFile(staged);
  await syncDirectory(layout.directory);
  mended.push({ place: { file: staged }, done: LEFT });
}

const LEFT = 'was left behind by a killed process and was deleted';

function presentState(path: string, list: () => StateName | undefined): StateName | undefined {
  return namesIn(path).length === 0 ? undefined : list();
}

// If missing or unreadable, that is reported for the directory itself.
const namesIn = (path: string): string[] => attempt(() => readdirSync(path), []);

function statsOf(path: string, look: typeof lstatSync | typeof statSync): Stats | undefined {
  try {
    return look(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errorCode(error) === 'EACCES' || errorCode(error) === 'ENOTDIR') return undefined;
    throw diskError(error, 'read', path);
  }
}

const octal = (mode: number): string => mode.toString(8).padStart(4, '0');
