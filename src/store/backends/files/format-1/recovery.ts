import { hash } from 'node:crypto';
import { corrupt, placed } from '../../../../ground/errors.ts';
import { Pace } from '../../../../ground/pace.ts';
import { missing, REPAIR } from '../../../refusals.ts';
import { type Area, areas, type BlobRef, type Version } from '../../backend.ts';
import { deleteFile, isThere, moveFile, readWhole, syncChanged } from '../durable-files.ts';
import { pathIn } from '../layout.ts';
import type { StoreDirectory } from '../store-directory.ts';
import { JOURNAL, type Journal, type JournalEntry, parseJournal } from './journal.ts';

/** Returns the path of the directory of a decided commit. */
export const decidedPath = ({ state }: StoreDirectory): string => pathIn(state.path, 'commit');

/**
 * Puts what a commit of format 1 has decided into its place, or keeps what it had put there. The state is not changed.
 * @returns the version after the commit
 * @throws `corrupt` if its journal is damaged, or a file is missing
 * @see docs/decisions/0122
 */
export async function recoverOld(store: StoreDirectory, from: Version): Promise<Version> {
  const { layout, state } = store;
  // The process may have been killed before the sync, or its sync may have failed: the decision must reach the disk
  // before the changes applied below.
  await syncChanged(state.path);
  await syncChanged(layout.directory);
  const journal = readJournal(store, from);
  if (journal !== undefined) await apply(store, journal);
  // Without a journal, at most one file had been moved into place.
  const changed = journal === undefined ? areas : areasOf(journal.entries);
  for (const area of changed) await syncChanged(layout.area(from.generation, area));
  return { generation: from.generation, revision: from.revision + 1 };
}

/**
 * Reads the changes of the commit that was decided on top of a version; undefined if there is none or it is done.
 * @throws `corrupt` if the journal is damaged or of another state
 */
function readJournal(store: StoreDirectory, from: Version): Journal | undefined {
  const path = pathIn(decidedPath(store), JOURNAL);
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

async function apply(store: StoreDirectory, { from, entries }: Journal): Promise<void> {
  const pace = new Pace();
  for (const entry of entries) {
    applyEntry(store, from, entry);
    await pace.step();
  }
}

/** Applies one entry. Idempotent: it may run again after an interruption at any point. */
function applyEntry(store: StoreDirectory, from: Version, { ref, sha256 }: JournalEntry): void {
  const target = store.layout.blob(from.generation, ref);
  if (sha256 === undefined) {
    deleteFile(target);
    return;
  }
  const staged = pathIn(decidedPath(store), stagedName(ref));
  try {
    moveFile(staged, target);
    return;
  } catch (error) {
    if (isThere(staged)) throw error;
  }
  const present = readWhole(target);
  if (present === undefined || hash('sha256', present) !== sha256) throw missing({ file: staged }, REPAIR);
}

/** Name of a new blob in the directory of its commit. */
export const stagedName = (ref: BlobRef): string => `${ref.area}-${ref.name}`;

const areasOf = (entries: readonly JournalEntry[]): Set<Area> => new Set(entries.map(({ ref }) => ref.area));
