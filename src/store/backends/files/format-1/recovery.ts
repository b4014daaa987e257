import { corrupt, placed } from '../../../../ground/errors.ts';
import { isObject } from '../../../../ground/objects.ts';
import { Pace } from '../../../../ground/pace.ts';
import { parseChecked, printChecked } from '../../../checked-json.ts';
import { missing, REPAIR } from '../../../refusals.ts';
import { type Area, areas, type BlobRef, type Version } from '../../backend.ts';
import { deleteFile, isThere, moveFile, readWhole, syncChanged } from '../durable-files.ts';
import { digestAt } from '../generation-files.ts';
import { pathIn } from '../layout.ts';
import type { StoreDirectory } from '../log/log.ts';

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
  const pace = new Pace();
  for (const entry of journal?.entries ?? []) {
    applyEntry(store, from, entry);
    await pace.step();
  }
  // Without a journal, at most one file had been moved into place.
  const changed = journal === undefined ? areas : new Set(journal.entries.map(({ ref }) => ref.area));
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
  if (digestAt(target) !== sha256) throw missing({ file: staged }, REPAIR);
}

/** Name of a new blob in the directory of its commit. */
export const stagedName = (ref: BlobRef): string => `${ref.area}-${ref.name}`;

/** File name of the journal in the directory of a decided commit. */
export const JOURNAL = 'journal';
const FORMAT = 1;
const NAME = /^[0-9a-f]{1,64}$/;
const SHA256 = /^[0-9a-f]{64}$/;

/** Step of a commit: moves the staged file with this content into place, or deletes the blob. */
export interface JournalEntry {
  readonly ref: BlobRef;
  /** SHA-256 of the new content in hexadecimal; undefined for a deletion. */
  readonly sha256: string | undefined;
}

/** Pending changes of a commit with several changes. Once the journal is on disk, the commit is decided. */
export interface Journal {
  /** Version that the commit starts from. */
  readonly from: Version;
  readonly entries: readonly JournalEntry[];
}

export function printJournal({ from, entries }: Journal): Buffer {
  return printChecked({
    format: FORMAT,
    generation: from.generation,
    revision: from.revision,
    changes: entries.map(({ ref, sha256 }) => ({ area: ref.area, name: ref.name, sha256: sha256 ?? null })),
  });
}

/**
 * Parses a journal. Names are checked strictly: an attacker who can write this file must not be able to make us write
 * or delete anything outside the store.
 * @param file path of the journal
 * @throws `corrupt` if it is malformed
 */
export function parseJournal(bytes: Uint8Array, file: string): Journal {
  const body = parseChecked(bytes);
  const { format, generation, revision, changes } = body ?? {};
  const entries = Array.isArray(changes) ? changes.map(parseEntry) : [];
  if (
    format !== FORMAT ||
    typeof generation !== 'number' ||
    typeof revision !== 'number' ||
    entries.length === 0 ||
    !entries.every((entry) => entry !== undefined)
  ) {
    throw corrupt(placed`${{ file }} is damaged`, { hint: REPAIR });
  }
  return { from: { generation, revision }, entries };
}

function parseEntry(value: unknown): JournalEntry | undefined {
  if (!isObject(value)) return undefined;
  const { area, name, sha256 } = value;
  if (!isArea(area) || typeof name !== 'string' || !NAME.test(name)) return undefined;
  if (sha256 === null) return { ref: { area, name }, sha256: undefined };
  return typeof sha256 === 'string' && SHA256.test(sha256) ? { ref: { area, name }, sha256 } : undefined;
}

const isArea = (value: unknown): value is Area => areas.some((area) => area === value);
