import { ok } from 'node:assert/strict';
import { issuedFor } from './callers.ts';
import { document, type Org, organization } from './organizations.ts';
import { ask, type Chapter, expectLike, holds, outcomeOf, overHttp, type Params, type Row } from './row.ts';
import type { Side } from './sides.ts';

interface Tag {
  readonly id: string;
  readonly type: string;
  readonly attributes: {
    readonly name: string;
    readonly 'created-at': string;
    readonly 'instance-count': number;
  };
  readonly relationships: unknown;
}

const dataOf = (answer: unknown): Tag[] => (answer as { data: Tag[] }).data;
const list = async (side: Side, org: Org, query: Params = {}): Promise<Tag[]> =>
  dataOf(await ask(side, 'tags list', { organization_name: org.organization_name, ...query }));
const names = (tags: readonly Tag[]): string => tags.map(({ attributes }) => attributes.name).join();

async function withTags(side: Side, ...tags: string[]): Promise<Org & { readonly ids: readonly string[] }> {
  const org = await organization(side);
  const made = dataOf(
    await ask(side, 'tags create', { organization_name: org.organization_name, names: tags }),
  );
  return { ...org, ids: made.map(({ id }) => id) };
}

/** For rows that only look at it. */
const SHARED = new WeakMap<Side, Promise<Org>>();

const field = (text: string, test: (tag: Tag, org: Org) => boolean): Row =>
  holds(text, async (side) => {
    const org = SHARED.get(side) ?? withTags(side, 'env-prod');
    SHARED.set(side, org);
    const [tag] = await list(side, await org);
    ok(tag !== undefined && test(tag, await org), JSON.stringify(tag));
  });

const resources: Chapter = {
  title: 'Tag',
  rows: [
    field('id identifies it', ({ id }) => typeof id === 'string' && id.length > 4),
    field('type is always tags', ({ type }) => type === 'tags'),
    field('attributes.name is its name', ({ attributes }) => attributes.name === 'env-prod'),
    field('attributes.created-at is a time in UTC with milliseconds', ({ attributes }) =>
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(attributes['created-at']),
    ),
    field('attributes.instance-count is a number', ({ attributes }) => attributes['instance-count'] === 0),
    field(
      'relationships.organization.data is the organization',
      ({ relationships }, { organization_name: id }) => {
        expectLike(relationships, { organization: { data: { id, type: 'organizations' } } });
        return true;
      },
    ),
    holds('instance-count counts what carries it', async (side) => {
      const { workspaces, ids, ...org } = await withTags(side, 'env-prod');
      await ask(side, 'tags attach', { tag_id: ids[0], workspaces });
      const [tag] = await list(side, { ...org, workspaces });
      ok(tag?.attributes['instance-count'] === 2);
    }),
    holds('tags enter the pool directly', async (side) => {
      ok(names(await list(side, await withTags(side, 'one', 'two'))) === 'one,two');
    }),
    overHttp('tags enter the pool through what carries them', async (side) => {
      const org = await organization(side);
      const tags = [{ type: 'tags', attributes: { name: 'by-the-way' } }];
      await document(side, 'POST', `workspaces/${org.workspaces[0]}/relationships/tags`, tags);
      ok(names(await list(side, org)) === 'by-the-way');
    }),
    holds('every organization has one pool of its own', async (side) => {
      await withTags(side, 'one');
      ok((await list(side, await organization(side, 0))).length === 0);
    }),
  ],
};

const many = Array.from({ length: 25 }, (_, index) => `tag-${String(index).padStart(2, '0')}`);

