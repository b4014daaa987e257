import {
  type CofferError,
  corrupt,
  exists,
  notFound,
  type Place,
  placed,
  type Text,
} from '../ground/errors.ts';

/** What to do about something that can be mended, or that somebody met in passing who does not know what it is. */
export const REPAIR =
  'run "coffer doctor --repair": it mends what can be mended with nothing lost, and names what is lost';

/** What to do about a store, or a part that nothing in the store can stand for. */
export const RESTORE =
  'bring back a backup at another place with "coffer store restore FILE --store DIRECTORY", and use that one';

/** What to do about a document that is lost. */
export const GIVE_UP_OR_RESTORE = `${RESTORE}, or give up what is lost with "coffer rekey --without-damaged"`;

/** What to do about a slot file that is damaged or missing; nothing but its secret could make it anew. */
export const addAgain = (slotId: string): string =>
  `unlock with another slot, run "coffer slots remove ${slotId}", and add it again with "coffer slots add"`;

/** What to do about the list of slots, in which all but the slots' secrets is. */
export const LIST_LOST =
  'run "coffer doctor --repair"; where there are several slots, "coffer rekey --without-damaged" keeps the one that you unlock with';

/** Something of a store is not there. */
export const missing = (place: Place, hint?: Text): CofferError =>
  corrupt(placed`${place} is missing`, { hint });

/** There is a store where one is to be made. */
export const storeThere = (place: Place): CofferError =>
  exists(placed`there is a store in ${place} already`, {
    hint: 'give another location with --store, or use this one',
  });

/** There is no store at all; from elsewhere, where it would be is called the store itself. */
export const noStore = (place: Place, hint: string): CofferError =>
  notFound(
    placed`${{ inside: 'no store in ', outside: '' }}${place}${{ inside: '', outside: ' is missing' }}`,
    { hint },
  );
