import { describe, expect, it } from 'vitest';
import { type Param, parseValues } from '../../src/operations/declaration/params.ts';
import { taggedFilter } from '../../src/operations/json-api/bindings.ts';
import { allPages, type ListDocument, listDocument } from '../../src/operations/json-api/pages.ts';
import {
  booleanAttribute,
  choiceAttribute,
  countAttribute,
  settingOverwrites,
  textsAttribute,
  unkeptAttribute,
} from '../../src/operations/json-api/params.ts';
import { errorSource, printDocument, readDocument } from '../../src/operations/json-api/request.ts';
import { attach as attachTag, tag as tagWorkspace } from '../../src/operations/tags/relationships.ts';
import { create as createTags, list as listTags } from '../../src/operations/tags/tags.ts';
import { create as createWorkspace } from '../../src/operations/tags/workspaces.ts';
import { refusal } from '../refusal.ts';

const page = (total: number, number: number, size: number) =>
  listDocument({ items: [], total, number, size }, 'http://h/api/v2/x');

describe('pagination', () => {
  it.each([
    [0, 1, 20, { prev: null, next: null, pages: 1 }],
    [1, 1, 20, { prev: null, next: null, pages: 1 }],
    [20, 1, 20, { prev: null, next: null, pages: 1 }],
    [21, 1, 20, { prev: null, next: 2, pages: 2 }],
    [21, 2, 20, { prev: 1, next: null, pages: 2 }],
    [50, 2, 20, { prev: 1, next: 3, pages: 3 }],
    [50, 4, 20, { prev: 3, next: null, pages: 3 }],
    [50, 999, 20, { prev: 3, next: null, pages: 3 }],
  ])(
    'of %d items at page %d of size %d leads on until the end',
    (total, number, size, { prev, next, pages }) => {
      expect(page(total, number, size).meta.pagination).toEqual({
        'current-page': number,
        'page-size': size,
        'prev-page': prev,
        'next-page': next,
        'total-pages': pages,
        'total-count': total,
      });
    },
  );

  it('links with encoded brackets, and null at the ends', () => {
    const link = (number: number) => `http://h/api/v2/x?page%5Bnumber%5D=${number}&page%5Bsize%5D=20`;
    expect(page(50, 2, 20).links).toEqual({
      self: link(2),
      first: link(1),
      prev: link(1),
      next: link(3),
      last: link(3),
    });
    expect(page(5, 1, 20).links).toMatchObject({ prev: null, next: null });
  });

  /** A list that changes after so many pages were read of it, each time one item less. */
  function changing(lists: readonly (readonly number[])[], after: number) {
    const asked: number[] = [];
    const fetch = async (number: number, size: number): Promise<ListDocument<number>> => {
      const all = lists[Math.min(lists.length - 1, Math.floor(asked.length / after))] ?? [];
      asked.push(number);
      const items = all.slice((number - 1) * size, number * size);
      return listDocument({ items, total: all.length, number, size }, '/x');
    };
    return { asked, fetch };
  }

  it('is gathered page by page into one document', async () => {
    const all = Array.from({ length: 7 }, (_, i) => i);
    const { asked, fetch } = changing([all], 1);
    const progress: number[][] = [];
    const { document, isWhole } = await allPages(fetch, 3, (...at) => progress.push(at));
    expect(asked).toEqual([1, 2, 3]);
    expect(isWhole).toBe(true);
    expect(document.data).toEqual(all);
    expect(document.meta.pagination).toEqual({
      'current-page': 1,
      'page-size': 7,
      'prev-page': null,
      'next-page': null,
      'total-pages': 1,
      'total-count': 7,
    });
    expect(progress).toEqual([
      [3, 7],
      [6, 7],
    ]);
  });

  it('is gathered anew when its total changes, since an item may have moved to a page that was read', async () => {
    const before = [0, 1, 2, 3, 4, 5, 6];
    const afterwards = [1, 2, 3, 4, 5, 6];
    const { asked, fetch } = changing([before, afterwards], 1);
    const { document, isWhole } = await allPages(fetch, 3);
    expect(asked).toEqual([1, 2, 1, 2]);
    expect(document.data).toEqual(afterwards);
    expect(isWhole).toBe(true);
  });

  it('is said not to be whole when it changes each time that it is read', async () => {
    const lists = Array.from({ length: 50 }, (_, count) => Array.from({ length: 100 - count }, (_, i) => i));
    const { document, isWhole } = await allPages(changing(lists, 1).fetch, 50);
    expect(isWhole).toBe(false);
    expect(document.data.length).toBeGreaterThan(50);
  });
});

