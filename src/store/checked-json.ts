import { hash } from 'node:crypto';
import { utf8 } from '../ground/bytes.ts';
import { attempt } from '../ground/errors.ts';
import { isObject } from '../ground/objects.ts';

/**
 * Small clear-text files (header, slots, journal) with a checksum, which distinguishes damage from a wrong key. The
 * file is one line: `{"checksum":"<64 hex>",` and then the rest of a JSON object. The checksum is SHA-256 over `{` and
 * that rest, so every byte of the file counts. It protects against accidents, not against attackers.
 */
const PREFIX = '{"checksum":"';
const HEX_LENGTH = 64;
const BODY_START = PREFIX.length + HEX_LENGTH + '",'.length;

const checksumOf = (body: string): string => hash('sha256', body, 'hex');

/**
 * Prints an object with its checksum.
 * @param body JSON object with at least one field
 */
export function printChecked(body: object): Buffer {
  const json = JSON.stringify(body);
  return utf8(`${PREFIX}${checksumOf(json)}",${json.slice(1)}\n`);
}

/** Parses the object; undefined if any byte has changed since it was printed. */
export function parseChecked(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const body = `{${text.slice(BODY_START, -1)}`;
  const expected = `${PREFIX}${checksumOf(body)}",${body.slice(1)}\n`;
  // Compare bytes, because a decoder maps many malformed sequences to one character.
  if (!utf8(expected).equals(bytes)) return undefined;
  const value: unknown = attempt(() => JSON.parse(body));
  return isObject(value) ? value : undefined;
}
