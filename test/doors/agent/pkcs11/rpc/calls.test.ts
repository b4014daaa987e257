import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RETURN, Refused } from '../../../../../src/doors/agent/pkcs11/return-values.ts';
import { ATTRIBUTE } from '../../../../../src/doors/agent/pkcs11/rpc/attributes.ts';
import {
  CALLS,
  type CallName,
  readCall,
  writeAnswer,
  writeFailure,
} from '../../../../../src/doors/agent/pkcs11/rpc/calls.ts';
import { MECHANISM, type MechanismLayout } from '../../../../../src/doors/agent/pkcs11/rpc/wire.ts';
import { readAnswer, writeCall } from './client-codec.ts';
import { givenBy, takenBy } from './values.ts';

const names = Object.keys(CALLS) as CallName[];
const LAYOUTS: readonly MechanismLayout[] = ['marked', 'flagged'];

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex');
const ascii = (text: string): string => Buffer.from(text).toString('hex');
/** @param value as a number of eight bytes. */
const ulong = (value: number): string => value.toString(16).padStart(16, '0');

function refusal(read: () => unknown): number {
  try {
    read();
  } catch (error) {
    if (error instanceof Refused) return error.value;
    throw error;
  }
  throw new Error('it was not refused');
}

describe('calls of the remote protocol', () => {
  it.each(names)('reads what was written of %s, in both layouts of mechanisms', (name) => {
    const { takes } = CALLS[name];
    fc.assert(
      fc.property(takenBy(takes), fc.constantFrom(...LAYOUTS), (values, layout) => {
        const message = writeCall(name, values as never, layout);
        expect(readCall(message, layout)).toEqual({ name, values });
      }),
      { numRuns: 30 },
    );
  });

  it.each(names)('reads what was answered to %s', (name) => {
    fc.assert(
      fc.property(givenBy(CALLS[name].gives), (values) => {
        expect(readAnswer(name, writeAnswer(name, values as never))).toEqual(values);
      }),
      { numRuns: 30 },
    );
  });

  it('has the messages of p11-kit 0.24, with a mark behind a mechanism without parameter', () => {
    const message = hex(`0000002a 00000003 ${ascii('uMu')} ${ulong(7)} 00001041 ffffffff ${ulong(12)}`);
    const values = [7, { type: MECHANISM.ecdsa }, 12] as const;
    expect(readCall(message, 'marked')).toEqual({ name: 'signInit', values });
    expect(writeCall('signInit', values, 'marked')).toEqual(message);
  });

  it('has the messages of p11-kit 0.25.6 and later, with a flag in front of a parameter', () => {
    const plain = hex(`0000002a 00000003 ${ascii('uMu')} ${ulong(7)} 00001041 ${ulong(12)}`);
    expect(readCall(plain, 'flagged')).toEqual({
      name: 'signInit',
      values: [7, { type: MECHANISM.ecdsa }, 12],
    });
    const pss = hex(
      `0000002a 00000003 ${ascii('uMu')} ${ulong(7)} 0000000d 01 ${ulong(0x250)} ${ulong(2)} ${ulong(32)} ${ulong(12)}`,
    );
    const parameters = { hash: 0x250, maskGeneration: 2, saltBytes: 32 };
    expect(readCall(pss, 'flagged')).toEqual({
      name: 'signInit',
      values: [7, { type: MECHANISM.rsaPss, pss: parameters }, 12],
    });
  });

  it('reads no mechanism, which ends an operation', () => {
    const message = hex(`0000002a 00000003 ${ascii('uMu')} ${ulong(7)} ffffffff ${ulong(0)}`);
    for (const layout of LAYOUTS) expect(readCall(message, layout).values).toEqual([7, undefined, 0]);
  });

  it('writes lengths of attributes as a C program counts them, with that of bytes twice', () => {
    const given = [
      { type: ATTRIBUTE.class, value: 3 },
      { type: ATTRIBUTE.label, value: Buffer.from('web') },
      { type: ATTRIBUTE.sign, value: true },
      { type: ATTRIBUTE.value, value: undefined },
    ];
    const expected = hex(`
      00000018 00000003 ${ascii('aAu')} 00000004
      00000000 01 00000008 ${ulong(3)}
      00000003 01 00000003 00000003 ${ascii('web')}
      00000108 01 00000001 01
      00000011 00
      ${ulong(0x11)}`);
    expect(writeAnswer('getAttributeValue', [given, RETURN.attributeSensitive])).toEqual(expected);
  });

  it('answers the length alone where there is no room', () => {
    expect(writeAnswer('sign', [64])).toEqual(hex(`0000002b 00000002 ${ascii('ay')} 00 00000040`));
    expect(writeAnswer('getSlotList', [1])).toEqual(hex(`00000004 00000002 ${ascii('au')} 00 00000001`));
  });

  it('writes answers of any length', () => {
    const values = [{ type: ATTRIBUTE.value, value: Buffer.alloc(10_000, 7) }];
    const many = Array.from({ length: 20 }, () => values).flat();
    expect(readAnswer('getAttributeValue', writeAnswer('getAttributeValue', [many, 0]))).toEqual([many, 0]);
  });

  it('answers a failure with its value alone', () => {
    expect(writeFailure(RETURN.userNotLoggedIn)).toEqual(
      hex(`00000000 00000001 ${ascii('u')} ${ulong(0x101)}`),
    );
    expect(readAnswer('sign', writeFailure(0x101))).toBe(0x101);
  });

  it('fills texts up to their width, and cuts longer ones between characters', () => {
    const values = [[2, 40], 'é'.repeat(20), 0, 'short', [0, 1]] as const;
    expect(readAnswer('getInfo', writeAnswer('getInfo', values))).toEqual([
      [2, 40],
      'é'.repeat(16),
      0,
      'short',
      [0, 1],
    ]);
  });

  it('refuses a message that is cut short anywhere', () => {
    const template = [
      { type: ATTRIBUTE.class, value: 3 },
      { type: ATTRIBUTE.id, value: Buffer.from('web@v1') },
    ];
    const message = writeCall('findObjectsInit', [1, template], 'flagged');
    for (let length = 4; length < message.length; length++) {
      expect(refusal(() => readCall(message.subarray(0, length), 'flagged'))).toBeGreaterThan(0);
    }
    expect(refusal(() => readCall(Buffer.concat([message, Buffer.alloc(1)]), 'flagged'))).toBe(
      RETURN.argumentsBad,
    );
  });

  it.each([
    ['a call that there is not', hex('00000fff 00000000'), RETURN.functionNotSupported],
    [
      'a call in other letters',
      hex(`0000002a 00000002 ${ascii('uu')} ${ulong(1)}`),
      RETURN.functionNotSupported,
    ],
    [
      'a mechanism that nobody knows',
      hex(`0000002a 00000003 ${ascii('uMu')} ${ulong(7)} 00001057 00`),
      RETURN.mechanismInvalid,
    ],
    ['a count that lies', hex(`0000001a 00000003 ${ascii('uaA')} ${ulong(1)} 00000010`), RETURN.argumentsBad],
    [
      'a count without end',
      hex(`0000001a 00000003 ${ascii('uaA')} ${ulong(1)} ffffffff`),
      RETURN.argumentsBad,
    ],
    [
      'a length that lies',
      hex(`0000003f 00000003 ${ascii('uay')} ${ulong(1)} 01 7fffffff 00`),
      RETURN.argumentsBad,
    ],
  ])('refuses %s', (_what, message, value) => {
    expect(refusal(() => readCall(message, 'flagged'))).toBe(value);
  });

  it.each([
    ['a date of eight characters', '20260131', undefined],
    ['no date', '', undefined],
    ['a date of seven characters', '2026013', RETURN.argumentsBad],
    ['a date of nine characters', '202601310', RETURN.argumentsBad],
  ])('reads or refuses %s', (_what, date, value) => {
    const length = date.length.toString(16).padStart(8, '0');
    const template = `00000001 00000110 01 ${length} ${length} ${ascii(date)}`;
    const read = () => readCall(hex(`0000001a 00000003 ${ascii('uaA')} ${ulong(1)} ${template}`), 'flagged');
    if (value === undefined) expect(read().name).toBe('findObjectsInit');
    else expect(refusal(read)).toBe(value);
  });

  it('refuses requests in requests without end', () => {
    const call = writeCall('getAttributeValue', [1, 2, []], 'flagged');
    const message = (depth: number) =>
      Buffer.concat([call.subarray(0, -4), hex(`${'00000001 40000211 00000018'.repeat(depth)} 00000000`)]);
    expect(message(0).equals(call)).toBe(true);
    expect(readCall(message(8), 'flagged').name).toBe('getAttributeValue');
    expect(refusal(() => readCall(message(9), 'flagged'))).toBe(RETURN.argumentsBad);
    expect(refusal(() => readCall(message(10_000), 'flagged'))).toBe(RETURN.argumentsBad);
  });

  it('refuses templates in templates without end', () => {
    const nested = (depth: number): string => `${'00000001 40000211 01 00000018 '.repeat(depth)} 00000000`;
    const message = (depth: number) => hex(`0000001a 00000003 ${ascii('uaA')} ${ulong(1)} ${nested(depth)}`);
    expect(readCall(message(8), 'flagged').name).toBe('findObjectsInit');
    expect(refusal(() => readCall(message(9), 'flagged'))).toBe(RETURN.argumentsBad);
    expect(refusal(() => readCall(message(10_000), 'flagged'))).toBe(RETURN.argumentsBad);
  });
});
