import { hash } from 'node:crypto';
import { parseChecked, printChecked } from '../../checked-json.ts';

/** Format of a directory with a log. Everything above the directory is the same as in format 1. */
export const WITH_LOG = 2;
export const WITHOUT_LOG = 1;
export type DirectoryFormat = typeof WITH_LOG | typeof WITHOUT_LOG;

/**
 * Returns a header with the format of a directory with a log, or with that of sealed files alone. Any other header stays
 * as it is: it is damaged, or of a newer format.
 */
export function withFormat(header: Buffer, format: DirectoryFormat): Buffer {
  const { checksum: _, ...body } = parseChecked(header) ?? {};
  const present = body['format'];
  return present === format || (present !== WITH_LOG && present !== WITHOUT_LOG)
    ? header
    : printChecked({ ...body, format });
}

/** Returns the format of a directory by its header, which is intact. */
export const formatOf = (header: Buffer): number => Number(parseChecked(header)?.['format']);

/** Returns the format of a header if this release does not read it. */
export function newerFormatOf(header: Buffer): number | undefined {
  const format = parseChecked(header)?.['format'];
  return typeof format === 'number' && format > WITH_LOG ? format : undefined;
}

/** Whether every byte of a header is as it was printed. */
export const isIntact = (header: Buffer): boolean => parseChecked(header) !== undefined;

/** Returns the 16 bytes that stand for the store's ID in its log. */
export function storeIdOf(header: Buffer): Buffer {
  const id = parseChecked(header)?.['id'];
  const digits = typeof id === 'string' ? id.replaceAll('-', '') : '';
  return /^[0-9a-f]{32}$/.test(digits)
    ? Buffer.from(digits, 'hex')
    : hash('sha256', header, 'buffer').subarray(0, 16);
}
