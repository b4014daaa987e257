import { describe, expect, it } from 'vitest';
import { conflict, failedAfter, notFound, unconfirmed, withOtherHint } from '../../src/ground/errors.ts';
import { Places } from '../../src/ground/places.ts';

describe('an error with another hint', () => {
  it.each([[true], [undefined]] as const)('is still one of something that is gone: %j', (isGone) => {
    const error = notFound('no such name', { field: 'name', hint: 'look again', isGone });
    const other = withOtherHint(error, 'use another');
    expect(other).toMatchObject({
      kind: 'not-found',
      message: 'no such name',
      field: 'name',
      hint: 'use another',
      isGone: isGone === true,
      cause: error,
    });
  });
});

describe('a failure after something was made', () => {
  it('says that it was made, and what could not be done then', () => {
    const error = conflict('the name is taken', { hint: 'use another' });
    expect(failedAfter('the key was created', error, 'delete it')).toMatchObject({
      kind: 'unconfirmed',
      message: 'the key was created, but the name is taken',
      hint: 'delete it',
      cause: error,
    });
  });

  it('stays as it is if it was unexpected, or says already that nobody knows what was done', () => {
    for (const error of [new TypeError('x'), 'x', unconfirmed('the store may have it', { hint: 'look' })]) {
      expect(failedAfter('the key was created', error, 'delete it')).toBe(error);
    }
  });
});

describe('places for clients', () => {
  it('are not made more by one that leaves without having entered', () => {
    const places = new Places({ most: 2, mostOfOne: 1 });
    places.leave('nobody');
    expect(['nobody', 'nobody', 'ada', 'bob'].map((source) => places.enter(source))).toEqual([
      true,
      false,
      true,
      false,
    ]);
    places.leave('ada');
    places.leave('ada');
    expect([places.enter('bob'), places.enter('eve')]).toEqual([true, false]);
  });
});