describe('a request document', () => {
  it('is read into values and printed from them', () => {
    const body = {
      data: {
        type: 'workspaces',
        attributes: { name: 'w', description: null },
        relationships: {
          tags: {
            data: [
              { type: 'tags', attributes: { name: 'a' } },
              { type: 'tags', id: 'tag-1' },
            ],
          },
        },
      },
    };
    const raw = { organization_name: 'acme', ...readDocument(createWorkspace, body) };
    expect(parseValues(createWorkspace.params, raw).values).toEqual({
      organization_name: 'acme',
      name: 'w',
      description: null,
      tags: [{ name: 'a', field: '/data/relationships/tags/data/0/attributes/name' }, { id: 'tag-1' }],
    });
    expect(printDocument(createWorkspace, raw)).toEqual(body);
  });

  it('is printed from what a command line gives', () => {
    expect(printDocument(attachTag, { tag_id: 't', data: ['ws-1', 'ws-2', 'ws-1'] })).toEqual({
      data: [
        { type: 'workspaces', id: 'ws-1' },
        { type: 'workspaces', id: 'ws-2' },
      ],
    });
    expect(printDocument(createTags, { organization_name: 'o', data: ['a'] })).toEqual({
      data: [{ type: 'tags', attributes: { name: 'a' } }],
    });
    const id = 'tag-Kx7mPq2RtVw9YzBn';
    expect(printDocument(tagWorkspace, { workspace_id: 'w', data: ['a', id] })).toEqual({
      data: [
        { type: 'tags', attributes: { name: 'a' } },
        { type: 'tags', id },
      ],
    });
    expect(printDocument(createWorkspace, { organization_name: 'o', name: 'w' })).toEqual({
      data: { type: 'workspaces', attributes: { name: 'w' } },
    });
  });

  it('is printed from what a program gives', () => {
    const values = { organization_name: 'o', name: 'w', tags: [{ name: 'a' }, { id: 'tag-1' }] };
    expect(printDocument(createWorkspace, values)).toMatchObject({
      data: {
        relationships: {
          tags: {
            data: [
              { type: 'tags', attributes: { name: 'a' } },
              { type: 'tags', id: 'tag-1' },
            ],
          },
        },
      },
    });
    expect(printDocument(createTags, { organization_name: 'o', data: [{ name: 'a' }] })).toEqual({
      data: [{ type: 'tags', attributes: { name: 'a' } }],
    });
  });

  it('must give each identifier its type, which a program may leave out', () => {
    expect(refusal(() => readDocument(tagWorkspace, { data: [{ id: 'tag-1' }] }))).toEqual({
      kind: 'invalid',
      message: 'type must be "tags"',
      field: '/data/0/type',
    });
  });

  const ofWorkspace = (tags: unknown, project: unknown = null) =>
    readDocument(createWorkspace, {
      data: {
        type: 'workspaces',
        attributes: { name: 'w' },
        relationships: { tags, project: { data: project } },
      },
    });

  it.each<[unknown, string, string]>([
    [{}, 'data is missing', '/data/relationships/tags/data'],
    [{ data: 'tag-1' }, 'must be an array of resource identifiers', '/data/relationships/tags/data'],
    [{ data: ['tag-1'] }, 'must be a resource identifier', '/data/relationships/tags/data/0'],
    [
      { data: [{ type: 'tags', id: 't' }, {}] },
      'type must be "tags"',
      '/data/relationships/tags/data/1/type',
    ],
    ['tag-1', 'must be an object', '/data/relationships/tags'],
  ])('is refused with the relationship %j, naming the place', (tags, message, field) => {
    expect(refusal(() => ofWorkspace(tags))).toEqual({ kind: 'invalid', message, field });
  });

  it('may have a relationship that was read only with its link', () => {
    expect(ofWorkspace({ links: { related: '/x' } })).not.toHaveProperty('tags');
  });

  it('may not set what is not kept, but may have it empty, as it was read', () => {
    const withOther = (data: unknown) =>
      readDocument(createWorkspace, {
        data: { type: 'workspaces', attributes: { name: 'w' }, relationships: { locked: { data } } },
      });
    for (const empty of [undefined, null, []]) expect(withOther(empty)).toMatchObject({ name: 'w' });
    for (const data of [[{ type: 'users', id: 'u' }], { type: 'users', id: 'u' }]) {
      expect(refusal(() => withOther(data))).toEqual({
        kind: 'invalid',
        message: 'locked cannot be set',
        field: '/data/relationships/locked',
      });
    }
  });

  it.each<[unknown, string, string]>([
    [[{ type: 'tags' }], 'a tag needs an id or a name', '/data/0'],
    [[{ type: 'tags', id: 1 }], 'id must be a string', '/data/0/id'],
    [[{ type: 'tags', id: '' }], 'a tag needs an id or a name', '/data/0'],
    [[{ type: 'tags', attributes: { name: 1 } }], 'name must be a string', '/data/0/attributes/name'],
    [[1], 'must be a resource identifier', '/data/0'],
    [[{ type: 'workspaces', id: 't' }], 'type must be "tags"', '/data/0/type'],
    [[{ type: 'tags', id: null, attributes: { name: null } }], 'a tag needs an id or a name', '/data/0'],
    [1, 'must be an array of resource identifiers', '/data'],
  ])('that tags a workspace with %j is refused, naming the place', (data, message, field) => {
    expect(refusal(() => parseValues(tagWorkspace.params, { workspace_id: 'w', data }))).toEqual({
      kind: 'invalid',
      message,
      field,
    });
  });

  it('names up to a thousand tags', () => {
    const tags = (length: number) => ({
      workspace_id: 'w',
      data: Array.from({ length }, (_, index) => ({ type: 'tags', attributes: { name: `t${index}` } })),
    });
    expect(parseValues(tagWorkspace.params, tags(1000)).values).toMatchObject({ data: { length: 1000 } });
    expect(refusal(() => parseValues(tagWorkspace.params, tags(1001)))).toEqual({
      kind: 'invalid',
      message: 'must have at most 1000 items, not 1001',
      field: '/data',
    });
  });

  it('is absent where none is declared', () => {
    expect(printDocument(listTags, { organization_name: 'o' })).toBeUndefined();
    expect(readDocument(listTags, { data: 'whatever' })).toEqual({});
  });

  it('must have data', () => {
    for (const body of [undefined, null, {}, [], { data: null }, 'text']) {
      expect(refusal(() => readDocument(attachTag, body))).toEqual({
        kind: 'invalid',
        message: 'data is missing',
        field: '/data',
      });
    }
  });
});

