import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, readdirSync, rmdirSync, type Stats, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { asCofferError } from '../../../ground/errors.ts';
import { REPAIR, RESTORE } from '../../refusals.ts';
import { areas, type BlobRef, type ChooseGeneration, type Flaw, type Mend, type State } from '../backend.ts';
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

/** To a process that has seen the old file this could be another store's: its owner has to say that it is not. */
const STATE_IS_BACK =
  'has the file again that names the present state; servers that were running go on after "coffer store accept", or a restart';

/** A flaw, and what puts it right, if anything does. */
interface Found extends Flaw {
  readonly mend?: { readonly done: string; run(): void };
}

/** What of a store's directories and files is not as it was made. Nothing for a directory without a store. */
export const flawsOf = (directory: StoreDirectory): Flaw[] =>
  [...findFlaws(directory)].map(({ place, reason, hint }) => ({ place, reason, hint }));

/**
 * Directories come before what is in them, and the next one is looked for when the one before was put right: then it may be seen.
 */
function* findFlaws({ layout, state }: StoreDirectory): Generator<Found> {
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

function* flawsOfLock(path: string): Generator<Found> {
  const stats = statsOf(path, lstatSync);
  const place = { file: path };
  if (stats?.isDirectory() === true) {
    const run = () => onDisk('delete', path, () => rmdirSync(path));
    const mend =
      namesIn(path).length === 0 ? { mend: { done: 'was an empty directory, and is deleted', run } } : {};
    const hint = 'mend' in mend ? REPAIR : 'move what is in it elsewhere, and delete it';
    yield { place, reason: 'is a directory, and should be an empty file', hint, ...mend };
    return;
  }
  yield* flawsOfEntry(path, FILE_MODE, OPEN_TO_OTHERS);
  if (stats === undefined || stats.size === 0) return;
  // In its place: whoever holds the lock goes on holding it.
  const run = () => onDisk('write', path, () => truncateSync(path, 0));
  yield {
    place,
    reason: 'is damaged: it must be empty',
    hint: REPAIR,
    mend: { done: 'is empty again', run },
  };
}

const WRITABLE_BY_OTHERS = 0o022;
/** To read the lock is enough to hold it. */
const OPEN_TO_OTHERS = 0o066;

/**
 * @param expected the mode that it was made with; its kind follows from that.
 * @param forbidden what does harm. What others may read is sealed.
 */
function* flawsOfEntry(path: string, expected: number, forbidden = WRITABLE_BY_OTHERS): Generator<Found> {
  const isDirectory = expected === DIRECTORY_MODE;
  // Links to directories, and one to the lock, may be somebody's wish.
  const stats = statsOf(path, isDirectory ? statSync : lstatSync);
  if (stats === undefined || stats.isSymbolicLink() || process.geteuid === undefined) return;
  const place = { file: path };
  if (stats.isDirectory() !== isDirectory) {
    yield { place, reason: `is no ${isDirectory ? 'directory' : 'file'}`, hint: RESTORE };
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
    reason: `has mode ${octal(mode)}, and should have ${octal(expected)}`,
    hint: REPAIR,
    mend: { done, run },
  };
}

/**
 * Puts right what `flawsOf` finds, and a state that is missing or can't be finished. What is only left over of killed writers is
 * told here and cleared away by whoever gets the right to write.
 * @throws `corrupt` when neither journal nor generations say what the state is.
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
        done: 'said that a change was under way, which is finished',
      });
    await noteLeftovers(directory, generation, mended);
  });
  return mended;
}

/** A commit that was decided says what the state was; else the generation that is there, with a revision that nobody has seen. */
async function replaceState(
  { layout, state }: StoreDirectory,
  mended: Mend[],
  choose: ChooseGeneration,
): Promise<State> {
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

/** Makes a decided commit such that it can be finished: what is lost of it was acknowledged to nobody. */
async function mendUnfinished(directory: StoreDirectory, found: State, mended: Mend[]): Promise<State> {
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
      mended.push({ place, done: 'was of an earlier state, and is deleted' });
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
      done: 'is as before a change that was never acknowledged, whose new content is lost',
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
      done: 'was damaged: the change that it was for, never acknowledged, is finished but for what it may have deleted',
    });
  return present;
}

/** Tells what a killed writer has left, while nobody else writes. */
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

const LEFT = 'was left by a killed writer, and is deleted';

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

/** What the staged files themselves tell of a commit. */
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

function presentState(path: string, list: () => State | undefined): State | undefined {
  return namesIn(path).length === 0 ? undefined : list();
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    // Not there, or not to be seen: said of the directory itself.
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
