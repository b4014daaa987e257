import type { Chance } from '../chance.ts';

/** Ways to spoil what was right. */

const TELLING_BYTES = [0x00, 0x01, 0x7f, 0x80, 0xff, 0x0a, 0x0d, 0x22, 0x2f, 0x3a, 0x5c, 0x7b];
const MOST_CHANGES = 4;
const LARGEST_FILLING = 4096;

/** Bytes that are like `bytes`, but not quite; sometimes nothing like them. */
export function spoiledBytes(chance: Chance, bytes: Uint8Array, others: readonly Uint8Array[] = []): Buffer {
  if (chance.oneIn(60)) return chance.bytes(chance.size(300));
  let spoiled: Buffer = Buffer.from(bytes);
  for (let changes = 1 + chance.size(MOST_CHANGES - 1); changes > 0; changes--) {
    spoiled = spoiledOnce(chance, spoiled, others);
  }
  return spoiled;
}

function spoiledOnce(chance: Chance, bytes: Buffer, others: readonly Uint8Array[]): Buffer {
  const at = chance.below(bytes.length + 1);
  switch (chance.below(11)) {
    case 0:
      return withByte(bytes, at, chance.pick(TELLING_BYTES));
    case 1:
      return withByte(bytes, at, chance.below(256));
    case 2:
      return bytes.subarray(0, at);
    case 3:
      return bytes.subarray(at);
    case 4:
      return replaced(bytes, at, chance.size(16), Buffer.alloc(0));
    case 5:
      return replaced(bytes, at, 0, chance.bytes(chance.size(16)));
    case 6:
      return replaced(bytes, at, 0, filling(chance));
    case 7:
      return replaced(bytes, at, 0, piece(chance, bytes));
    case 8:
      return replaced(
        bytes,
        at,
        chance.size(32),
        piece(chance, others.length > 0 ? chance.pick(others) : bytes),
      );
    case 9:
      return withByte(bytes, at, (bytes[at] ?? 0) + (chance.oneIn(2) ? 1 : -1));
    default:
      return withByte(bytes, at, (bytes[at] ?? 0) ^ (1 << chance.below(8)));
  }
}

function withByte(bytes: Buffer, at: number, value: number): Buffer {
  const changed = Buffer.from(bytes);
  if (at < changed.length) changed[at] = value;
  return changed;
}

const replaced = (bytes: Buffer, at: number, cut: number, put: Uint8Array): Buffer =>
  Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + cut)]);

const filling = (chance: Chance): Buffer =>
  Buffer.alloc(chance.size(LARGEST_FILLING), chance.pick(TELLING_BYTES));

function piece(chance: Chance, bytes: Uint8Array): Uint8Array {
  const from = chance.below(bytes.length + 1);
  return bytes.subarray(from, from + 1 + chance.size(64));
}

/** Texts that mean something somewhere: to parsers, to JavaScript, to terminals, to file systems. */
export const TELLING_TEXTS: readonly string[] = [
  '',
  ' ',
  '9'.repeat(400),
  ...'\0|\n|\r\n|\t|\x1b]0;x\x07|\x1b[2J|\x7f|\x85|\ud800|\udc00|\ufeff|\ufffd|\u202e|\u2028'.split('|'),
  ...'\u0130 ß é e\u0301 😀 ﬃ " \' \\ / .. ../.. . % %00 %2e%2e%2f * + +* , ; : = == & ? #'.split(' '),
  ...'__proto__ constructor prototype hasOwnProperty toString valueOf length [object_Object]'.split(' '),
  ...'null true false undefined NaN 0 -0 -1 00 1e3 1e400 0x7f 0b1 017 1.5 +1 9007199254740993'.split(' '),
  ...'9223372036854775808 -9223372036854775809 18446744073709551616 vault:v1: service:v1: v1'.split(' '),
  ...'{ } [ ] {} [] [[[[ {"a": /* */ // <<EOF {{version}} $x `id` A AAAA A== -_-_'.split(' '),
];

/** A text of any kind. */
export function anyText(chance: Chance): string {
  if (chance.oneIn(3)) return chance.pick(TELLING_TEXTS);
  if (chance.oneIn(4)) return chance.bytes(chance.size(40)).toString('latin1');
  if (chance.oneIn(3)) return chance.bytes(chance.size(40)).toString('base64');
  if (chance.oneIn(40)) return chance.pick(TELLING_TEXTS).repeat(1 + chance.below(LARGEST_FILLING));
  let text = '';
  for (let length = chance.size(24); length > 0; length--) {
    text += String.fromCharCode(chance.oneIn(3) ? chance.below(0x10000) : 0x20 + chance.below(0x5f));
  }
  return text;
}

/** A text that is like `text`, but not quite. */
export function spoiledText(chance: Chance, text: string, others: readonly string[] = []): string {
  if (chance.oneIn(60)) return anyText(chance);
  let spoiled = text;
  for (let changes = 1 + chance.size(MOST_CHANGES - 1); changes > 0; changes--) {
    spoiled = spoiledTextOnce(chance, spoiled, others);
  }
  return spoiled;
}

function spoiledTextOnce(chance: Chance, text: string, others: readonly string[]): string {
  const at = chance.below(text.length + 1);
  const before = text.slice(0, at);
  switch (chance.below(9)) {
    case 0:
      return before;
    case 1:
      return text.slice(at);
    case 2:
      return before + text.slice(at + 1 + chance.size(16));
    case 3:
      return before + anyText(chance) + text.slice(at);
    case 4:
      return before + chance.pick(TELLING_TEXTS) + text.slice(at + chance.size(8));
    case 5:
      return before + text.slice(at, at + 1 + chance.size(64)) + text.slice(at);
    case 6: {
      const other = others.length > 0 ? chance.pick(others) : text;
      const from = chance.below(other.length + 1);
      return before + other.slice(from, from + 1 + chance.size(64)) + text.slice(at + chance.size(32));
    }
    default:
      return before + String.fromCharCode(0x20 + chance.below(0x60)) + text.slice(at + 1);
  }
}

/** Inputs of half the length, three quarters, and so on down to one character less. */
export function* shorterTexts(text: string): Generator<string> {
  for (let cut = Math.ceil(text.length / 2); cut >= 1; cut = cut === 1 ? 0 : Math.ceil(cut / 2)) {
    for (let at = 0; at < text.length; at += cut) yield text.slice(0, at) + text.slice(at + cut);
  }
}

/** The same for bytes. */
export function* shorterBytes(bytes: Buffer): Generator<Buffer> {
  for (const text of shorterTexts(bytes.toString('latin1'))) yield Buffer.from(text, 'latin1');
}

/** A text of which a piece is repeated until it has about `length` characters: for what grows faster than its input. */
export function swollenText(chance: Chance, text: string, length: number): string {
  const from = chance.below(text.length);
  const repeated = text.slice(from, from + 1 + chance.below(chance.pick([1, 8, text.length]))) || ' ';
  return text.slice(0, from) + repeated.repeat(Math.ceil(length / repeated.length)) + text.slice(from);
}
