import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  areWithin,
  boundNetworks,
  commonNetworks,
  isWithin,
  maskedNetworks,
  sourceOf,
} from '../../../src/access/login/networks.ts';

const address = (number: number): string =>
  [24, 16, 8, 0].map((shift) => (number >>> shift) & 0xff).join('.');
const anyAddress = fc.integer({ min: 0, max: 0xffffffff });

describe('the networks that something is bound to', () => {
  it('hold the addresses with the same first bits, and no others', () => {
    fc.assert(
      fc.property(anyAddress, anyAddress, fc.integer({ min: 0, max: 32 }), (one, other, bits) => {
        const mask = bits === 0 ? 0 : (0xffffffff << (32 - bits)) >>> 0;
        const wanted = (one & mask) >>> 0 === (other & mask) >>> 0;
        expect(isWithin([`${address(one)}/${bits}`], address(other))).toBe(wanted);
      }),
    );
  });

  it('know an IPv4 address also as one of IPv6, and IPv6 by its own', () => {
    expect(isWithin(['10.0.0.0/8'], '::ffff:10.1.2.3')).toBe(true);
    expect(isWithin(['10.0.0.0/8'], '::ffff:11.1.2.3')).toBe(false);
    expect(isWithin(['2001:db8::/32'], '2001:db8:1::1')).toBe(true);
    expect(isWithin(['0.0.0.0/0', '::/0'], '')).toBe(false);
  });

  it('are kept without a mask that leaves one address, and with the bits beyond any other', () => {
    expect(boundNetworks(['127.0.0.1/8', '10.0.0.1/32', '::1/128', ' ::2 '], 'f')).toEqual([
      '127.0.0.1/8',
      '10.0.0.1',
      '::1',
      '::2',
    ]);
  });

  it.each(['', 'foo', '10.0.0.1/33', '10.0.0.1/x', '10.0.0/8', '1.2.3.4/8/9', '::1/129'])(
    'are none as %j',
    (text) => {
      expect(() => boundNetworks([text], 'f')).toThrow('error parsing address');
      expect(() => maskedNetworks([text], 'f')).toThrow('invalid CIDR address');
    },
  );

  it('lie in others when each of them does, as a whole', () => {
    expect(areWithin(['10.1.0.0/16', '10.2.0.0/16'], ['10.0.0.0/8'])).toBe(true);
    expect(areWithin(['10.0.0.0/7'], ['10.0.0.0/8'])).toBe(false);
    expect(areWithin(['10.1.0.0/16', '11.0.0.0/8'], ['10.0.0.0/8'])).toBe(false);
    expect(areWithin([], ['10.0.0.0/8'])).toBe(true);
  });

  it.each([
    ['::ffff:10.0.0.0/104', '10.0.0.0/8', true],
    ['::ffff:10.0.0.0/90', '10.0.0.0/8', false],
    ['::ffff:10.0.0.0/8', '10.0.0.0/8', false],
    ['::/0', '10.0.0.0/8', false],
    ['10.0.0.0/8', '::ffff:0:0/96', true],
    ['10.0.0.0/8', '::/0', true],
    ['10.0.0.0/8', '::ffff:10.0.0.0/105', false],
  ])('of both families are compared as what they hold: %s in %s, %s', (inner, outer, wanted) => {
    expect(areWithin([inner], [outer])).toBe(wanted);
  });

  it.each([
    ['no network', ['10.0.0.0/8'], false],
    ['10.0.0.0/8', ['no network'], false],
    ['10.0.0.0/8', ['no network', '10.0.0.0/7'], true],
  ])('are compared where some can not be read, which hold nothing: %s in %j, %s', (inner, outer, wanted) => {
    expect(areWithin([inner], outer)).toBe(wanted);
  });

  it('hold nothing by what can not be read of them', () => {
    expect(isWithin(['no network', '10.0.0.0/8'], '10.1.2.3')).toBe(true);
    expect(isWithin(['no network'], '10.1.2.3')).toBe(false);
  });

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:192.0.2.1', '192.0.2.1'],
    ['64:ff9b::192.0.2.1', '64:ff9b::192.0.2.1'],
    ['2001:DB8:0:7:1:2:3:4', '2001:db8:0:7'],
    ['2001:0db8::7:0:0:1', '2001:db8:0:0'],
    ['2001:db8:1:2::', '2001:db8:1:2'],
    ['2001:db8::', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['::', '0:0:0:0'],
    ['::5:6:7:8', '0:0:0:0'],
    ['::4:5:6:7:8', '0:0:0:4'],
    ['', ''],
  ])('are counted for an address by its source: %s by %s', (given, source) => {
    expect(sourceOf(given)).toBe(source);
  });

  it('have in common what lies in both', () => {
    const some = ['10.1.0.0/16', '11.0.0.0/8', '12.0.0.1'];
    expect(commonNetworks(some, ['10.0.0.0/8', '11.1.0.0/16', '12.0.0.1'])).toEqual([
      '10.1.0.0/16',
      '12.0.0.1',
      '11.1.0.0/16',
    ]);
    expect(commonNetworks(['10.1.0.0/16'], ['10.2.0.0/16'])).toEqual([]);
  });
});
