import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { CURVES } from '../../../src/transit/key-types/curves.ts';
import { requireDerSignature } from '../../../src/transit/key-types/ecdsa-signature.ts';
import { thrownBy } from '../../reference/thrown.ts';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');

describe('an ECDSA signature in DER', () => {
  it.each([
    ['two small integers', '3006020101020101'],
    ['zero and negative ones, which are integers too', '300602010002 01ff'.replace(' ', '')],
    ['a leading zero that keeps an integer positive', '300702020080020101'],
    ['a negative integer of two bytes', '30070202ff7f020101'],
  ])('may hold %s', (_, bytes) => {
    expect(() => requireDerSignature(hex(bytes))).not.toThrow();
  });

  it.each(CURVES)('is what OpenSSL makes on $opensslName', ({ opensslName: namedCurve }) => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve });
    for (let i = 0; i < 20; i++) {
      expect(() => requireDerSignature(sign('sha256', Buffer.from([i]), privateKey))).not.toThrow();
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
    ['a third integer', '3009020101020101020101'],
  ])('is refused with %s', (_, bytes) => {
    expect(thrownBy(() => requireDerSignature(hex(bytes)))).toMatchObject({
      kind: 'invalid',
      field: 'signature',
      message: 'supplied signature is invalid',
    });
  });

  it('is refused with something after it', () => {
    expect(thrownBy(() => requireDerSignature(hex('300602010102010100')))).toMatchObject({
      kind: 'invalid',
      field: 'signature',
      message: 'supplied signature contains extra data',
    });
  });
});
