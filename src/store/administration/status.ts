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

/** Description of a store that is available without unlocking it, so nothing in it is authenticated. */
interface StoreStatus {
  /** Directory, or the database location without its password. */
  readonly location: string;
  /** Of docs/format.md: in a directory 1 or, with a log, 2; in a database 1. */
  readonly format: number;
  readonly id: string;
  /** Creation time, RFC 3339 in UTC. */
  readonly created: string;
  /** Slots. Labels are sealed, so they are empty here. */
  readonly slots: readonly SlotSummary[];
  /** Number of sealed files: documents, index pages, and the list of slots. */
  readonly files: number;
  /** Number of root keys that the store has had: 1 after `init`. */
  readonly generation: number;
  readonly revision: number;
  /** Slots that cannot be read. Documents are checked only by `examineStore`. */
  readonly damaged: readonly Finding[];
}

/**
 * Reads the status of a store.
 * @throws as `openStore` for a store that is missing, unreadable or of a newer format
 */
export const storeStatus = (location: Location): Promise<StoreStatus> => withBackendAt(location, statusOf);

/**
 * Reads the part that a sealed server shows to every client. Its cost does not depend on the size of the store.
 * @throws as `storeStatus`
 */
export const sealedView = (location: Location): Promise<Pick<StoreStatus, 'id' | 'slots'>> =>
  withBackendAt(location, async (backend) => {
    const { id } = await readHeader(backend);
    return readConsistently(backend, async ({ generation }) => {
      const { files } = await readFirstSlotFiles(backend, generation);
      return { id, slots: files.flatMap(summariesOf) };
    });
  });

async function statusOf(backend: Backend): Promise<StoreStatus> {
  const { format: ofHeader, ...header } = await readHeader(backend);
  const format = (await backend.format?.()) ?? ofHeader;
  return readConsistently(backend, async ({ generation, revision }) => {
    const slotFiles = await readSlotFiles(backend, generation);
    const documents = await backend.names(generation, 'documents');
    return {
      location: printPlace(backend.place),
      format,
      ...header,
      slots: slotFiles.flatMap(summariesOf),
      files: documents.length,
      generation,
      revision,
      damaged: slotFiles.flatMap(({ place, problem }) =>
        problem === undefined ? [] : [findingOf(place, problem)],
      ),
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
