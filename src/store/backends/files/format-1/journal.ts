import { corrupt, placed } from '../../../../ground/errors.ts';
import { isObject } from '../../../../ground/objects.ts';
import { parseChecked, printChecked } from '../../../checked-json.ts';
import { REPAIR } from '../../../refusals.ts';
import { type Area, areas, type BlobRef, type Version } from '../../backend.ts';

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
