import fc, { type Arbitrary } from 'fast-check';
import { ATTRIBUTE, type ObjectAttribute } from '../../../../../src/doors/agent/pkcs11/rpc/attributes.ts';
import { MECHANISM, type Mechanism } from '../../../../../src/doors/agent/pkcs11/rpc/wire.ts';

/** Values of calls by chance, by the letters that the protocol has for them. */

export const ulong = fc.oneof(fc.constant(-1), fc.nat(), fc.maxSafeNat());
const byte = fc.nat(255);
const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array));
const pair = fc.tuple(byte, byte);

const { label, token, class: kind, allowedMechanisms, startDate } = ATTRIBUTE;
const attribute: Arbitrary<ObjectAttribute> = fc.oneof(
  fc.constantFrom(label, token, kind, 0x8000_0001).map((type) => ({ type, value: undefined })),
  bytes.map((value) => ({ type: label, value })),
  bytes.map((value) => ({ type: 0x8000_0001, value })),
  fc.boolean().map((value) => ({ type: token, value })),
  ulong.map((value) => ({ type: kind, value })),
  fc.array(ulong, { maxLength: 5 }).map((value) => ({ type: allowedMechanisms, value })),
  fc.constantFrom('', '20261123').map((value) => ({ type: startDate, value: Buffer.from(value) })),
  fc.boolean().map((value) => ({ type: 0x4000_0211, value: [{ type: token, value }] })),
);
export const attributes = fc.array(attribute, { maxLength: 6 });

const pss = fc
  .record({ hash: ulong, maskGeneration: ulong, saltBytes: ulong })
  .map((parameters): Mechanism => ({ type: MECHANISM.rsaPss, pss: parameters }));
const oaep = fc
  .record({ hash: ulong, maskGeneration: ulong, source: ulong, label: bytes })
  .map((parameters): Mechanism => ({ type: MECHANISM.rsaOaep, oaep: parameters }));
export const mechanism: Arbitrary<Mechanism | undefined> = fc.oneof(
  fc.constant(undefined),
  fc.constantFrom(MECHANISM.ecdsa, MECHANISM.rsaPkcs, MECHANISM.sha256).map((type) => ({ type })),
  pss,
  oaep,
);

const given = fc.option(bytes, { nil: undefined });
const text = fc.string({ unit: 'binary-ascii', maxLength: 16 }).map((value) => value.trimEnd());
const wanted = fc.array(fc.record({ type: fc.nat(), room: fc.nat() }), { maxLength: 5 });

const TAKEN: Readonly<Record<string, Arbitrary<unknown>>> = {
  u: ulong,
  y: byte,
  ay: given,
  fy: fc.nat(),
  fu: fc.nat(),
  aA: attributes,
  fA: wanted,
  M: mechanism,
};
const GIVEN: Readonly<Record<string, Arbitrary<unknown>>> = {
  ...TAKEN,
  v: pair,
  s: text,
  ay: fc.oneof(bytes, fc.nat()),
  au: fc.oneof(fc.array(ulong, { maxLength: 5 }), fc.nat()),
};

const listOf = (
  by: Readonly<Record<string, Arbitrary<unknown>>>,
  parts: readonly { readonly letters: string }[],
) => fc.tuple(...parts.map(({ letters }) => by[letters] ?? fc.constant(undefined)));

export const takenBy = (parts: readonly { readonly letters: string }[]) => listOf(TAKEN, parts);
export const givenBy = (parts: readonly { readonly letters: string }[]) => listOf(GIVEN, parts);
