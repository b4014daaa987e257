import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CURVES } from '../../../src/ground/curves.ts';
import { joinedNumbers } from '../../../src/transit/key-types/ecdsa.ts';
import { thrownBy } from '../../reference/thrown.ts';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const ofDer = (text: string, coordinateBytes = 2): string | undefined =>
  joinedNumbers(hex(text), 'asn1', coordinateBytes)?.toString('hex');

describe('an ECDSA signature in DER', () => {
  it.each([
    ['two small integers', '3006020101020102', '00010002'],
    ['zero and a negative one, which counts as zero', '300602010002 01ff'.replace(' ', ''), '00000000'],
    ['a leading zero that keeps an integer positive', '300702020080020101', '00800001'],
    ['a negative integer of two bytes', '30070202ff7f020101', '00000001'],
    ['a third integer, which peers overlook', '3009020101020102020101', '00010002'],
    ['anything else behind the second one', '300702010102010299', '00010002'],
    [
      'so much behind it that its length takes bytes of its own',
      `3081860201010201${'02'.padEnd(258, '0')}`,
      '00010002',
    ],
  ])('may hold %s', (_, bytes, numbers) => {
    expect(ofDer(bytes)).toBe(numbers);
  });

  it('is none of a curve whose coordinates have fewer bytes', () => {
    expect(ofDer('30080203010000020101')).toBeUndefined();
    expect(ofDer('30080203010000020101', 3)).toBe('010000000001');
  });

  it.each(CURVES)('is what OpenSSL makes on $opensslName', ({ opensslName: namedCurve, coordinateBytes }) => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve });
    const key = createPublicKey(privateKey);
    for (let i = 0; i < 20; i++) {
      const message = Buffer.from([i]);
      const numbers = joinedNumbers(sign('sha256', message, privateKey), 'asn1', coordinateBytes);
      expect(verify('sha256', message, { key, dsaEncoding: 'ieee-p1363' }, numbers ?? Buffer.alloc(0))).toBe(
        true,
      );
    }
  });

  it.each([
    ['nothing', ''],
    ['another tag', '3106020101020101'],
    ['one integer', '3003020101'],
    ['an integer without bytes', '30050200020101'],
    ['a tag that is no integer', '3006040101020101'],
    ['a leading zero too many', '300702020001020101'],
    ['a leading ff too many', '30070202ff80020101'],
    ['a cut end', '30060201010201'],
    ['a length that reaches beyond the end', '3007020101020101'],
    ['an inner length that reaches beyond the end', '3006020101020201'],
    ['a long form where a short one does', '308106020101020101'],
    ['an indefinite length', '3080020101020101'],
    ['a length of two bytes', '30820006020101020101'],
    ['a length of five bytes', '30850100000006020101020101'],
  ])('is refused with %s', (_, bytes) => {
    expect(thrownBy(() => ofDer(bytes))).toMatchObject({
      kind: 'invalid',
      field: 'signature',
      message: 'supplied signature is invalid',
    });
  });

  it('is refused with something after it', () => {
    expect(thrownBy(() => ofDer('300602010102010100'))).toMatchObject({
      kind: 'invalid',
      field: 'signature',
      message: 'supplied signature contains extra data',
    });
  });
});

describe('an ECDSA signature of joined numbers', () => {
  it('is cut in the middle, wherever that is', () => {
    expect(joinedNumbers(hex('000102'), 'jws', 2)?.toString('hex')).toBe('00000102');
    expect(joinedNumbers(hex(''), 'jws', 2)?.toString('hex')).toBe('00000000');
  });

  it('means the same numbers with any zeros before them, and others with anything else', () => {
    const number = fc.uint8Array({ minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(number, number, fc.nat(9), fc.integer({ min: 1, max: 255 }), (r, s, zeros, odd) => {
        const before = new Uint8Array(zeros);
        const padded = Buffer.concat([before, r, before, s]);
        expect(joinedNumbers(padded, 'jws', 4)).toEqual(Buffer.concat([r, s]));
        const other = Buffer.concat([Buffer.from([odd]), before, r, Buffer.from([odd]), before, s]);
        expect(joinedNumbers(other, 'jws', 4)).toBeUndefined();
      }),
    );
  });
});
