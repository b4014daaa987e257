import { hash } from 'node:crypto';
import { corrupt, failedAfter, placed } from '../../../ground/errors.ts';
import { Pace } from '../../../ground/pace.ts';
import { missing, REPAIR } from '../../refusals.ts';
import { type Area, areas, type BlobRef, type Change, type Version } from '../backend.ts';
import {
  deleteEmptied,
  deleteFile,
  inParallel,
  isThere,
  moveFile,
  readWhole,
  stageBlobFile,
  syncDirectory,
  writeDurably,
} from './durable-files.ts';
import { makeDirectory } from './generation-files.ts';
import { JOURNAL, type Journal, type JournalEntry, parseJournal, printJournal } from './journal.ts';
import { type Layout, pathIn, STAGED } from './layout.ts';
import { type StateDirectory, settled, unsettled } from './state-directory.ts';

/** Directory that contains a store. */
export interface StoreDirectory {
  readonly layout: Layout;
  readonly state: StateDirectory;
}

/**
 * Applies changes atomically. Everything new is staged first, so that a full disk is noticed before anything has
 * changed.
 * @param changes at least one
 * @see docs/decisions/0007
 * @see docs/decisions/0122
 */
export async function commitChanges(
  directory: StoreDirectory,
  from: Version,
  changes: readonly Change[],
): Promise<Version> {
  const [only, ...more] = changes;
  return only !== undefined && more.length === 0
    ? commitOne(directory, from, only)
    : commitSeveral(directory, from, changes);
}

/** Applies a single change. It needs no journal: the rename that puts the blob in place is atomic. */
async function commitOne(directory: StoreDirectory, from: Version, { ref, bytes }: Change): Promise<Version> {
  const target = directory.layout.blob(from.generation, ref);
  const staged = pathIn(directory.state.path, SINGLE);
  await cleaningUp(directory, from, async () => {
    if (bytes !== undefined) await stageBlobFile(target, staged, bytes);
    directory.state.change(settled(from), unsettled(from));
    if (bytes === undefined) deleteFile(target);
    else moveFile(staged, target);
  });
  return afterDecision('the change was made', async () => {
    // At the same time: the content, and the state that says that its revision is used.
    const area = directory.layout.area(from.generation, ref.area);
    await Promise.all([syncDirectory(area), syncDirectory(directory.state.path)]);
    return finish(directory, from);
  });
}

async function commitSeveral(
  directory: StoreDirectory,
  from: Version,
  changes: readonly Change[],
): Promise<Version> {
  const journal: Journal = { from, entries: changes.map(entryOf) };
  const { state } = directory;
  await cleaningUp(directory, from, async () => {
    makeDirectory(state.preparing);
    // At the same time, because the disk writes what several syncs wait for together. Each step creates its file before
    // it waits, so all entries of the directory exist when the last step begins to sync it.
    const steps = changes.map((change) => () => stage(directory, from, change));
    steps.push(() => writeDurably(pathIn(state.preparing, JOURNAL), printJournal(journal)));
    steps.push(() => syncDirectory(state.preparing));
    await inParallel(steps, (step) => step());
    state.change(settled(from), unsettled(from));
    // Once this is on disk, the commit is decided. The sync covers the change of state as well.
    moveFile(state.preparing, state.decided);
  });
  return afterDecision('the change was made', async () => {
    await syncDirectory(state.path);
    await apply(directory, journal);
    return finishDecided(directory, from);
  });
}

/**
 * Runs the steps after the decision. If they fail, `made` has still happened: the next writer finishes it, and the
 * operation must not be repeated.
 * @see docs/decisions/0119
 */
export async function afterDecision(made: string, finishing: () => Promise<Version>): Promise<Version> {
  try {
    return await finishing();
  } catch (error) {
    throw failedAfter(
      made,
      error,
      'do not repeat the command: the next command that changes the store completes this change',
    );
  }
}

async function stage(directory: StoreDirectory, from: Version, { ref, bytes }: Change): Promise<void> {
  if (bytes === undefined) return;
  const staged = pathIn(directory.state.preparing, stagedName(ref));
  await stageBlobFile(directory.layout.blob(from.generation, ref), staged, bytes);
}

