/**
 * The loop over the records of a log as WebAssembly. Its instructions are put together here, because none of the
 * packages compiles to WebAssembly. `readRecords` in `glanced-file.ts` is the same loop in TypeScript, and a test
 * compares them.
 * @see docs/decisions/0309
 */
import { POLYNOMIAL } from '../src/store/backends/files/log/crc32.ts';
import {
  DELETED,
  ENTRY_HEAD_BYTES,
  FILE_BYTES,
  MOST_DIGITS,
  MOST_RECORDS,
  RECORD_HEAD_BYTES,
  SLOT,
} from '../src/store/backends/files/log/format.ts';
import { MOST_KIND, REKEY } from '../src/store/backends/files/log/glanced-file.ts';
import {
  BEGINS_AT,
  FILE_AT,
  LISTS_AT,
  MORE,
  OFFSETS_AT,
  PAGES,
  STATE,
  STATE_AT,
  UNUSUAL,
  WHOLE,
} from '../src/store/backends/files/log/walk-memory.ts';

/** Generated source with the code. */
export const LOG_WALKER = 'src/store/backends/files/log/walk-code.ts';

/** Returns that source. */
export function logWalkerSource(): string {
  const code = Buffer.from(assembled()).toString('base64');
  const lines = code.match(/.{1,100}/g)?.map((line) => `  '${line}'`) ?? [];
  return `/* Written by "npm run generate" from scripts/log-walker.ts. */

/** WebAssembly, in base64. */
export const WALK_CODE =
${lines.join(' +\n')};
`;
}

/** Bytes, or a branch whose depth depends on where it is. */
type Code = readonly (number | Block | { readonly to: string })[];
interface Block {
  readonly label: string;
  readonly opening: number;
  readonly body: Code;
}

function flat(code: Code, labels: readonly string[] = []): number[] {
  return code.flatMap((part) => {
    if (typeof part === 'number') return [part];
    if ('to' in part) return [0x0c, labels.length - 1 - labels.lastIndexOf(part.to)];
    return [part.opening, 0x40, ...flat(part.body, [...labels, part.label]), 0x0b];
  });
}

function unsigned(value: number): number[] {
  const rest = Math.floor(value / 128);
  return rest === 0 ? [value] : [(value % 128) + 128, ...unsigned(rest)];
}

function signed(value: number): number[] {
  const rest = value >> 7;
  const low = value & 127;
  return (rest === 0 && low < 64) || (rest === -1 && low >= 64) ? [low] : [low + 128, ...signed(rest)];
}

const block = (label: string, body: Code): Block => ({ label, opening: 0x02, body });
const loop = (label: string, body: Code): Block => ({ label, opening: 0x03, body });
const to = (label: string): Code => [{ to: label }];
const when = (condition: Code, body: Code): Code => [...condition, { label: '', opening: 0x04, body }];

const number = (value: number): Code => [0x41, ...signed(value)];
const binary =
  (operation: number) =>
  (a: Code, b: Code): Code => [...a, ...b, operation];
const [equal, differ, below, above, atLeast] = [0x46, 0x47, 0x49, 0x4b, 0x4f].map(binary) as Binaries;
const [add, subtract, and, or, xor] = [0x6a, 0x6b, 0x71, 0x72, 0x73].map(binary) as Binaries;
const [left, right, turned] = [0x74, 0x76, 0x77].map(binary) as Binaries;
const [sameLong, differLong, aboveLong, atMostLong] = [0x51, 0x52, 0x56, 0x58].map(binary) as Binaries;
const [addLong, orLong, leftLong] = [0x7c, 0x84, 0x86].map(binary) as Binaries;
type Binaries = [Binary, Binary, Binary, Binary, Binary];
type Binary = ReturnType<typeof binary>;

const long = (a: Code): Code => [...a, 0xad];
const isZero = (a: Code): Code => [...a, 0x45];
const byteAt = (a: Code, offset = 0): Code => [...a, 0x2d, 0, ...unsigned(offset)];
const load = (a: Code, offset = 0): Code => [...a, 0x28, 2, ...unsigned(offset)];
const loadLong = (a: Code, offset = 0): Code => [...a, 0x29, 3, ...unsigned(offset)];
const store = (a: Code, value: Code, offset = 0): Code => [...a, ...value, 0x36, 2, ...unsigned(offset)];
const storeLong = (a: Code, value: Code, offset = 0): Code => [...a, ...value, 0x37, 3, ...unsigned(offset)];
const copy = (target: Code, from: Code, bytes: Code): Code => [...target, ...from, ...bytes, 0xfc, 10, 0, 0];

/** A variable: read, and given a value. */
const variable = (index: number) => ({
  get: [0x20, index] as Code,
  set: (value: Code): Code => [...value, 0x21, index],
});
type Variable = ReturnType<typeof variable>;

