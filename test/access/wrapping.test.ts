import { expect, it } from 'vitest';
import { openRoom } from './room.ts';

it('wrapped answers that nobody took are removed by the sweep after their time', async () => {
  const { access, clock, store } = await openRoom();
  await access.wrapping.wrap({ answer: 'old', ttl: 60, path: 'a' });
  const { text } = await access.wrapping.wrap({ answer: 'young', ttl: 600, path: 'a' });
  const kept = () => store.read((view) => view.list('access/wrapped-answers'));
  expect([await access.tokens.sweep(), await kept()]).toEqual([0, expect.objectContaining({ length: 2 })]);
  clock.pass(60);
  expect([await access.tokens.sweep(), await kept()]).toEqual([1, expect.objectContaining({ length: 1 })]);
  expect(await access.wrapping.take({ text })).toBe('young');
  expect(await kept()).toEqual([]);
});
