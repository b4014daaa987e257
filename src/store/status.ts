import { unsupported } from '../errors.ts';
import type { SlotSummary } from './slots/slot-kind.ts';

/** Something wrong with one file of a store. */
export interface Finding {
  /** The full path. */
  readonly file: string;
  /** What is wrong, one clause. */
  readonly reason: string;
  /** What to do about it. */
  readonly hint?: string;
}

/** What can be told about a store without unlocking it; so nothing of it is authenticated. */
export interface StoreStatus {
  readonly directory: string;
  readonly format: number;
  readonly id: string;
  /** RFC 3339, UTC. */
  readonly created: string;
  /** Labels are sealed, so they are empty here. */
  readonly slots: readonly SlotSummary[];
  /** Sealed files, index pages included. */
  readonly files: number;
  /** Counts the root keys that the store has had: 1 after `init`. */
  readonly generation: number;
  readonly revision: number;
  /** Slots that can't be read. Documents are checked only by `examineStore`. */
  readonly damaged: readonly Finding[];
}

/** @throws as `openStore` does for a store that is missing, unreadable or of a newer format. */
export async function storeStatus(_directory: string): Promise<StoreStatus> {
  throw unsupported('not yet');
}