/** Functions, in this order. */
const [BIG_ENDIAN, CONTINUED, MAKE_TABLE, WALK] = [0, 1, 2, 3] as const;
const bigEndian = (at: Code): Code => [...at, 0x10, BIG_ENDIAN];
const continued = (from: Code, end: Code, crc: Code): Code => [...from, ...end, ...crc, 0x10, CONTINUED];

/** Four bytes as a number, the most significant one first. */
function bigEndianBody(): Code {
  const at = variable(0);
  const half = (bits: number, mask: number): Code => and(turned(load(at.get), number(bits)), number(mask));
  return or(half(8, 0x00ff00ff), half(24, 0xff00ff00 | 0));
}

/** As in `crc32.ts`. */
function continuedBody(): Code {
  const [at, end, crc] = [variable(0), variable(1), variable(2)];
  const index = and(xor(crc.get, byteAt(at.get)), number(0xff));
  const each: Code = [
    ...crc.set(xor(load(left(index, number(2))), right(crc.get, number(8)))),
    ...at.set(add(at.get, number(1))),
    ...to('each'),
  ];
  return [loop('each', when(below(at.get, end.get), each)), ...crc.get];
}

function makeTableBody(): Code {
  const [at, crc, bits] = [variable(0), variable(1), variable(2)];
  // The polynomial where the last bit is set, without a branch.
  const reduced = and(number(POLYNOMIAL | 0), subtract(number(0), and(crc.get, number(1))));
  const bit: Code = [
    ...crc.set(xor(right(crc.get, number(1)), reduced)),
    ...bits.set(subtract(bits.get, number(1))),
    ...when(bits.get, to('bit')),
  ];
  const entry: Code = [
    ...crc.set(at.get),
    ...bits.set(number(8)),
    loop('bit', bit),
    ...store(left(at.get, number(2)), crc.get),
    ...at.set(add(at.get, number(1))),
    ...when(below(at.get, number(256)), to('entry')),
  ];
  return [loop('entry', entry)];
}

const NAMES = [
  'size',
  'at',
  'crc',
  'listed',
  'records',
  'status',
  'begin',
  'length',
  'list',
  'left',
  'digits',
];
const LONG_NAMES = ['revision', 'upTo', 'number', 'content'];
const locals = Object.fromEntries([...NAMES, ...LONG_NAMES].map((name, index) => [name, variable(index)]));

function local(name: string): Variable {
  const found = locals[name];
  if (found === undefined) throw new Error(`no variable ${name}`);
  return found;
}

const get = (name: string): Code => local(name).get;
const set = (name: string, value: Code): Code => local(name).set(value);
const ends = (status: Code): Code => [...set('status', status), ...to('over')];
const unusualIf = (condition: Code): Code => when(condition, ends(number(UNUSUAL)));
const member = (name: keyof typeof STATE): Code => load(number(0), STATE_AT + STATE[name]);
const plus = (name: string, value: number): Code => add(get(name), number(value));
/** Where the file ends too early: damage, or what was not read yet. */
const notYet = (): Code => [...when(member('isAll'), ends(number(UNUSUAL))), ...ends(number(MORE))];

/** @returns what a call with the size of the file that was read returns */
function walkBody(): Code {
  const kept = ['at', 'crc', 'listed', 'records'] as const;
  return [
    ...kept.flatMap((name) => set(name, member(name))),
    ...set('revision', loadLong(number(0), STATE_AT + STATE.revision)),
    ...set('upTo', loadLong(number(0), STATE_AT + STATE.upTo)),
    block('over', [
      loop('records', [
        ...set('begin', plus('at', FILE_AT)),
        ...when(sameLong(get('revision'), get('upTo')), endOfRecords()),
        ...oneRecord(),
        ...to('records'),
      ]),
    ]),
    ...kept.flatMap((name) => store(number(0), get(name), STATE_AT + STATE[name])),
    ...storeLong(number(0), get('revision'), STATE_AT + STATE.revision),
    ...get('status'),
  ];
}

function endOfRecords(): Code {
  const isOver = above(plus('at', RECORD_HEAD_BYTES), get('size'));
  return [
    ...when(isOver, [...when(isZero(member('isAll')), ends(number(MORE))), ...ends(number(WHOLE))]),
    ...unusualIf(atLeast(bigEndian(get('begin')), number(RECORD_HEAD_BYTES))),
    ...ends(number(WHOLE)),
  ];
}

