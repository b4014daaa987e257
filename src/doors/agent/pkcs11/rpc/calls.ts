import { Refused } from '../return-values.ts';
import {
  type ObjectAttribute,
  readAttributes,
  readWanted,
  type WantedAttribute,
  writeAttributes,
} from './attributes.ts';
import { type Mechanism, type MechanismLayout, readMechanism, WireReader, WireWriter } from './wire.ts';

/**
 * PKCS #11 calls in p11-kit's remote protocol: each has a number, and signatures of its inputs and outputs in letters,
 * which are part of every message.
 */

/** Input of a call. */
interface TakenPart<T> {
  readonly letters: string;
  read(reader: WireReader): T;
}

/** Output of a call. */
interface GivenPart<T> {
  readonly letters: string;
  write(writer: WireWriter, value: T): void;
}

/** Values of a list of inputs. */
type ValuesTaken<P extends readonly TakenPart<unknown>[]> = {
  readonly [K in keyof P]: P[K] extends TakenPart<infer T> ? T : never;
};
type ValuesGiven<P extends readonly GivenPart<never>[]> = {
  readonly [K in keyof P]: P[K] extends GivenPart<infer T> ? T : never;
};

/** `CK_ULONG`; -1 is "not available". */
const ulong: TakenPart<number> & GivenPart<number> = {
  letters: 'u',
  read: (reader) => reader.ulong(),
  write: (writer, value) => writer.ulong(value),
};

const byte: TakenPart<number> = { letters: 'y', read: (reader) => reader.byte() };

const version: GivenPart<readonly [major: number, minor: number]> = {
  letters: 'v',
  write(writer, [major, minor]) {
    writer.byte(major);
    writer.byte(minor);
  },
};

/** Text of a fixed width, padded with spaces. */
const spaced = (width: number): GivenPart<string> => ({
  letters: 's',
  write: (writer, value) => writer.array(filled(value, width)),
});

/** Pads a text; truncates it at a character boundary. */
function filled(text: string, width: number): Buffer {
  let cut = text;
  while (Buffer.byteLength(cut) > width) cut = cut.slice(0, -1);
  const bytes = Buffer.alloc(width, ' ');
  bytes.write(cut);
  return bytes;
}

/** Bytes from a program; undefined for a null pointer. */
const bytes: TakenPart<Buffer | undefined> = {
  letters: 'ay',
  read(reader) {
    if (reader.byte() !== 0) return reader.array();
    reader.uint32();
    return undefined;
  },
};

/** Size of a program's buffer. 0: it queries the required size. */
const room = (letters: string): TakenPart<number> => ({ letters, read: (reader) => reader.uint32() });

/** Bytes for a program; a number is the required size if there is no buffer. */
const filledBytes: GivenPart<Buffer | number> = {
  letters: 'ay',
  write(writer, value) {
    writer.byte(typeof value === 'number' ? 0 : 1);
    if (typeof value === 'number') writer.uint32(value);
    else writer.array(value);
  },
};

/** Numbers for a program; a number is the required size if there is no buffer. */
const ulongs: GivenPart<readonly number[] | number> = {
  letters: 'au',
  write(writer, value) {
    writer.byte(typeof value === 'number' ? 0 : 1);
    writer.uint32(typeof value === 'number' ? value : value.length);
    if (typeof value !== 'number') for (const one of value) writer.ulong(one);
  },
};

const attributes: TakenPart<readonly ObjectAttribute[]> & GivenPart<readonly ObjectAttribute[]> = {
  letters: 'aA',
  read: (reader) => readAttributes(reader),
  write: writeAttributes,
};

const wanted: TakenPart<readonly WantedAttribute[]> = { letters: 'fA', read: (reader) => readWanted(reader) };

const mechanism: TakenPart<Mechanism | undefined> = { letters: 'M', read: readMechanism };

interface RpcCall<I extends readonly TakenPart<unknown>[], O extends readonly GivenPart<never>[]> {
  readonly id: number;
  readonly takes: I;
  readonly gives: O;
}

const call = <const I extends readonly TakenPart<unknown>[], const O extends readonly GivenPart<never>[]>(
  id: number,
  takes: I,
  gives: O,
): RpcCall<I, O> => ({ id, takes, gives });

const byteRoom = room('fy');
const ulongRoom = room('fu');
const MANUFACTURER = spaced(32);
const DESCRIPTION = spaced(64);
const LABEL = spaced(32);
const SHORT = spaced(16);
const FOUR = [ulong, ulong, ulong, ulong] as const;

const init = (id: number) => call(id, [ulong, mechanism, ulong], []);
const update = (id: number) => call(id, [ulong, bytes], []);
const whole = (id: number) => call(id, [ulong, bytes, byteRoom], [filledBytes]);
const final = (id: number) => call(id, [ulong, byteRoom], [filledBytes]);

