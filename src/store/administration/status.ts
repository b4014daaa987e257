import { asCofferError, type Place, printPlace } from '../../ground/errors.ts';
import type { Backend } from '../backends/backend.ts';
import type { Location } from '../backends/backend-kind.ts';
import { withBackendAt } from '../backends/registry.ts';
import { readConsistently } from '../backends/whole-store.ts';
import { readHeader } from '../header.ts';
import type { SlotSummary } from '../slots/slot-kind.ts';
import { readFirstSlotFiles, readSlotFiles, type SlotFile } from '../slots/slot-list.ts';
import type { DocumentRef } from '../store.ts';

/** Something wrong with one file of a store. */
export interface Finding {
  /** The full path. */
  readonly file: string;
  /** What is wrong: the rest of a sentence that begins with the path. */
  readonly reason: string;
  /** What to do about it. */
  readonly hint?: string;
  /** The document that was in the file, as far as its collection's index still tells. */
  readonly holds?: DocumentRef;
}

/** What can be told about a store without unlocking it; so nothing of it is authenticated. */
export interface StoreStatus {
  /** The directory, or the location of the database without a password. */
  readonly location: string;
  readonly format: number;
  readonly id: string;
  /** RFC 3339, UTC. */
  readonly created: string;
  /** Labels are sealed, so they are empty here. */
  readonly slots: readonly SlotSummary[];
  /** Sealed files: documents, the pages of their indexes, and the list of slots. */
  readonly files: number;
  /** Counts the root keys that the store has had: 1 after `init`. */
  readonly generation: number;
  readonly revision: number;
  /** Slots that can't be read. Documents are checked only by `examineStore`. */
  readonly damaged: readonly Finding[];
}

/** @throws as `openStore` does for a store that is missing, unreadable or of a newer format. */
export const storeStatus = (location: Location): Promise<StoreStatus> => withBackendAt(location, statusOf);

/** What a sealed server tells everybody; it costs the same however much the store holds. @throws as `storeStatus`. */
export const sealedView = (location: Location): Promise<Pick<StoreStatus, 'id' | 'slots'>> =>
  withBackendAt(location, async (backend) => {
    const { id } = await readHeader(backend);
    return readConsistently(backend, async ({ generation }) => {
      const { files } = await readFirstSlotFiles(backend, generation);
      return { id, slots: files.flatMap(summariesOf) };
    });
  });

async function statusOf(backend: Backend): Promise<StoreStatus> {
  const header = await readHeader(backend);
  return readConsistently(backend, async ({ generation, revision }, view) => {
    const slotFiles = await readSlotFiles(view, generation);
    const documents = await view.names(generation, 'documents');
    return {
      location: printPlace(backend.place),
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
  return [{ id, kind, created, label: '', ...(shares === undefined ? {} : { shares }) }];
}

/** An error about a file as a finding. */
export function findingOf(place: Place, problem: unknown): Finding {
  const file = printPlace(place);
  const { message, hint } = asCofferError(problem) ?? { message: String(problem), hint: undefined };
  const prefix = `${file} `;
  const reason = message.startsWith(prefix) ? message.slice(prefix.length) : message;
  return { file, reason, ...(hint === undefined ? {} : { hint }) };
}