function oneRecord(): Code {
  const high = leftLong(long(bigEndian(plus('begin', 8))), [0x42, 32]);
  return [
    ...when(above(plus('at', RECORD_HEAD_BYTES), get('size')), notYet()),
    ...set('length', bigEndian(get('begin'))),
    ...unusualIf(below(get('length'), number(RECORD_HEAD_BYTES))),
    ...unusualIf(above(get('length'), number(FILE_BYTES))),
    ...when(above(add(get('at'), get('length')), get('size')), notYet()),
    ...unusualIf(differ(bigEndian(plus('begin', 32)), get('crc'))),
    ...unusualIf(differ(bigEndian(plus('begin', 24)), member('generation'))),
    ...set('number', orLong(high, long(bigEndian(plus('begin', 12))))),
    ...unusualIf(atMostLong(get('number'), get('revision'))),
    ...unusualIf(aboveLong(get('number'), get('upTo'))),
    ...unusualIf(equal(get('records'), number(MOST_RECORDS))),
    ...set('left', bigEndian(plus('begin', 28))),
    ...unusualIf(equal(and(get('left'), number(0xff)), number(REKEY))),
    ...unusualIf(above(and(get('left'), number(0xff)), number(MOST_KIND))),
    ...entries(),
    ...noteRecord(),
  ];
}

/** Leaves `list` at the end of the list of blobs. */
function entries(): Code {
  const entry: Code = [
    ...unusualIf(above(plus('list', ENTRY_HEAD_BYTES), add(get('begin'), get('length')))),
    ...unusualIf(above(byteAt(get('list')), number(SLOT + DELETED))),
    ...set('digits', byteAt(get('list'), 1)),
    ...unusualIf(isZero(get('digits'))),
    ...unusualIf(above(get('digits'), number(MOST_DIGITS))),
    ...when(
      isZero(and(byteAt(get('list')), number(DELETED))),
      set('content', addLong(get('content'), long(bigEndian(plus('list', 2))))),
    ),
    ...set('list', add(plus('list', ENTRY_HEAD_BYTES), right(add(get('digits'), number(1)), number(1)))),
    ...set('left', subtract(get('left'), number(1))),
    ...to('entries'),
  ];
  return [
    ...set('left', right(get('left'), number(8))),
    ...set('content', [0x42, 0]),
    ...set('list', plus('begin', RECORD_HEAD_BYTES)),
    loop('entries', when(get('left'), entry)),
    ...unusualIf(
      differLong(addLong(long(subtract(get('list'), get('begin'))), get('content')), long(get('length'))),
    ),
  ];
}

/** Compares the checksum, and goes to the next record. */
function noteRecord(): Code {
  const ofLength = continued(get('begin'), plus('begin', 4), number(-1));
  const computed = continued(plus('begin', 8), get('list'), ofLength);
  const place = left(get('records'), number(2));
  const listBytes = subtract(subtract(get('list'), get('begin')), number(RECORD_HEAD_BYTES));
  return [
    ...set('crc', xor(computed, number(-1))),
    ...unusualIf(differ(bigEndian(plus('begin', 4)), get('crc'))),
    ...store(place, get('listed'), BEGINS_AT),
    ...store(place, get('at'), OFFSETS_AT),
    ...copy(plus('listed', LISTS_AT), plus('begin', RECORD_HEAD_BYTES), listBytes),
    ...set('listed', add(get('listed'), listBytes)),
    ...set('records', plus('records', 1)),
    ...set('revision', get('number')),
    ...set('at', and(add(add(get('at'), get('length')), number(7)), number(-8))),
  ];
}

const vector = (items: readonly (readonly number[])[]): number[] => [
  ...unsigned(items.length),
  ...items.flat(),
];
const named = (name: string): number[] => vector([...Buffer.from(name)].map((byte) => [byte]));
const section = (id: number, content: readonly number[]): number[] => [
  id,
  ...unsigned(content.length),
  ...content,
];

function body(code: Code, variables: readonly (readonly [count: number, type: number])[] = []): number[] {
  const bytes = [
    ...vector(variables.map(([count, type]) => [...unsigned(count), type])),
    ...flat(code),
    0x0b,
  ];
  return [...unsigned(bytes.length), ...bytes];
}

function assembled(): Uint8Array {
  const [i32, i64] = [0x7f, 0x7e];
  const type = (parameters: number, results: number): number[] => [
    0x60,
    ...vector(Array(parameters).fill([i32])),
    ...vector(Array(results).fill([i32])),
  ];
  const bodies = [
    body(bigEndianBody()),
    body(continuedBody()),
    body(makeTableBody(), [[3, i32]]),
    body(walkBody(), [
      [NAMES.length - 1, i32],
      [LONG_NAMES.length, i64],
    ]),
  ];
  return new Uint8Array([
    ...[0, ...Buffer.from('asm'), 1, 0, 0, 0],
    ...section(1, vector([type(1, 1), type(3, 1), type(0, 0)])),
    ...section(3, vector([[0], [1], [2], [0]])),
    ...section(5, vector([[0, ...unsigned(PAGES)]])),
    ...section(
      7,
      vector([
        [...named('memory'), 2, 0],
        [...named('continued'), 0, CONTINUED],
        [...named('walk'), 0, WALK],
      ]),
    ),
    ...section(8, unsigned(MAKE_TABLE)),
    ...section(10, vector(bodies)),
  ]);
}
