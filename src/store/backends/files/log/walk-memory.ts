/** Memory of the loop over the records of a log (`walk.ts`), as it and `scripts/log-walker.ts` know it. */

/** A table for checksums is before it. */
export const STATE_AT = 1024;
/** Offsets of its members from there: four bytes each, but eight for the two revisions. */
export const STATE = {
  at: 0,
  crc: 4,
  generation: 8,
  isAll: 12,
  revision: 16,
  upTo: 24,
  listed: 32,
  records: 36,
} as const;
export const BEGINS_AT = 2048;
export const OFFSETS_AT = 3072;
export const FILE_AT = 4096;
/** Bytes of a file, and of its lists, for which there is room. */
export const ROOM_BYTES = 2 * 1024 * 1024;
export const LISTS_AT = FILE_AT + ROOM_BYTES;
const PAGE_BYTES = 64 * 1024;
export const PAGES = Math.ceil((LISTS_AT + ROOM_BYTES) / PAGE_BYTES);

/** What the loop returns. */
export const WHOLE = 0;
export const MORE = 1;
export const UNUSUAL = 2;
