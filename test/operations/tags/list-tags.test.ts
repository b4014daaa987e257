import { beforeAll, describe, expect, it } from 'vitest';
import { refused } from '../../refusal.ts';
import { type TagData, TagsApi } from './tags-api.ts';

interface TagList {
  readonly data: readonly TagData[];
  readonly links: Readonly<Record<string, string | null>>;
  readonly meta: { readonly pagination: Readonly<Record<string, number | null>> };
}

let api: TagsApi;
let billing = '';
let elsewhere = '';

const NUMBERED = Array.from({ length: 25 }, (_, i) => `tag${i}`);

beforeAll(async () => {
  api = await TagsApi.open();
  await api.organization('acme');
  billing = await api.workspace('acme', 'billing', ['tag3', 'tag7', 'under_score']);
  await api.workspace('acme', 'web', ['tag3']);
  await api.tags('acme', ...NUMBERED.filter((name) => name !== 'tag3' && name !== 'tag7'));
  await api.organization('other');
  elsewhere = await api.workspace('other', 'billing', ['tag1', 'tag2']);
});

const list = (query: Readonly<Record<string, string>> = {}): Promise<TagList> =>
  api.ask<TagList>('tags list', { organization_name: 'acme', ...query });
const names = ({ data }: TagList): string[] => data.map(({ attributes }) => attributes.name);
const all = [...NUMBERED, 'under_score'].sort();

describe('the list of tags', () => {
  it('has each tag with its name, time, count and organization', async () => {
    const { data } = await list({ q: 'tag3' });
    expect(data).toEqual([
      {
        id: expect.stringMatching(/^tag-[1-9A-HJ-NP-Za-km-z]{16}$/),
        type: 'tags',
        attributes: {
          name: 'tag3',
          'created-at': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
          'instance-count': 2,
        },
        relationships: { organization: { data: { id: 'acme', type: 'organizations' } } },
      },
    ]);
  });

  it('has 20 on the first page when nothing is said', async () => {
    const document = await list();
    expect(names(document)).toEqual(all.slice(0, 20));
    expect(document.meta.pagination).toEqual({
      'current-page': 1,
      'page-size': 20,
      'prev-page': null,
      'next-page': 2,
      'total-pages': 2,
      'total-count': 26,
    });
  });

  it('links absolutely to its neighbours, with query, page and size spelled out', async () => {
    const excluded = `filter%5Bexclude%5D%5Btaggable%5D%5Bid%5D=${billing}`;
    const page = (number: number) =>
      `https://tags.example/api/v2/organizations/acme/tags?q=tag+%25&${excluded}&page%5Bnumber%5D=${number}&page%5Bsize%5D=5`;
    const { links } = await list({
      q: 'tag %',
      'filter[exclude][taggable][id]': billing,
      'page[number]': '2',
      'page[size]': '5',
    });
    expect(links).toEqual({ self: page(2), first: page(1), prev: page(1), next: null, last: page(1) });
    const middle = await list({ 'page[number]': '2', 'page[size]': '5' });
    expect(middle.links).toMatchObject({
      prev: expect.stringContaining('number%5D=1&'),
      next: expect.stringContaining('number%5D=3&'),
      last: expect.stringContaining('number%5D=6&'),
    });
  });

  it('goes to the end by next-page', async () => {
    const seen: string[] = [];
    for (let number: number | null = 1; number !== null; ) {
      const document: TagList = await list({ 'page[number]': String(number), 'page[size]': '7' });
      seen.push(...names(document));
      number = document.meta.pagination['next-page'] ?? null;
    }
    expect(seen).toEqual(all);
  });

  it.each([
    ['0', '20', 1, 20],
    ['-1', '-5', 1, 20],
    ['abc', '1e3', 1, 20],
    ['', '', 1, 20],
    ['2', '0', 2, 20],
    ['1', '100', 1, 100],
    ['1', '101', 1, 100],
    ['1', '99999999999999999999999', 1, 100],
  ])('reads page %j of size %j as page %d of size %d', async (number, size, readNumber, readSize) => {
    const { meta } = await list({ 'page[number]': number, 'page[size]': size });
    expect(meta.pagination).toMatchObject({ 'current-page': readNumber, 'page-size': readSize });
  });

  it('is empty past its end', async () => {
    const document = await list({ 'page[number]': '999', 'page[size]': '100' });
    expect(document.data).toEqual([]);
    expect(document.meta.pagination).toMatchObject({
      'current-page': 999,
      'prev-page': 1,
      'next-page': null,
      'total-pages': 1,
      'total-count': 26,
    });
    const absurd = await list({ 'page[number]': '9'.repeat(40) });
    expect(absurd.data).toEqual([]);
  });

  it('is one empty page when nothing matches', async () => {
    const { data, meta } = await list({ q: 'nothing' });
    expect(data).toEqual([]);
    expect(meta.pagination).toEqual({
      'current-page': 1,
      'page-size': 20,
      'prev-page': null,
      'next-page': null,
      'total-pages': 1,
      'total-count': 0,
    });
  });

  it.each([
    ['tag24', ['tag24']],
    ['AG2', ['tag2', 'tag20', 'tag21', 'tag22', 'tag23', 'tag24']],
    ['_', ['under_score']],
    ['%', []],
    ['*', []],
    [' tag1', []],
  ])('holds %j for a part of the name, whatever its case, and no wildcard', async (q, expected) => {
    expect(names(await list({ q }))).toEqual(expected);
  });

  it('is whole when the query is empty', async () => {
    expect((await list({ q: '' })).meta.pagination['total-count']).toBe(26);
  });

  it('leaves out the tags of the workspace that the exclude filter names', async () => {
    const document = await list({ 'filter[exclude][taggable][id]': billing, 'page[size]': '100' });
    expect(names(document)).toEqual(all.filter((name) => !['tag3', 'tag7', 'under_score'].includes(name)));
    expect(document.meta.pagination['total-count']).toBe(23);
  });

  it('needs a tag to match the query and the filter both', async () => {
    const document = await list({ 'filter[exclude][taggable][id]': billing, q: '3' });
    expect(names(document)).toEqual(['tag13', 'tag23']);
    expect(document.meta.pagination['total-count']).toBe(2);
  });

  it('leaves out nothing when the filter names no workspace of this organization', async () => {
    const [some] = (await list()).data;
    for (const id of [elsewhere, some?.id ?? '', 'ws-1111111111111111', 'billing', '']) {
      const document = await list({ 'filter[exclude][taggable][id]': id, 'page[size]': '5' });
      expect(document.data).toHaveLength(5);
      expect(document.meta.pagination['total-count']).toBe(26);
    }
  });

  it('is answered with "not found" for an unknown organization', async () => {
    expect(await refused(api.ask('tags list', { organization_name: 'nobody' }))).toEqual({
      kind: 'not-found',
      message: 'organization "nobody" not found',
      field: undefined,
    });
  });
});
