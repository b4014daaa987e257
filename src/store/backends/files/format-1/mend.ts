import { join } from 'node:path';
import { unlessRefused } from '../../../../ground/errors.ts';
import { areas, type BlobRef, type Mend } from '../../backend.ts';
import { isSameVersion, versionOf } from '../../witness.ts';
import {
  deleteFile,
  deleteTree,
  isThere,
  listDirectory,
  readWhole,
  syncDirectory,
  writeDurably,
} from '../durable-files.ts';
import { digestAt } from '../generation-files.ts';
import type { StoreDirectory } from '../log/log.ts';
import type { StateName } from '../state-directory.ts';
import {
  decidedPath,
  JOURNAL,
  type Journal,
  type JournalEntry,
  parseJournal,
  printJournal,
  stagedName,
} from './recovery.ts';

/** Repairs a decided commit so that it can be finished. Changes lost from it were never acknowledged to a caller. */
export async function mendUnfinished(
  directory: StoreDirectory,
  found: StateName,
  mended: Mend[],
): Promise<StateName> {
  const { state, layout } = directory;
  const decided = decidedPath(directory);
  const path = join(decided, JOURNAL);
  const bytes = readWhole(path);
  const place = { file: path };
  if (bytes === undefined) return found;
  const journal = decidedJournal(decided);
  let present = found;
  if (journal !== undefined && !isSameVersion(journal.from, found)) {
    const { generation, revision } = journal.from;
    if (generation !== found.generation || revision < found.revision) {
      deleteTree(decided);
      mended.push({ place, done: 'belonged to an earlier revision and was deleted' });
      return found;
    }
    present = { ...journal.from, kind: 'dirty' };
    state.change(found, present);
  }
  const left = journal?.entries ?? stagedEntries(decided);
  const entries = left.filter(({ ref, sha256 }) => {
    const target = layout.blob(present.generation, ref);
    if (sha256 === undefined || isThere(join(decided, stagedName(ref)))) return true;
    if (digestAt(target) === sha256) return true;
    mended.push({
      place: { file: target },
      done: 'has its old content: a change was interrupted, and no command had reported that change as done',
    });
    return false;
  });
  if (journal !== undefined && entries.length === journal.entries.length) return present;
  if (entries.length === 0) deleteFile(path);
  else await writeDurably(path, printJournal({ from: versionOf(present), entries }));
  await syncDirectory(decided);
  if (journal === undefined)
    mended.push({
      place,
      done: 'was damaged: the interrupted change in it was completed, but what it was to delete may still be there',
    });
  return present;
}

/**
 * Reads the journal of a decided commit; undefined if there is none, or it is damaged.
 * @param decided directory of the commit
 */
export function decidedJournal(decided: string): Journal | undefined {
  const path = join(decided, JOURNAL);
  const bytes = readWhole(path);
  return bytes && unlessRefused(() => parseJournal(bytes, path), undefined, 'corrupt');
}

/** Reconstructs journal entries from the staged files of a commit. */
const stagedEntries = (decided: string): JournalEntry[] =>
  listDirectory(decided).flatMap((file) => {
    const ref = areas
      .map((area): BlobRef => ({ area, name: file.slice(area.length + 1) }))
      .find((candidate) => stagedName(candidate) === file && /^[0-9a-f]{1,64}$/.test(candidate.name));
    return ref === undefined ? [] : [{ ref, sha256: digestAt(join(decided, file)) }];
  });