/** Calls that are supported by this token. */
export const CALLS = {
  initialize: call(1, [bytes, byte, bytes], []),
  finalize: call(2, [], []),
  getInfo: call(3, [], [version, MANUFACTURER, ulong, spaced(32), version]),
  getSlotList: call(4, [byte, ulongRoom], [ulongs]),
  getSlotInfo: call(5, [ulong], [DESCRIPTION, MANUFACTURER, ulong, version, version]),
  getTokenInfo: call(
    6,
    [ulong],
    [LABEL, MANUFACTURER, SHORT, SHORT, ulong, ...FOUR, ...FOUR, ulong, ulong, version, version, SHORT],
  ),
  getMechanismList: call(7, [ulong, ulongRoom], [ulongs]),
  getMechanismInfo: call(8, [ulong, ulong], [ulong, ulong, ulong]),
  openSession: call(10, [ulong, ulong], [ulong]),
  closeSession: call(11, [ulong], []),
  closeAllSessions: call(12, [ulong], []),
  getSessionInfo: call(13, [ulong], [ulong, ulong, ulong, ulong]),
  initPin: call(14, [ulong, bytes], []),
  setPin: call(15, [ulong, bytes, bytes], []),
  getOperationState: call(16, [ulong, byteRoom], [filledBytes]),
  login: call(18, [ulong, ulong, bytes], []),
  logout: call(19, [ulong], []),
  createObject: call(20, [ulong, attributes], [ulong]),
  copyObject: call(21, [ulong, ulong, attributes], [ulong]),
  destroyObject: call(22, [ulong, ulong], []),
  getObjectSize: call(23, [ulong, ulong], [ulong]),
  getAttributeValue: call(24, [ulong, ulong, wanted], [attributes, ulong]),
  setAttributeValue: call(25, [ulong, ulong, attributes], []),
  findObjectsInit: call(26, [ulong, attributes], []),
  findObjects: call(27, [ulong, ulongRoom], [ulongs]),
  findObjectsFinal: call(28, [ulong], []),
  encryptInit: init(29),
  encrypt: whole(30),
  decryptInit: init(33),
  decrypt: whole(34),
  digestInit: call(37, [ulong, mechanism], []),
  digest: whole(38),
  digestUpdate: update(39),
  digestFinal: final(41),
  signInit: init(42),
  sign: whole(43),
  signUpdate: update(44),
  signFinal: final(45),
  verifyInit: init(48),
  verify: call(49, [ulong, bytes, bytes], []),
  verifyUpdate: update(50),
  verifyFinal: update(51),
  seedRandom: call(63, [ulong, bytes], []),
  generateRandom: final(64),
} as const;

export type CallName = keyof typeof CALLS;
export type Taken<N extends CallName> = ValuesTaken<(typeof CALLS)[N]['takes']>;
export type GivenValues<N extends CallName> = ValuesGiven<(typeof CALLS)[N]['gives']>;

/** Call with its input values. */
export type AskedCall = {
  readonly [N in CallName]: { readonly name: N; readonly values: Taken<N> };
}[CallName];

const NAMES: ReadonlyMap<number, CallName> = new Map(
  Object.entries(CALLS).map(([name, { id }]) => [id, name as CallName]),
);
/** Number that replaces that of a call if it failed, with only the return value. */
const FAILED = 0;
const ULONG_LETTER = 'u';

const lettersOf = (parts: readonly { readonly letters: string }[]): string =>
  parts.map(({ letters }) => letters).join('');

function write(id: number, letters: string, values: (writer: WireWriter) => void): Buffer {
  const writer = new WireWriter();
  writer.uint32(id);
  writer.array(Buffer.from(letters));
  values(writer);
  return writer.done();
}

/**
 * Parses a call.
 * @throws `Refused` if it is unsupported or malformed
 */
export function readCall(message: Buffer, layout: MechanismLayout): AskedCall {
  const reader = new WireReader(message, layout);
  const name = NAMES.get(reader.uint32());
  const letters = reader.array()?.toString('latin1');
  if (name === undefined || letters !== lettersOf(CALLS[name].takes))
    throw new Refused('functionNotSupported');
  const values = CALLS[name].takes.map((part: TakenPart<unknown>) => part.read(reader));
  reader.end();
  return { name, values } as unknown as AskedCall;
}

export const writeAnswer = <N extends CallName>(name: N, values: GivenValues<N>): Buffer =>
  write(CALLS[name].id, lettersOf(CALLS[name].gives), (writer) => {
    const given: readonly unknown[] = values;
    for (const [index, part] of CALLS[name].gives.entries()) part.write(writer, given[index] as never);
  });

/**
 * Formats a failure.
 * @param value `CKR_…`, not 0
 */
export const writeFailure = (value: number): Buffer =>
  write(FAILED, ULONG_LETTER, (writer) => writer.ulong(value));
