import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldCase, plainName, tagName } from '../../src/tags/names.ts';
import { refusal } from '../refusal.ts';

describe('the name of a tag', () => {
  it.each(['a', '7', 'env:prod', 'a-b_c:d', 'a'.repeat(255)])('may be %s', (name) => {
    expect(tagName(name)).toBe(name);
  });

  it('has its capitals made small', () => {
    expect(tagName('Env:PROD')).toBe('env:prod');
  });

  it('keeps capitals beyond ASCII, where languages disagree', () => {
    expect(foldCase('ÀÉİ-A')).toBe('ÀÉİ-a');
  });

  it.each([
    ['', "Name can't be blank"],
    ['a'.repeat(256), 'Name is too long (maximum is 255 characters)'],
    ['a b', 'Tags must only contain letters, numbers, colons, hyphens or underscores'],
    ['a/b', 'Tags must only contain letters, numbers, colons, hyphens or underscores'],
    ['a,b', 'Tags must only contain letters, numbers, colons, hyphens or underscores'],
    ['a.b', 'Tags must only contain letters, numbers, colons, hyphens or underscores'],
    ['a\n', 'Tags must only contain letters, numbers, colons, hyphens or underscores'],
    ['é', 'Tags must only contain letters, numbers, colons, hyphens or underscores'],
    ['\u212a', 'Tags must only contain letters, numbers, colons, hyphens or underscores'],
    ['-a', 'Tags must begin and end with a letter or number'],
    ['a:', 'Tags must begin and end with a letter or number'],
    ['_', 'Tags must begin and end with a letter or number'],
  ])('may not be %j', (name, message) => {
    expect(refusal(() => tagName(name, '/data/0/attributes/name'))).toEqual({
      kind: 'invalid',
      message,
      field: '/data/0/attributes/name',
    });
  });

  it('is the same after a second folding', () => {
    fc.assert(fc.property(fc.string(), (text) => foldCase(foldCase(text)) === foldCase(text)));
  });
});

describe('the name of a workspace or an organization', () => {
  it.each(['billing-prod', 'Billing_2', '-', 'A'])('may be %s', (name) => {
    expect(plainName(name)).toBe(name);
  });

  it.each(['.', '..', 'a b', 'a/b', 'a:b', 'é', 'a%2e'])('may not be %j', (name) => {
    expect(refusal(() => plainName(name))).toEqual({
      kind: 'invalid',
      message: 'Name can only include letters, numbers, hyphens and underscores',
      field: undefined,
    });
  });
});
