import { asCofferError, type Place, printPlace } from '../../ground/errors.ts';
import type { Backend } from '../backends/backend.ts';
import type { Location } from '../backends/backend-kind.ts';
import { withBackendAt } from '../backends/registry.ts';
import { readConsistently } from '../backends/whole-store.ts';
import { readHeader } from '../header.ts';
import { BRING_BACK, EXAMINE_AND_BRING_BACK } from '../refusals.ts';
import type { SlotSummary } from '../slots/slot-kind.ts';
import { readSlotFiles } from '../slots/slot-list.ts';

/** Something wrong with one file of a store. */
export interface Finding {
  /** The full path. */
  readonly file: string;
  /** What is wrong: the rest of a sentence that begins with the path. */
  readonly reason: string;
  /** What to do about it. */
  readonly hint?: string;
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

async function statusOf(backend: Backend): Promise<StoreStatus> {
  const header = await readHeader(backend);
  return readConsistently(backend, async ({ generation, revision }, view) => {
    const slotFiles = await readSlotFiles(view, generation);
    const documents = await view.names(generation, 'documents');
    return {
      location: printPlace(backend.place),
      ...header,
      slots: slotFiles.flatMap(({ slot }) => {
        if (slot === undefined) return [];
        const { id, kind, created, shares } = slot;
        return [{ id, kind, created, label: '', ...(shares === undefined ? {} : { shares }) }];
      }),
      files: documents.length,
      generation,
      revision,
      damaged: slotFiles.flatMap(({ place, problem }) =>
        problem === undefined ? [] : [findingOf(place, problem)],
      ),
    };
  });
}

/** An error about a file as a finding. */
export function findingOf(place: Place, problem: unknown): Finding {
  const file = printPlace(place);
  const { message, hint } = asCofferError(problem) ?? { message: String(problem), hint: undefined };
  const prefix = `${file} `;
  const reason = message.startsWith(prefix) ? message.slice(prefix.length) : message;
  return { file, reason, ...(hint === undefined ? {} : { hint: withinExamination(hint) }) };
}

/** A finding is part of the whole picture already. */
const withinExamination = (hint: string): string => (hint === EXAMINE_AND_BRING_BACK ? BRING_BACK : hint);