const listTags: Chapter = {
  title: 'List tags',
  rows: [
    holds('all tags of the organization are listed', async (side) => {
      ok(names(await list(side, await withTags(side, 'a', 'b', 'c'))) === 'a,b,c');
    }),
    holds('data is an array, also where there is none', async (side) => {
      ok(Array.isArray(await list(side, await organization(side, 0))));
    }),
    ...(
      [
        ['q finds tags whose name is like it', 'prod', 'env-prod,prod'],
        ['q finds parts of names', 'v-p', 'env-prod'],
        ['q does not mind capitals', 'PROD', 'env-prod,prod'],
        ['q that is like none finds none', 'nothing', ''],
      ] as const
    ).map(([text, q, expected]) =>
      holds(text, async (side) => {
        const org = await withTags(side, 'env-prod', 'prod', 'test');
        ok(names(await list(side, org, { q })) === expected);
      }),
    ),
    holds('filter[exclude][taggable][id] leaves out the tags of a workspace', async (side) => {
      const { workspaces, ids, ...rest } = await withTags(side, 'on-it', 'not-on-it');
      await ask(side, 'tags attach', { tag_id: ids[0], workspaces: [workspaces[0]] });
      const org = { ...rest, workspaces };
      ok(names(await list(side, org, { 'filter[exclude][taggable][id]': workspaces[0] })) === 'not-on-it');
      ok(
        names(await list(side, org, { 'filter[exclude][taggable][id]': workspaces[1] })) ===
          'not-on-it,on-it',
      );
    }),
    holds('the first page comes unless another is asked for', async (side) => {
      ok(names(await list(side, await withTags(side, ...many))) === many.slice(0, 20).join());
    }),
    holds('20 tags come on a page unless another number is said', async (side) => {
      ok((await list(side, await withTags(side, ...many))).length === 20);
    }),
    holds('page[number] asks for another page', async (side) => {
      ok(
        names(await list(side, await withTags(side, ...many), { 'page[number]': 2 })) ===
          many.slice(20).join(),
      );
    }),
    holds('page[size] says how many come on a page', async (side) => {
      ok(
        names(await list(side, await withTags(side, ...many), { 'page[size]': 3 })) ===
          many.slice(0, 3).join(),
      );
    }),
    holds('page[number] and page[size] go together', async (side) => {
      const org = await withTags(side, ...many);
      ok(names(await list(side, org, { 'page[size]': 3, 'page[number]': 3 })) === many.slice(6, 9).join());
    }),
    holds('a page past the end is empty', async (side) => {
      ok((await list(side, await withTags(side, 'a'), { 'page[number]': 9 })).length === 0);
    }),
    overHttp('brackets in the query may be percent-encoded', async (side) => {
      const { organization_name } = await withTags(side, ...many);
      const path = `organizations/${organization_name}/tags?page%5Bsize%5D=2&page%5Bnumber%5D=2`;
      const { json } = await document(side, 'GET', path);
      ok(names(dataOf(json)) === many.slice(2, 4).join());
    }),
    overHttp('brackets in the query may stand as they are', async (side) => {
      const { organization_name } = await withTags(side, ...many);
      const { json } = await document(side, 'GET', `organizations/${organization_name}/tags?page[size]=2`);
      ok(names(dataOf(json)) === many.slice(0, 2).join());
    }),
    holds('an organization that is not there is refused', async (side) => {
      ok('refusal' in (await outcomeOf(side, 'tags list', { organization_name: 'nobody' })));
    }),
  ],
};

const deleteTags: Chapter = {
  title: 'Delete tags',
  rows: [
    holds('each tag that is listed leaves the pool', async (side) => {
      const org = await withTags(side, 'a', 'b', 'c');
      await ask(side, 'tags delete', { organization_name: org.organization_name, tags: org.ids.slice(0, 2) });
      ok(names(await list(side, org)) === 'c');
    }),
    holds('each tag that is listed leaves what carries it', async (side) => {
      const org = await withTags(side, 'a', 'b');
      for (const tag_id of org.ids) await ask(side, 'tags attach', { tag_id, workspaces: org.workspaces });
      await ask(side, 'tags delete', { organization_name: org.organization_name, tags: [org.ids[0]] });
      for (const workspace_id of org.workspaces) {
        ok(names(dataOf(await ask(side, 'tags of', { workspace_id }))) === 'b');
      }
    }),
    overHttp('the answer is 204 without a body', async (side) => {
      const { organization_name, ids } = await withTags(side, 'a');
      const reply = await document(side, 'DELETE', `organizations/${organization_name}/tags`, [
        { type: 'tags', id: ids[0] },
      ]);
      ok(reply.status === 204 && reply.text === '');
    }),
    overHttp('an organization that is not there is 404', async (side) => {
      const { ids } = await withTags(side, 'a');
      const reply = await document(side, 'DELETE', 'organizations/nobody/tags', [
        { type: 'tags', id: ids[0] },
      ]);
      ok(reply.status === 404);
    }),
    overHttp('the error of 404 is a JSON:API error object', async (side) => {
      const reply = await document(side, 'DELETE', 'organizations/nobody/tags', [
        { type: 'tags', id: 'tag-x' },
      ]);
      expectLike(reply.json, { errors: [{ status: '404' }] });
    }),
    holds('tags must already exist', async (side) => {
      const { organization_name } = await organization(side, 0);
      ok(
        'refusal' in
          (await outcomeOf(side, 'tags delete', { organization_name, tags: ['tag-AAAAAAAAAAAAAAAA'] })),
      );
    }),
    holds('one tag that does not exist leaves all as it is', async (side) => {
      const org = await withTags(side, 'a');
      const tags = [...org.ids, 'tag-AAAAAAAAAAAAAAAA'];
      ok(
        'refusal' in
          (await outcomeOf(side, 'tags delete', { organization_name: org.organization_name, tags })),
      );
      ok(names(await list(side, org)) === 'a');
    }),
    holds('a tag of another organization is not deleted', async (side) => {
      const [one, other] = [await withTags(side, 'a'), await withTags(side, 'b')];
      const outcome = await outcomeOf(side, 'tags delete', {
        organization_name: one.organization_name,
        tags: other.ids,
      });
      ok('refusal' in outcome);
      ok(names(await list(side, other)) === 'b');
    }),
    ...(
      [
        ['data[].type must be tags', { type: 'workspaces', id: 'tag-x' }],
        ['data[].type is needed', { id: 'tag-x' }],
        ['data[].id is needed', { type: 'tags' }],
      ] as const
    ).map(([text, item]) =>
      overHttp(text, async (side) => {
        const { organization_name } = await withTags(side, 'a');
        const reply = await document(side, 'DELETE', `organizations/${organization_name}/tags`, [item]);
        ok(reply.status >= 400 && reply.status < 500);
      }),
    ),
    overHttp('who may not do it gets the 404 of what is not there', async (side) => {
      const { organization_name, ids } = await withTags(side, 'a');
      const caller = await issuedFor(side, 'path "api/v2/organizations/other/*" { capabilities = ["read"] }');
      const data = [{ type: 'tags', id: ids[0] }];
      const refused = await document(caller, 'DELETE', `organizations/${organization_name}/tags`, data);
      const missing = await document(caller, 'DELETE', 'organizations/nobody/tags', data);
      ok(refused.status === 404 && refused.text === missing.text);
    }),
  ],
};

