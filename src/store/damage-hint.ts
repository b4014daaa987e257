/** What to do about a file that is damaged or missing. */
export const BRING_BACK = 'bring it back with "coffer store restore"';

/** The same for who met one such file in passing, and does not know about the others yet. */
export const EXAMINE_AND_BRING_BACK = `run "coffer doctor" for the whole picture; ${BRING_BACK}`;
