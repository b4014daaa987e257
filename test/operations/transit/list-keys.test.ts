import { beforeAll, describe, expect, it } from 'vitest';
import { freshOperations, type Operations } from './operations.ts';

let operations: Operations;
beforeAll(async () => {
  operations = await freshOperations();
  for (const name of ['b', 'c', 'a', 'B']) await operations.ask('keys create', { name });
});

describe('keys list', () => {
  it('answers every name, sorted by byte', async () => {
    expect(await operations.ask('keys list')).toEqual({ keys: ['B', 'a', 'b', 'c'] });
  });

  it.each([
    ['a', ['b', 'c']],
    ['aa', ['b', 'c']],
    ['', ['B', 'a', 'b', 'c']],
  ])('starts after %j, which need not exist', async (after, keys) => {
    expect(await operations.ask('keys list', { after })).toEqual({ keys });
  });

  it.each([
    [2, ['B', 'a']],
    ['1', ['B']],
    [0, ['B', 'a', 'b', 'c']],
    [-1, ['B', 'a', 'b', 'c']],
    [null, ['B', 'a', 'b', 'c']],
  ])('answers no more than the limit %j, if that is one', async (limit, keys) => {
    expect(await operations.ask('keys list', { limit })).toEqual({ keys });
  });

  it('takes after and limit at once, page by page', async () => {
    expect(await operations.ask('keys list', { after: 'B', limit: 2 })).toEqual({ keys: ['a', 'b'] });
  });

  it('marks a list of nothing, which peers answer as something that is not there', async () => {
    const empty = { data: { keys: [] }, nothingListed: true };
    expect(await operations.outcome('keys list', { after: 'c' })).toEqual(empty);
    expect(await (await freshOperations()).outcome('keys list')).toEqual(empty);
  });
});
