import { type CofferError, corrupt, notFound, type Place, placed, type Text } from '../ground/errors.ts';

/** What to do about something that is damaged or missing. */
export const BRING_BACK = 'bring it back with "coffer store restore"';

/** The same for who met one such thing in passing, and does not know about the others yet. */
export const EXAMINE_AND_BRING_BACK = `run "coffer doctor" for the whole picture; ${BRING_BACK}`;

/** Something of a store is not there. */
export const missing = (place: Place, hint?: Text): CofferError =>
  corrupt(placed`${place} is missing`, { hint });

/** There is no store at all; from elsewhere, where it would be is called the store itself. */
export const noStore = (place: Place, hint: string): CofferError =>
  notFound(
    placed`${{ inside: 'no store in ', outside: '' }}${place}${{ inside: '', outside: ' is missing' }}`,
    { hint },
  );
