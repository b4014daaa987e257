import { expect, it } from 'vitest';
import { derElement, SEQUENCE } from '../../../src/transit/key-types/der.ts';

const long = '07'.repeat(128);

it.each([
  ['a short length', '30 02 0707', '0707'],
  ['no content', '30 00', ''],
  ['a length of 127', `30 7f ${'07'.repeat(127)}`, '07'.repeat(127)],
  ['a length in a byte of its own', `30 8180 ${long}`, long],
  ['something after it', '30 01 07 0707', '07'],
  ['another tag', '31 01 07', undefined],
  ['a tag alone', '30', undefined],
  ['nothing', '', undefined],
  ['less content than it says', '30 02 07', undefined],
  ['a long length for a short one', `30 817f ${'07'.repeat(127)}`, undefined],
  ['a long length with a zero in front', `30 820080 ${long}`, undefined],
  ['a length of which a byte is missing', '30 82 80', undefined],
  ['a length of four bytes, and less content', `30 8480000000 ${long}`, undefined],
  ['a length of five bytes', `30 850000000080 ${long}`, undefined],
  ['a length of no bytes', `30 80 ${long}`, undefined],
])('a value of a private key in DER is read or not, with %s', (_, text, content) => {
  const found = derElement(Buffer.from(text.replaceAll(' ', ''), 'hex'), 0, SEQUENCE);
  expect(found && Buffer.from(found.content).toString('hex')).toBe(content);
});