describe('an attribute', () => {
  const cases: readonly (readonly [string, Param<unknown>, readonly unknown[], readonly unknown[]])[] = [
    [
      'of yes or no',
      booleanAttribute('x', { help: '' }),
      [true, false, 'true', 'false'],
      ['yes', 1, '', [], {}],
    ],
    [
      'that counts',
      countAttribute('x', { help: '' }),
      [null, 0, 2 ** 31 - 1],
      [-1, 1.5, 2 ** 31, '1', true, [], {}],
    ],
    [
      'of texts',
      textsAttribute('x', { help: '' }),
      [null, [], ['a'], 'a', Array.from({ length: 1000 }, () => 'a')],
      [1, {}, [1], ['a', null], [['a']], Array.from({ length: 1001 }, () => 'a')],
    ],
    [
      'of a few words',
      choiceAttribute('x', ['one', 'two'], { help: '' }),
      [null, 'one', 'two'],
      ['three', 'One', '', 1, ['one']],
    ],
    [
      'of what is set here',
      settingOverwrites('x'),
      [null, {}, { x: true }, { x: null }],
      [1, 'x', [], { x: 1 }],
    ],
    [
      'that is not kept',
      unkeptAttribute('x', 'no'),
      [null, false, '', {}, []],
      [true, 'a', 1, { a: 1 }, ['a']],
    ],
  ];

  it.each(cases)('%s takes what it is for, and refuses all else', (_, param, taken, refusedOnes) => {
    for (const value of taken) expect(() => param.parse(value, 'x')).not.toThrow();
    for (const value of refusedOnes) {
      expect(refusal(() => param.parse(value, 'x'))).toMatchObject({
        kind: 'invalid',
        field: expect.stringMatching(/^\/data\/attributes\/(?:x|setting-overwrites)/),
      });
    }
  });
});

describe('conditions for key-value tags', () => {
  const filter = taggedFilter({ hidden: true });
  const parse = (value: unknown) => filter.parse(value, 'filter[tagged]');

  it('are as many as a workspace may have tags, inherited ones among them', () => {
    const conditions = (count: number) => Array.from({ length: count }, (_, i) => ({ key: `k${i}` }));
    expect(parse(conditions(20))).toHaveLength(20);
    expect(refusal(() => parse(conditions(21)))).toEqual({
      kind: 'invalid',
      message: 'filter[tagged] must have at most 20 conditions, not 21',
      field: 'filter[tagged]',
    });
  });

  it('have a key, a value or both, and are none when they have neither', () => {
    expect(parse([{ key: 'a', value: 'b' }, { key: 'a' }, { value: 'b' }, { key: '', value: '' }])).toEqual([
      { key: 'a', value: 'b' },
      { key: 'a' },
      { value: 'b' },
    ]);
    expect(refusal(() => parse([1]))).toMatchObject({
      message: 'each condition must be KEY=VALUE, or an object with key and value',
    });
    expect(refusal(() => parse([{ key: ['a'] }]))).toMatchObject({ kind: 'invalid' });
  });

  it.each(['filter[tagged][0]', 'filter[tagged][0][name]', 'filter[tagged]', 'filter[tagged][0][key][x]'])(
    'are not named %s in a query',
    (name) => {
      expect(refusal(() => filter.query.read([[name, 'a']]))).toMatchObject({ kind: 'invalid', field: name });
    },
  );
});

describe('the source of an error', () => {
  it('is a pointer into the body, the name of a query parameter, or nothing for the path', () => {
    expect(errorSource(createWorkspace, '/data/type')).toEqual({ pointer: '/data/type' });
    expect(errorSource(createWorkspace, 'name')).toEqual({ pointer: '/data/attributes/name' });
    expect(errorSource(createWorkspace, 'tags')).toEqual({ pointer: '/data/relationships/tags' });
    expect(errorSource(attachTag, 'data')).toEqual({ pointer: '/data' });
    expect(errorSource(listTags, 'q')).toEqual({ parameter: 'q' });
    expect(errorSource(listTags, 'organization_name')).toBeUndefined();
    expect(errorSource(listTags, 'unknown')).toBeUndefined();
  });
});