const attach: Chapter = {
  title: 'Add workspaces to a tag',
  rows: [
    holds('each workspace that is listed carries the tag', async (side) => {
      const org = await withTags(side, 'a');
      await ask(side, 'tags attach', { tag_id: org.ids[0], workspaces: org.workspaces });
      for (const workspace_id of org.workspaces) {
        ok(names(dataOf(await ask(side, 'tags of', { workspace_id }))) === 'a');
      }
    }),
    holds('one workspace may be added alone', async (side) => {
      const org = await withTags(side, 'a');
      await ask(side, 'tags attach', { tag_id: org.ids[0], workspaces: [org.workspaces[1]] });
      const [tag] = await list(side, org);
      ok(tag?.attributes['instance-count'] === 1);
    }),
    holds('a workspace that carries it already counts once', async (side) => {
      const org = await withTags(side, 'a');
      for (let time = 0; time < 2; time++) {
        await ask(side, 'tags attach', { tag_id: org.ids[0], workspaces: [org.workspaces[0]] });
      }
      const [tag] = await list(side, org);
      ok(tag?.attributes['instance-count'] === 1);
    }),
    overHttp('the answer is 204 without a body', async (side) => {
      const { ids, workspaces } = await withTags(side, 'a');
      const data = workspaces.map((id) => ({ type: 'workspaces', id }));
      const reply = await document(side, 'POST', `tags/${ids[0]}/relationships/workspaces`, data);
      ok(reply.status === 204 && reply.text === '');
    }),
    overHttp('a tag that is not there is 404 with a JSON:API error object', async (side) => {
      const { workspaces } = await withTags(side, 'a');
      const data = [{ type: 'workspaces', id: workspaces[0] }];
      const reply = await document(side, 'POST', 'tags/tag-AAAAAAAAAAAAAAAA/relationships/workspaces', data);
      ok(reply.status === 404);
      expectLike(reply.json, { errors: [{ status: '404' }] });
    }),
    holds('a tag that is not there is refused', async (side) => {
      const { workspaces } = await withTags(side, 'a');
      ok('refusal' in (await outcomeOf(side, 'tags attach', { tag_id: 'tag-AAAAAAAAAAAAAAAA', workspaces })));
    }),
    holds('a workspace that is not there is refused, and nothing is changed', async (side) => {
      const org = await withTags(side, 'a');
      const workspaces = [...org.workspaces, 'ws-AAAAAAAAAAAAAAAA'];
      ok('refusal' in (await outcomeOf(side, 'tags attach', { tag_id: org.ids[0], workspaces })));
      const [tag] = await list(side, org);
      ok(tag?.attributes['instance-count'] === 0);
    }),
    ...(
      [
        ['data[].type must be workspaces', { type: 'tags', id: 'ws-x' }],
        ['data[].id is needed', { type: 'workspaces' }],
      ] as const
    ).map(([text, item]) =>
      overHttp(text, async (side) => {
        const { ids } = await withTags(side, 'a');
        const reply = await document(side, 'POST', `tags/${ids[0]}/relationships/workspaces`, [item]);
        ok(reply.status >= 400 && reply.status < 500);
      }),
    ),
    overHttp('who may not do it gets the 404 of a tag that is not there', async (side) => {
      const { ids, workspaces } = await withTags(side, 'a');
      const caller = await issuedFor(side, 'path "api/v2/organizations/other/*" { capabilities = ["read"] }');
      const data = [{ type: 'workspaces', id: workspaces[0] }];
      const refused = await document(caller, 'POST', `tags/${ids[0]}/relationships/workspaces`, data);
      const missing = await document(
        caller,
        'POST',
        'tags/tag-AAAAAAAAAAAAAAAA/relationships/workspaces',
        data,
      );
      ok(refused.status === 404 && refused.text === missing.text);
    }),
  ],
};

export const tags: readonly Chapter[] = [resources, listTags, deleteTags, attach];
