import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { corrupt } from '../../errors.ts';
import { type Area, areas, type BlobRef, type Change, type Version } from './backend.ts';
import { stageBlobFile } from './blob-file.ts';
import { deleteFile, inParallel, moveFile, readWhole, syncDirectory, writeDurably } from './durable-files.ts';
import { type Journal, type JournalEntry, parseJournal, printJournal } from './journal.ts';
import { type Layout, STAGED } from './layout.ts';
import { type StateDirectory, settled, unsettled } from './state-directory.ts';

/** What a commit works on. */
export interface Place {
  readonly layout: Layout;
  readonly state: StateDirectory;
}

/**
 * Applies changes, all or none. Everything new is staged first, so a full disk is noticed while nothing has changed.
 * One change needs no journal: the rename that puts it in place is atomic by itself.
 */
export async function commitChanges(
  place: Place,
  from: Version,
  changes: readonly Change[],
): Promise<Version> {
  const journal: Journal = { from, entries: changes.map(entryOf) };
  const several = changes.length > 1;
  try {
    await inParallel(changes, (change) => stage(place, from, change));
    if (several) await writeDurably(place.state.journal + STAGED, printJournal(journal));
  } catch (error) {
    place.state.discard(place.state.list().others);
    throw error;
  }
  place.state.change(settled(from), unsettled(from));
  if (several) {
    moveFile(place.state.journal + STAGED, place.state.journal);
    // From here on the commit is decided: this sync covers the journal, the staged files and the change of state.
    await syncDirectory(place.state.path);
  }
  await apply(place, journal);
  return finish(place, from, several);
}

/** Finishes the commit that a killed process was at, or clears away what it had prepared. */
export async function recover(place: Place, from: Version): Promise<Version> {
  const bytes = readWhole(place.state.journal);
  if (bytes === undefined) {
    // At most one file had been moved into place; make that durable before anybody builds on it.
    await Promise.all(areas.map((area) => syncDirectory(place.layout.area(from.generation, area))));
    return finish(place, from, false);
  }
  const journal = parseJournal(bytes, place.state.journal);
  if (journal.from.generation !== from.generation || journal.from.revision !== from.revision) {
    throw corrupt(`${place.state.journal} is of another state of the store`, {
      hint: 'delete it, then run "coffer doctor"',
    });
  }
  await apply(place, journal);
  return finish(place, from, true);
}

async function finish(place: Place, from: Version, journaled: boolean): Promise<Version> {
  const next: Version = { generation: from.generation, revision: from.revision + 1 };
  if (journaled) place.state.deleteJournal();
  place.state.change(unsettled(from), settled(next));
  // The journal must be gone from the disk before a later commit is acknowledged, or a crash of the
  // machine could bring it back and have it undo that commit.
  if (journaled) await syncDirectory(place.state.path);
  return next;
}

async function apply(place: Place, { from, entries }: Journal): Promise<void> {
  for (const entry of entries) applyEntry(place, from, entry);
  for (const area of areasOf(entries)) await syncDirectory(place.layout.area(from.generation, area));
}

/** May run again after it was cut short anywhere. */
function applyEntry(place: Place, from: Version, { ref, sha256 }: JournalEntry): void {
  const target = place.layout.blob(from.generation, ref);
  const staged = stagedPath(place, ref);
  if (sha256 === undefined) {
    deleteFile(target);
    return;
  }
  if (existsSync(staged)) {
    moveFile(staged, target);
    return;
  }
  const present = readWhole(target);
  if (present === undefined || hash(present) !== sha256) {
    throw corrupt(`${dirname(staged)} is damaged: the staged content of ${target} is missing`, {
      hint: `restore a backup, or delete ${place.state.journal} to give up the unfinished change`,
    });
  }
}

async function stage(place: Place, from: Version, { ref, bytes }: Change): Promise<void> {
  if (bytes === undefined) return;
  await stageBlobFile(place.layout.blob(from.generation, ref), stagedPath(place, ref), bytes);
}

const stagedPath = (place: Place, ref: BlobRef): string =>
  join(place.state.path, `${ref.area}-${ref.name}${STAGED}`);

const entryOf = ({ ref, bytes }: Change): JournalEntry => ({
  ref,
  sha256: bytes === undefined ? undefined : hash(bytes),
});

const hash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const areasOf = (entries: readonly JournalEntry[]): Set<Area> => new Set(entries.map(({ ref }) => ref.area));
