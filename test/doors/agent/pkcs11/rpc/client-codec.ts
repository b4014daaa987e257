import {
  type ObjectAttribute,
  readAttributes,
  type WantedAttribute,
  writeAttributes,
} from '../../../../../src/doors/agent/pkcs11/rpc/attributes.ts';
import {
  CALLS,
  type CallName,
  type GivenValues,
  type Taken,
} from '../../../../../src/doors/agent/pkcs11/rpc/calls.ts';
import {
  MECHANISM as M,
  type Mechanism,
  type MechanismLayout,
  malformed,
  NO_ARRAY,
  WireReader,
  WireWriter,
} from '../../../../../src/doors/agent/pkcs11/rpc/wire.ts';

/** The half of the remote protocol that programs have: what they send, and what they read, by the letters of each part. */

const NO_MECHANISM = 0xffff_ffff;
/** Of these attributes the value is a template. */
const TEMPLATES: readonly number[] = [0x4000_0211, 0x4000_0212, 0x4000_0213];
const WITH_PARAMETER: readonly number[] = [
  ...[M.rsaOaep, M.rsaPss, M.sha1RsaPss, M.sha224RsaPss, M.sha256RsaPss, M.sha384RsaPss, M.sha512RsaPss],
];

type Write = (writer: WireWriter, value: never, layout: MechanismLayout) => void;
const uint32: Write = (writer, value: number) => writer.uint32(value);

const TAKEN: Readonly<Record<string, Write>> = {
  u: (writer, value: number) => writer.ulong(value),
  y: (writer, value: number) => writer.byte(value),
  ay(writer, value: Buffer | undefined) {
    writer.byte(value === undefined ? 0 : 1);
    if (value === undefined) writer.uint32(0);
    else writer.array(value);
  },
  fy: uint32,
  fu: uint32,
  aA: (writer, value: readonly ObjectAttribute[]) => writeAttributes(writer, value),
  fA(writer, value: readonly WantedAttribute[]) {
    writer.uint32(value.length);
    for (const { type, room } of value) {
      writer.uint32(type);
      writer.uint32(room);
      if (room > 0 && TEMPLATES.includes(type)) writer.uint32(0);
    }
  },
  M: writeMechanism,
};

/** As clients of either kind of release write it; for one of those types alone whose parameters are known here. */
function writeMechanism(writer: WireWriter, mechanism: Mechanism | undefined, layout: MechanismLayout): void {
  if (mechanism === undefined) {
    writer.uint32(NO_MECHANISM);
    return;
  }
  const { type, pss, oaep } = mechanism;
  writer.uint32(type);
  if (!WITH_PARAMETER.includes(type)) {
    if (layout === 'marked') writer.uint32(NO_ARRAY);
    return;
  }
  if (layout === 'flagged') writer.byte(pss === undefined && oaep === undefined ? 0 : 1);
  if (pss !== undefined) {
    for (const number of [pss.hash, pss.maskGeneration, pss.saltBytes]) writer.ulong(number);
  }
  if (oaep !== undefined) {
    for (const number of [oaep.hash, oaep.maskGeneration, oaep.source]) writer.ulong(number);
    writer.array(oaep.label);
  }
}

const GIVEN: Readonly<Record<string, (reader: WireReader) => unknown>> = {
  u: (reader) => reader.ulong(),
  v: (reader) => [reader.byte(), reader.byte()],
  s: (reader) => reader.array()?.toString().trimEnd(),
  ay: (reader) => (reader.byte() === 0 ? reader.uint32() : (reader.array() ?? Buffer.alloc(0))),
  au(reader) {
    const has = reader.byte() !== 0;
    const count = reader.uint32();
    return has ? reader.many(count, 65_536, () => reader.ulong()) : count;
  },
  aA: (reader) => readAttributes(reader),
};

const lettersOf = (parts: readonly { readonly letters: string }[]): string =>
  parts.map(({ letters }) => letters).join('');

export function writeCall<N extends CallName>(name: N, values: Taken<N>, layout: MechanismLayout): Buffer {
  const { id, takes } = CALLS[name];
  const given: readonly unknown[] = values;
  const writer = new WireWriter();
  writer.uint32(id);
  writer.array(Buffer.from(lettersOf(takes)));
  for (const [index, { letters }] of takes.entries()) TAKEN[letters]?.(writer, given[index] as never, layout);
  return writer.done();
}

/** @returns a number for a call that failed. @throws `Refused` for what answers another one. */
export function readAnswer<N extends CallName>(name: N, message: Buffer): GivenValues<N> | number {
  const { id, gives } = CALLS[name];
  const reader = new WireReader(message);
  const answered = reader.uint32();
  const letters = reader.array()?.toString('latin1');
  if (answered === 0) return reader.ulong();
  if (answered !== id || letters !== lettersOf(gives)) throw malformed();
  const values = gives.map((part) => GIVEN[part.letters]?.(reader));
  if (!reader.isAtEnd) throw malformed();
  return values as unknown as GivenValues<N>;
}
