import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, readdirSync, rmdirSync, type Stats, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { asCofferError } from '../../../ground/errors.ts';
import { REPAIR, RESTORE } from '../../refusals.ts';
import {
  areas,
  type BlobRef,
  type ChooseGeneration,
  type Flaw,
  type Mend,
  type StoreState,
} from '../backend.ts';
import { type StoreDirectory, stagedName } from './commit.ts';
import { diskError, errorCode } from './disk-errors.ts';
import {
  DIRECTORY_MODE,
  deleteFile,
  deleteTree,
  FILE_MODE,
  isThere,
  readWhole,
  refuseForeign,
  syncDirectory,
  writeDurably,
} from './durable-files.ts';
import type { FileLock } from './file-lock.ts';
import { listGenerations, makeDirectory } from './generation-files.ts';
import { JOURNAL, type Journal, type JournalEntry, parseJournal, printJournal } from './journal.ts';
import { parseBlobFileName, STAGED } from './layout.ts';
import { DECIDED, unsettled } from './state-directory.ts';

/**
 * Message about a restored state file. To a running process it could belong to another store, so the owner has to
 * accept it.
 */
const STATE_IS_BACK =
  'has its missing state file again; running servers continue after "coffer store accept" or a restart';

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
function* findFlaws({ layout, state }: StoreDirectory): Generator<MendableFlaw> {
  if (statsOf(layout.directory, statSync) === undefined) return;
  yield* flawsOfEntry(layout.directory, DIRECTORY_MODE);
  if (!isThere(layout.header)) return;
  yield* flawsOfEntry(layout.header, FILE_MODE);
  yield* flawsOfLock(layout.lock);
  yield* flawsOfEntry(state.path, DIRECTORY_MODE);
  const present = presentState(state.path, () => state.list().state);
  if (present !== undefined) yield* flawsOfEntry(state.file(present), FILE_MODE);
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
    const error = asCofferError(refusalOf(path, stats));
    if (error !== undefined)
      yield { place, reason: 'belongs to another user', hint: error.texts.hint ?? REPAIR };
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
 * Repairs what `flawsOf` finds, and a state that is missing or cannot be finished. Leftovers of killed writers are only
 * reported here; the next writer removes them.
 * @throws `corrupt` if neither the journal nor the generations reveal the state
 */
export async function repairFiles(
  directory: StoreDirectory,
  lock: FileLock,
  choose: ChooseGeneration,
): Promise<Mend[]> {
  const mended: Mend[] = [];
  for (const { place, mend } of findFlaws(directory)) {
    if (mend === undefined) continue;
    mend.run();
    mended.push({ place, done: mend.done });
  }
  if (!isThere(directory.layout.header)) return mended;
  await lock.hold(async () => {
    const before = directory.state.list().state;
    const found = before ?? (await replaceState(directory, mended, choose));
    const { generation } = found.settled ? found : await mendUnfinished(directory, found, mended);
    if (before?.settled === false)
      mended.push({
        place: { file: directory.state.path },
        done: 'recorded an unfinished change, which was completed',
      });
    await noteLeftovers(directory, generation, mended);
  });
  return mended;
}

/**
 * Restores a missing state from a decided commit; otherwise from the existing generation, with a revision that no
 * process has seen.
 */
async function replaceState(
  { layout, state }: StoreDirectory,
  mended: Mend[],
  choose: ChooseGeneration,
): Promise<StoreState> {
  if (!isThere(state.path)) makeDirectory(state.path);
  const generations = listGenerations(layout);
  const from = decidedJournal(state.decided)?.from;
  const [generation = 0, ...more] = generations;
  if (generation === 0) throw state.missing(RESTORE);
  const known = from !== undefined && generations.includes(from.generation) ? from : undefined;
  const version = known ?? {
    generation: more.length === 0 ? generation : await choose(generations.sort((a, b) => b - a)),
    revision: state.unusedRevision(),
  };
  const replacement = unsettled(version);
  await state.create(replacement);
  await syncDirectory(state.path);
  await syncDirectory(layout.directory);
  mended.push({ place: { file: state.path }, done: STATE_IS_BACK });
  return replacement;
}

/** Repairs a decided commit so that it can be finished. Changes lost from it were never acknowledged to a caller. */
async function mendUnfinished(
  directory: StoreDirectory,
  found: StoreState,
  mended: Mend[],
): Promise<StoreState> {
  const { state, layout } = directory;
  const path = join(state.decided, JOURNAL);
  const bytes = readWhole(path);
  const place = { file: path };
  if (bytes === undefined) return found;
  const journal = decidedJournal(state.decided);
  let present = found;
  if (journal !== undefined && !isSame(journal.from, found)) {
    const { generation, revision } = journal.from;
    if (generation !== found.generation || revision < found.revision) {
      deleteTree(state.decided);
      mended.push({ place, done: 'belonged to an earlier revision and was deleted' });
      return found;
    }
    present = unsettled(journal.from);
    state.change(found, present);
  }
  const left = journal?.entries ?? stagedEntries(state.decided);
  const entries = left.filter(({ ref, sha256 }) => {
    const target = layout.blob(present.generation, ref);
    if (sha256 === undefined || isThere(join(state.decided, stagedName(ref)))) return true;
    if (digestAt(target) === sha256) return true;
    mended.push({
      place: { file: target },
      done: 'was undone: an interrupted change, which no command had reported as done',
    });
    return false;
  });
  if (journal !== undefined && entries.length === journal.entries.length) return present;
  if (entries.length === 0) deleteFile(path);
  else await writeDurably(path, printJournal({ from: present, entries }));
  await syncDirectory(state.decided);
  if (journal === undefined)
    mended.push({
      place,
      done: 'was damaged: the interrupted change in it was completed, except for deletions',
    });
  return present;
}

/** Reports leftovers of killed writers while holding the write lock. */
async function noteLeftovers(
  { layout, state }: StoreDirectory,
  generation: number,
  mended: Mend[],
): Promise<void> {
  const { state: present, others } = state.list();
  for (const name of others) {
    if (present?.settled !== false || name !== DECIDED)
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

function decidedJournal(decided: string): Journal | undefined {
  const path = join(decided, JOURNAL);
  const bytes = readWhole(path);
  try {
    return bytes === undefined ? undefined : parseJournal(bytes, path);
  } catch (error) {
    if (asCofferError(error)?.kind === 'corrupt') return undefined;
    throw error;
  }
}

/** Reconstructs journal entries from the staged files of a commit. */
const stagedEntries = (decided: string): JournalEntry[] =>
  namesIn(decided).flatMap((file) => {
    const ref = areas
      .map((area): BlobRef => ({ area, name: file.slice(area.length + 1) }))
      .find((candidate) => stagedName(candidate) === file && /^[0-9a-f]{1,64}$/.test(candidate.name));
    return ref === undefined ? [] : [{ ref, sha256: digestAt(join(decided, file)) }];
  });

function digestAt(path: string): string | undefined {
  const bytes = readWhole(path);
  return bytes === undefined ? undefined : createHash('sha256').update(bytes).digest('hex');
}

const isSame = (a: Journal['from'], b: Journal['from']): boolean =>
  a.generation === b.generation && a.revision === b.revision;

function presentState(path: string, list: () => StoreState | undefined): StoreState | undefined {
  return namesIn(path).length === 0 ? undefined : list();
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    // Missing or unreadable: reported for the directory itself.
    return [];
  }
}

function statsOf(path: string, look: typeof lstatSync | typeof statSync): Stats | undefined {
  try {
    return look(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errorCode(error) === 'EACCES' || errorCode(error) === 'ENOTDIR') return undefined;
    throw diskError(error, 'read', path);
  }
}

function refusalOf(path: string, stats: Stats): unknown {
  try {
    refuseForeign(path, stats);
    return undefined;
  } catch (error) {
    return error;
  }
}

function onDisk(action: 'write' | 'delete', path: string, run: () => void): void {
  try {
    run();
  } catch (error) {
    throw diskError(error, action, path);
  }
}

const octal = (mode: number): string => mode.toString(8).padStart(4, '0');
