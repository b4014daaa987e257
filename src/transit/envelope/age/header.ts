import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { wiping } from '../../../ground/bytes.ts';
import { type CofferError, denied, invalid } from '../../../ground/errors.ts';
import { withoutLast } from '../../../ground/trim.ts';
import type { Lookahead } from '../ports.ts';
import { damaged, unknownFormat } from '../refusals.ts';

/** Header of the age format, version 1 (C2SP, age.md): a stanza for each recipient, and a MAC over all of it. */

/** Recipient stanza: the file key, wrapped for one recipient. */
export interface Stanza {
  readonly type: string;
  readonly args: readonly string[];
  readonly body: Buffer;
}

/** Parsed header, not authenticated yet. */
export interface AgeHeader {
  readonly stanzas: readonly Stanza[];
  /** Bytes that the MAC covers. */
  readonly covered: Buffer;
  readonly mac: Buffer;
}

export const FILE_KEY_BYTES = 16;
const VERSION_LINE = 'age-encryption.org/v1';
/**
 * Maximum number of recipients. The format has none, but each stanza is tried with each version of each key. More
 * people than this can share a key.
 */
const MAX_RECIPIENTS = 1000;
const MAX_HEADER_BYTES = 2 * 2 ** 20;
const COLUMNS = 64;
const MAC_BYTES = 32;

/**
 * Reads a header and nothing after it.
 * @throws `corrupt` for another version; `inauthentic` if it is malformed or too long
 */
export async function readAgeHeader(source: Lookahead): Promise<AgeHeader> {
  const lines: string[] = [];
  let bytes = 0;
  const next = async (): Promise<string> => {
    const left = MAX_HEADER_BYTES - bytes;
    const line = await source.line(left);
    if (line === undefined) {
      const isCut = (await source.peek(left + 1)).length <= left;
      throw damaged(isCut ? 'it ends within its header' : 'its header is too long');
    }
    bytes += line.length + 1;
    lines.push(line);
    return line;
  };
  const version = await next();
  if (version !== VERSION_LINE) throw unknownFormat('another version of the age format');
  const stanzas: Stanza[] = [];
  for (;;) {
    const line = await next();
    if (line.startsWith('---')) {
      if (stanzas.length === 0) throw damaged('its header has no recipients');
      const mac = /^--- (.+)$/.exec(line)?.[1];
      const covered = Buffer.from(`${lines.slice(0, -1).join('\n')}\n---`, 'latin1');
      return { stanzas, covered, mac: mac === undefined ? noMac() : unpadded(mac, MAC_BYTES) };
    }
    if (stanzas.length === MAX_RECIPIENTS) {
      throw damaged(`it has more than ${MAX_RECIPIENTS} recipients`);
    }
    stanzas.push(await stanzaFrom(line, next));
  }
}

const noMac = (): never => {
  throw damaged('its header has no MAC');
};

async function stanzaFrom(line: string, next: () => Promise<string>): Promise<Stanza> {
  const words = line.split(' ');
  const [arrow, type, ...args] = words;
  const isWhole = arrow === '->' && type !== undefined && words.every((word) => /^[\x21-\x7e]+$/.test(word));
  if (!isWhole) throw damaged('its header has an invalid recipient line');
  const lines: string[] = [];
  for (;;) {
    const part = await next();
    if (part.length > COLUMNS) throw damaged('its header has a line that is too long');
    lines.push(part);
    if (part.length < COLUMNS) return { type, args, body: unpadded(lines.join('')) };
  }
}

/**
 * Decodes the header's base64: without padding, in its only canonical form.
 * @throws `inauthentic` otherwise
 */
export function unpadded(text: string, length?: number): Buffer {
  const bytes = Buffer.from(text, 'base64');
  if (printUnpadded(bytes) === text && (length === undefined || bytes.length === length)) return bytes;
  throw damaged('its header has an invalid value');
}

export const printUnpadded = (bytes: Uint8Array): string =>
  withoutLast(Buffer.from(bytes).toString('base64'), '=');

/** Prints a stanza, for headers and for age plugins. */
export function printStanza({ type, args, body }: Stanza): string {
  const text = printUnpadded(body);
  // The last line is shorter than the others, and may have to be empty.
  const lines = Array.from({ length: Math.floor(text.length / COLUMNS) + 1 }, (_, index) =>
    text.slice(index * COLUMNS, (index + 1) * COLUMNS),
  );
  return `-> ${[type, ...args].join(' ')}\n${lines.join('\n')}\n`;
}

/**
 * Prints a header with its MAC.
 * @throws `invalid` for more recipients than can be read
 */
export function printAgeHeader(stanzas: readonly Stanza[], fileKey: Uint8Array): Buffer {
  if (stanzas.length > MAX_RECIPIENTS) {
    throw invalid(`a file can have at most ${MAX_RECIPIENTS} recipients`, { field: 'recipient' });
  }
  const covered = `${VERSION_LINE}\n${stanzas.map(printStanza).join('')}---`;
  const mac = macOf(fileKey, Buffer.from(covered, 'latin1'));
  return Buffer.from(`${covered} ${printUnpadded(mac)}\n`, 'latin1');
}

/** Derives a key from the file key by HKDF-SHA256 (RFC 5869). */
export const derivedKey = (fileKey: Uint8Array, salt: Uint8Array, info: string): Buffer =>
  Buffer.from(hkdfSync('sha256', fileKey, salt, info, MAC_BYTES));

const macOf = (fileKey: Uint8Array, covered: Uint8Array): Buffer =>
  wiping(derivedKey(fileKey, Buffer.alloc(0), 'header'), (key) =>
    createHmac('sha256', key).update(covered).digest(),
  );

/**
 * Verifies the MAC.
 * @throws `denied` if the header was changed by anyone without the file key
 */
export function requireAuthentic({ covered, mac }: AgeHeader, fileKey: Uint8Array): void {
  if (!timingSafeEqual(macOf(fileKey, covered), mac)) throw changedHeader();
}

const changedHeader = (): CofferError =>
  denied('the header of the file was modified', {
    hint: 'get a fresh copy of the file',
  });
