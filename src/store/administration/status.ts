import { asCofferError, type Place, printPlace } from '../../ground/errors.ts';
import type { Backend } from '../backends/backend.ts';
import type { Location } from '../backends/backend-kind.ts';
import { withBackendAt } from '../backends/registry.ts';
import { readConsistently } from '../backends/whole-store.ts';
import { readHeader } from '../header.ts';
import type { SlotSummary } from '../slots/slot-kind.ts';
import { readFirstSlotFiles, readSlotFiles, type SlotFile } from '../slots/slot-list.ts';
import type { DocumentRef } from '../store.ts';

/** Problem of one file of a store. */
export interface Finding {
  /** Full path. */
  readonly file: string;
  /** Description, as the rest of a sentence that begins with the path. */
  readonly reason: string;
  /** Suggested action. */
  readonly hint?: string | undefined;
  /** Document that was in the file, if its collection's index still lists it. */
  readonly holds?: DocumentRef | undefined;
}

/**
 * Reads the status of a store.
 * @throws as `openStore` for a store that is missing, unreadable or of a newer format
 */
export const storeStatus = (location: Location) => withBackendAt(location, statusOf);

/**
 * Reads the part that a sealed server shows to every client. Its cost does not depend on the size of the store.
 * @throws as `storeStatus`
 */
export const sealedView = (location: Location) =>
  withBackendAt(location, async (backend) => {
    const { id } = await readHeader(backend);
    return readConsistently(backend, async ({ generation }) => {
      const { files, unread } = await readFirstSlotFiles(backend, generation);
      /** IDs of slots, damaged ones included; undefined if there are too many to read all. */
      const ids = unread === 0 ? files.map(({ name }) => name) : undefined;
      return { id, ids, slots: files.flatMap(summariesOf) };
    });
  });

/** Describes a store without unlocking it, so nothing in it is authenticated. */
async function statusOf(backend: Backend) {
  const { format: ofHeader, ...header } = await readHeader(backend);
  const format = (await backend.format?.()) ?? ofHeader;
  return readConsistently(backend, async ({ generation, revision }) => {
    const slotFiles = await readSlotFiles(backend, generation);
    const documents = await backend.names(generation, 'documents');
    return {
      /** Directory, or the database location without its password. */
      location: printPlace(backend.place),
      /** Of docs/format.md: in a directory 1 or, with a log, 2; in a database 1. */
      format,
      ...header,
      /** Labels are sealed, so they are empty here. */
      slots: slotFiles.flatMap(summariesOf),
      /** Number of sealed files: documents, index pages, and the list of slots. */
      files: documents.length,
      /** Number of root keys that the store has had: 1 after `init`. */
      generation,
      revision,
      /** Slots that cannot be read. Documents are checked only by `examineStore`. */
      damaged: findingsIn(slotFiles),
    };
  });
}

function summariesOf({ slot }: SlotFile): readonly SlotSummary[] {
  if (slot === undefined) return [];
  const { id, kind, created, shares } = slot;
  return [{ id, kind, created, label: '', shares }];
}

/** Converts an error about a file into a finding. */
export function findingOf(place: Place, problem: unknown): Finding {
  const file = printPlace(place);
  const { message, hint } = asCofferError(problem) ?? { message: String(problem), hint: undefined };
  const prefix = `${file} `;
  const reason = message.startsWith(prefix) ? message.slice(prefix.length) : message;
  return { file, reason, hint };
}

/** Returns the findings about slot files that cannot be read. */
export const findingsIn = (files: readonly SlotFile[]): Finding[] =>
  files.flatMap(({ place, problem }) => (problem === undefined ? [] : [findingOf(place, problem)]));