/** Runs the steps before the decision, and removes all traces if they fail. */
async function cleaningUp(
  { state }: StoreDirectory,
  from: Version,
  deciding: () => Promise<void>,
): Promise<void> {
  try {
    await deciding();
  } catch (error) {
    try {
      const { state: present, others } = state.list();
      // First of all: otherwise a deletion below could be mistaken for an applied commit.
      if (present?.settled === false) state.change(unsettled(from), settled(from));
      state.discard(others);
    } catch {
      // The next writer removes it; the original error is more useful.
    }
    throw error;
  }
}

/** Finishes the commit of a killed process, or removes its preparations. */
export async function recover(directory: StoreDirectory, from: Version): Promise<Version> {
  // The process may have been killed before the sync: the decision must reach the disk before the changes applied
  // below.
  await syncDirectory(directory.state.path);
  await syncDirectory(directory.layout.directory);
  const journal = readJournal(directory, from);
  if (journal === undefined) {
    // At most one file had been moved into place; make it durable before anything is built on it.
    for (const area of areas) await syncDirectory(directory.layout.area(from.generation, area));
    return finishDecided(directory, from);
  }
  await apply(directory, journal);
  return finishDecided(directory, from);
}

/**
 * Reads the changes of the commit that was decided on top of a version; undefined if there is none or it is done.
 * @throws `corrupt` if the journal is damaged or of another state
 */
export function readJournal({ state }: StoreDirectory, from: Version): Journal | undefined {
  const path = pathIn(state.decided, JOURNAL);
  const bytes = readWhole(path);
  if (bytes === undefined) return undefined;
  const journal = parseJournal(bytes, path);
  if (journal.from.generation !== from.generation || journal.from.revision !== from.revision) {
    throw corrupt(placed`${{ file: path }} belongs to an older or newer state of the store`, {
      hint: REPAIR,
    });
  }
  return journal;
}

function finish(directory: StoreDirectory, from: Version): Version {
  const next: Version = { generation: from.generation, revision: from.revision + 1 };
  directory.state.change(unsettled(from), settled(next));
  return next;
}

async function finishDecided(directory: StoreDirectory, from: Version): Promise<Version> {
  deleteFile(pathIn(directory.state.decided, JOURNAL));
  deleteEmptied(directory.state.decided);
  // The journal must be gone from the disk before a later commit begins. Otherwise a machine crash could restore it and
  // make it undo that commit, or find its blobs replaced.
  await syncDirectory(directory.state.path);
  return finish(directory, from);
}

async function apply(directory: StoreDirectory, { from, entries }: Journal): Promise<void> {
  const pace = new Pace();
  for (const entry of entries) {
    applyEntry(directory, from, entry);
    await pace.step();
  }
  for (const area of areasOf(entries)) await syncDirectory(directory.layout.area(from.generation, area));
}

/** Applies one entry. Idempotent: it may run again after an interruption at any point. */
function applyEntry(directory: StoreDirectory, from: Version, { ref, sha256 }: JournalEntry): void {
  const target = directory.layout.blob(from.generation, ref);
  if (sha256 === undefined) {
    deleteFile(target);
    return;
  }
  const staged = pathIn(directory.state.decided, stagedName(ref));
  try {
    moveFile(staged, target);
    return;
  } catch (error) {
    if (isThere(staged)) throw error;
  }
  const present = readWhole(target);
  if (present === undefined || hash('sha256', present) !== sha256) {
    throw missing({ file: staged }, REPAIR);
  }
}

/** Name of the staged file of a single-change commit. */
const SINGLE = `blob${STAGED}`;
/** Name of a new blob in the directory of its commit. */
export const stagedName = (ref: BlobRef): string => `${ref.area}-${ref.name}`;

const entryOf = ({ ref, bytes }: Change): JournalEntry => ({
  ref,
  sha256: bytes === undefined ? undefined : hash('sha256', bytes),
});

const areasOf = (entries: readonly JournalEntry[]): Set<Area> => new Set(entries.map(({ ref }) => ref.area));
