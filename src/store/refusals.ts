import {
  type CofferError,
  corrupt,
  exists,
  notFound,
  ownWords,
  type Place,
  placed,
  sealed,
  type Text,
} from '../ground/errors.ts';

/** Hint for damage that can be repaired, and for damage found by a command that does not know its extent. */
export const REPAIR = 'run "coffer doctor --repair" to repair what can be repaired and list what is lost';

/** Hint for damage that cannot be repaired from the rest of the store. */
export const RESTORE =
  'restore a backup to a new location with "coffer store restore FILE --store DIRECTORY"';

/** Hint for a missing file of the log: the log that a repair begins ignores it. */
export const LOST_FILE = `put the file back; if you cannot, ${REPAIR} (then the file can no longer be put back)`;

/** Hint for changes that a repair could not keep. */
export const LOST = `make these changes again, or ${RESTORE}`;

/** Hint for a lost document. */
export const GIVE_UP_OR_RESTORE = `${RESTORE}, or drop what is lost with "coffer rekey --without-damaged"`;

/** Hint for a slot file that is damaged or missing; only its secret could recreate it. */
export const addAgain = (slotId: string): string =>
  `unlock with another slot, run "coffer slots remove ${slotId}", and add it again with "coffer slots add"`;

/** Hint for a lost list of slots, which holds everything about slots except their secrets. */
export const LIST_LOST =
  'if the store has only one key slot, run "coffer doctor --repair"; otherwise run "coffer rekey --without-damaged", which keeps only the slot that you unlock with';

/** Creates the error for a missing part of a store. */
export const missing = (place: Place, hint?: Text): CofferError =>
  corrupt(placed`${place} is missing`, { hint });

/** Hint of the error for a store that this process has closed. */
export const STORE_CLOSED = 'the store was closed; unlock it again';

/** Creates the error for a store that nothing unlocks now; a server whose store is locked is called sealed. */
export const lockedStore = (options: { readonly hint?: string } = {}): CofferError =>
  sealed(ownWords('the store is locked'), options);

/** Creates the error for a store that already exists where one is to be created. */
export const storeThere = (place: Place): CofferError =>
  exists(placed`a store already exists in ${place}`, {
    hint: 'use this store as it is, or choose another location for the new one with --store',
  });

/** Creates the error for a missing store; for remote callers it says that the store itself is missing. */
export const noStore = (place: Place, hint: string): CofferError =>
  notFound(
    placed`${{ inside: 'no store in ', outside: '' }}${place}${{ inside: '', outside: ' is missing' }}`,
    { hint },
  );
