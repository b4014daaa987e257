import { describe, expect, it } from 'vitest';
import { printChecked } from '../../src/store/checked-json.ts';
import { parseHeader } from '../../src/store/header.ts';
import { refusal } from '../refusal.ts';

const HEADER = {
  kind: 'coffer store',
  format: 1,
  id: '01234567-89ab-cdef-0123-456789abcdef',
  created: '2026-01-01T00:00:00Z',
};
const parse = (change: object) =>
  parseHeader(printChecked({ ...HEADER, ...change }), { file: 'coffer.json' });

describe('the header of a store', () => {
  it('is read as it was written', () => {
    const { kind: _, ...rest } = HEADER;
    expect(parse({})).toEqual(rest);
  });

  it('is of a newer Coffer by its format, and only if it is that of a store', () => {
    expect(refusal(() => parse({ format: 2, id: 7 }))).toMatchObject({
      kind: 'corrupt',
      message: 'coffer.json was created by a newer Coffer (format 2); this one reads format 1',
    });
    expect(refusal(() => parse({ kind: 'another store', format: 2 })).message).toBe('coffer.json is damaged');
  });

  it.each([
    ['another kind', { kind: 'another store' }],
    ['no format', { format: undefined }],
    ['an older format than any', { format: 0 }],
    ['a format between two', { format: 0.5 }],
    ['a format in words', { format: '2' }],
    ['no id', { id: undefined }],
    ['an id that is a number', { id: 7 }],
    ['an id that is a list', { id: [HEADER.id] }],
    ['an id in capitals', { id: HEADER.id.toUpperCase() }],
    ['an id that is too long', { id: `${HEADER.id}0` }],
    ['an id with something before it', { id: `x${HEADER.id}` }],
    ['no time', { created: undefined }],
    ['a time that is a number', { created: 7 }],
  ])('is damaged with %s, even if its sum is right', (_, change) => {
    expect(refusal(() => parse(change))).toMatchObject({
      kind: 'corrupt',
      message: 'coffer.json is damaged',
    });
  });
});
