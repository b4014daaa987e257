import { expect, it } from 'vitest';
import { everyPage } from '../../src/cli/every-page.ts';
import { refused } from '../refusal.ts';
import { answeredSession } from './answering.ts';

const listed = async (pages: readonly unknown[]) => {
  const left = [...pages];
  const { session, calls } = answeredSession(() => left.shift());
  const query = { operation: 'tags list', raw: {} };
  return { gathered: everyPage<string>(session, await session.runner(), query), calls };
};
const page = (data: readonly string[], next: number | null) => ({
  data,
  links: { self: 'http://server.example/tags?page%5Bnumber%5D=1' },
  meta: {
    pagination: { 'current-page': 1, 'next-page': next, 'page-size': 1, 'total-count': 2, 'total-pages': 2 },
  },
});

it('a list is read page by page, and one that ends in an answer without a page is refused as a whole', async () => {
  const { gathered, calls } = await listed([page(['a'], 2), page(['b'], null)]);
  expect((await gathered).document.data).toEqual(['a', 'b']);
  expect(calls).toEqual(['tags list', 'tags list']);
  const { gathered: cut } = await listed([page(['a'], 2), undefined]);
  expect(await refused(cut)).toEqual({
    kind: 'unavailable',
    message: 'unexpected response of the server: it has no page',
    field: undefined,
  });
});
