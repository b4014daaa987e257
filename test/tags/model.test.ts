import fc from 'fast-check';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/ground/clock.ts';
import { systemRandom } from '../../src/ground/random.ts';
import type { Tag } from '../../src/tags/tag-pool.ts';
import { Tags } from '../../src/tags/tags.ts';
import { isLong } from '../long.ts';
import { refused } from '../refusal.ts';
import { FakeStore } from './fake-store.ts';

/**
 * The pool against the plainest possible model of it: a set of tags, and a set of names on each workspace. Identifiers are
 * what the pool answered; everything else is the model's own.
 */
interface Model {
  /** Name to identifier. */
  readonly tags: Map<string, string>;
  readonly workspaces: Map<string, { readonly id: string; readonly carried: Set<string> }>;
}

const ORGANIZATION = 'acme';
const everything = { number: 1, size: 1000 };

const names = fc.array(
  fc.constantFrom('a', 'B', 'b', 'a:b', 'prod', 'PROD', 'x-1', 'x_1', 'ab', 'abc', '0'),
  {
    maxLength: 4,
  },
);
/** Which of those that exist, by number; one past the end is one that does not exist. */
const which = fc.array(fc.nat(12), { maxLength: 4 });

const action = fc.oneof(
  fc.record({ do: fc.constant('create tags' as const), names }),
  fc.record({ do: fc.constant('delete tags' as const), which }),
  fc.record({ do: fc.constant('attach' as const), tag: fc.nat(8), which }),
  fc.record({ do: fc.constant('detach' as const), tag: fc.nat(8), which }),
  fc.record({
    do: fc.constant('create workspace' as const),
    name: fc.constantFrom('w1', 'w2', 'W3', 'w4'),
    names,
  }),
  fc.record({ do: fc.constant('delete workspace' as const), which: fc.nat(4) }),
  fc.record({
    do: fc.constant('rename workspace' as const),
    which: fc.nat(4),
    name: fc.constantFrom('w1', 'v'),
  }),
  fc.record({ do: fc.constant('tag workspace' as const), which: fc.nat(4), names, tags: which }),
  fc.record({ do: fc.constant('untag workspace' as const), which: fc.nat(4), names, tags: which }),
  fc.record({ do: fc.constant('start anew' as const) }),
);
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never;

const unknownTag = 'tag-1111111111111111';
const unknownWorkspace = 'ws-1111111111111111';

const tagId = (model: Model, number: number): string => [...model.tags.values()][number] ?? unknownTag;
const tagCalled = (model: Model, id: string): string | undefined =>
  [...model.tags].find(([, known]) => known === id)?.[0];
const workspaceAt = (model: Model, number: number) => [...model.workspaces.values()][number];
const idAt = (model: Model, number: number): string => workspaceAt(model, number)?.id ?? unknownWorkspace;

it('the pool of tags counts, lists and pages as a plain model does, after any operations', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 30 }), async (actions) => {
      const tags = new Tags({ store: new FakeStore(), clock: systemClock, random: systemRandom });
      await tags.organizations.create({ name: ORGANIZATION, email: null });
      await tags.organizations.create({ name: 'other', email: null });
      const model: Model = { tags: new Map(), workspaces: new Map() };
      for (const step of actions) {
        await take(step, tags, model);
        await compare(tags, model);
      }
      expect((await tags.pool.list('other', { page: everything })).total).toBe(0);
    }),
    { numRuns: isLong ? 120 : 40 },
  );
});

async function take(step: Action, tags: Tags, model: Model): Promise<void> {
  switch (step.do) {
    case 'create tags':
      return createTags(tags, model, step.names);
    case 'delete tags':
      return deleteTags(tags, model, step.which);
    case 'attach':
    case 'detach':
      return changeCarriers(tags, model, step);
    case 'create workspace':
      return createWorkspace(tags, model, step.name, step.names);
    case 'delete workspace':
      return deleteWorkspace(tags, model, step.which);
    case 'rename workspace':
      return renameWorkspace(tags, model, step.which, step.name);
    case 'tag workspace':
    case 'untag workspace':
      return changeCarried(tags, model, step);
    case 'start anew':
      await tags.organizations.delete(ORGANIZATION);
      await tags.organizations.create({ name: ORGANIZATION, email: null });
      model.tags.clear();
      model.workspaces.clear();
  }
}

async function createTags(tags: Tags, model: Model, wanted: readonly string[]): Promise<void> {
  const folded = new Set(wanted.map((name) => name.toLowerCase()));
  const call = tags.pool.create(
    ORGANIZATION,
    wanted.map((name) => ({ name })),
  );
  if ([...folded].some((name) => model.tags.has(name))) {
    expect(await refused(call)).toMatchObject({ kind: 'exists', message: 'Name has already been taken' });
    return;
  }
  const created = await call;
  expect(created.map(({ name }) => name)).toEqual([...folded]);
  for (const { id, name } of created) model.tags.set(name, id);
}

async function deleteTags(tags: Tags, model: Model, numbers: readonly number[]): Promise<void> {
  const ids = numbers.map((number) => tagId(model, number));
  const call = tags.pool.delete(ORGANIZATION, ids);
  if (ids.includes(unknownTag)) {
    expect(await refused(call)).toMatchObject({
      kind: 'not-found',
      message: `tag "${unknownTag}" not found`,
    });
    return;
  }
  await call;
  for (const id of ids) {
    const name = tagCalled(model, id);
    if (name === undefined) continue;
    model.tags.delete(name);
    for (const { carried } of model.workspaces.values()) carried.delete(name);
  }
}

async function changeCarriers(
  tags: Tags,
  model: Model,
  step: { readonly do: 'attach' | 'detach'; readonly tag: number; readonly which: readonly number[] },
): Promise<void> {
  const id = tagId(model, step.tag);
  const workspaces = step.which.map((number) => idAt(model, number));
  const call = tags.pool[step.do](id, workspaces);
  if (id === unknownTag || workspaces.includes(unknownWorkspace)) {
    expect(await refused(call)).toMatchObject({ kind: 'not-found' });
    return;
  }
  await call;
  const name = tagCalled(model, id) ?? '';
  for (const number of step.which) {
    const carried = workspaceAt(model, number)?.carried;
    if (step.do === 'attach') carried?.add(name);
    else carried?.delete(name);
  }
}

async function createWorkspace(
  tags: Tags,
  model: Model,
  name: string,
  wanted: readonly string[],
): Promise<void> {
  const call = tags.workspaces.create(ORGANIZATION, {
    name,
    description: null,
    tags: wanted.map((tag) => ({ name: tag })),
  });
  if (model.workspaces.has(name)) {
    expect(await refused(call)).toMatchObject({ kind: 'exists', message: 'Name has already been taken' });
    return;
  }
  const { id, tagNames } = await call;
  const carried = new Set(wanted.map((tag) => tag.toLowerCase()));
  expect(tagNames).toEqual([...carried].sort());
  model.workspaces.set(name, { id, carried });
  await learnNewTags(tags, model, carried);
}

/** Identifiers of tags that were made by naming them. */
async function learnNewTags(tags: Tags, model: Model, used: Iterable<string>): Promise<void> {
  for (const name of used) {
    if (model.tags.has(name)) continue;
    model.tags.set(name, (await tags.pool.get({ organization: ORGANIZATION, name })).id);
  }
}

async function deleteWorkspace(tags: Tags, model: Model, number: number): Promise<void> {
  const call = tags.workspaces.delete({ id: idAt(model, number) });
  const name = [...model.workspaces.keys()][number];
  if (name === undefined) {
    expect(await refused(call)).toMatchObject({ kind: 'not-found' });
    return;
  }
  await call;
  model.workspaces.delete(name);
}

async function renameWorkspace(tags: Tags, model: Model, number: number, to: string): Promise<void> {
  const from = [...model.workspaces.keys()][number];
  const call = tags.workspaces.update({ id: idAt(model, number) }, { name: to });
  const workspace = workspaceAt(model, number);
  if (from === undefined || workspace === undefined) {
    expect(await refused(call)).toMatchObject({ kind: 'not-found' });
    return;
  }
  if (from !== to && model.workspaces.has(to)) {
    expect(await refused(call)).toMatchObject({ kind: 'exists', message: 'Name has already been taken' });
    return;
  }
  expect((await call).name).toBe(to);
  model.workspaces.delete(from);
  model.workspaces.set(to, workspace);
}

async function changeCarried(
  tags: Tags,
  model: Model,
  step: {
    readonly do: 'tag workspace' | 'untag workspace';
    readonly which: number;
    readonly names: readonly string[];
    readonly tags: readonly number[];
  },
): Promise<void> {
  const ids = step.tags.map((number) => tagId(model, number));
  const references = [...step.names.map((name) => ({ name })), ...ids.map((id) => ({ id }))];
  const change = step.do === 'tag workspace' ? 'tag' : 'untag';
  const call = tags.workspaces[change]({ id: idAt(model, step.which) }, references);
  const workspace = workspaceAt(model, step.which);
  if (workspace === undefined || ids.includes(unknownTag)) {
    expect(await refused(call)).toMatchObject({ kind: 'not-found' });
    return;
  }
  await call;
  const named = step.names.map((name) => name.toLowerCase());
  const meant = [...named, ...ids.flatMap((id) => tagCalled(model, id) ?? [])];
  for (const name of meant) {
    if (change === 'tag') workspace.carried.add(name);
    else workspace.carried.delete(name);
  }
  if (change === 'tag') await learnNewTags(tags, model, named);
}

const sorted = (all: Iterable<string>): string[] => [...all].sort();

async function compare(tags: Tags, model: Model): Promise<void> {
  const expected = sorted(model.tags.keys());
  const all = await tags.pool.list(ORGANIZATION, { page: everything });
  expect(all.items.map(({ name }) => name)).toEqual(expected);
  for (const tag of all.items) expect(tag).toMatchObject(expectedTag(model, tag.name));
  await comparePages(tags, model, all.items);
  await compareWorkspaces(tags, model);
}

const expectedTag = (model: Model, name: string) => ({
  id: model.tags.get(name),
  instances: [...model.workspaces.values()].filter(({ carried }) => carried.has(name)).length,
  organization: ORGANIZATION,
});

async function comparePages(tags: Tags, model: Model, all: readonly Tag[]): Promise<void> {
  const [workspace] = model.workspaces.values();
  for (const search of ['', 'a', 'B', '_', '%']) {
    for (const notOnWorkspace of [undefined, workspace?.id, all[0]?.id, unknownWorkspace]) {
      const expected = all.filter(
        ({ name }) =>
          name.includes(search.toLowerCase()) &&
          !(notOnWorkspace !== undefined && notOnWorkspace === workspace?.id && workspace.carried.has(name)),
      );
      for (const number of [1, 2, 3]) {
        const page = await tags.pool.list(ORGANIZATION, {
          search,
          notOnWorkspace,
          page: { number, size: 2 },
        });
        expect(page.total).toBe(expected.length);
        expect(page.items).toEqual(expected.slice(2 * number - 2, 2 * number));
      }
    }
  }
}

async function compareWorkspaces(tags: Tags, model: Model): Promise<void> {
  const all = await tags.workspaces.list(ORGANIZATION, { page: everything });
  expect(all.items.map(({ name }) => name)).toEqual(sorted(model.workspaces.keys()));
  for (const { id, name, tagNames } of all.items) {
    const workspace = model.workspaces.get(name);
    expect(id).toBe(workspace?.id);
    expect(tagNames).toEqual(sorted(workspace?.carried ?? []));
    const carried = await tags.workspaces.tags({ id }, '', everything);
    expect(carried.items.map((tag) => tag.name)).toEqual(tagNames);
  }
  const withA = await tags.workspaces.list(ORGANIZATION, {
    tags: ['A'],
    excludeTags: ['prod', 'nowhere'],
    descending: true,
    page: everything,
  });
  const expected = [...model.workspaces].filter(
    ([, { carried }]) => carried.has('a') && !carried.has('prod'),
  );
  expect(withA.items.map(({ name }) => name)).toEqual(sorted(expected.map(([name]) => name)).reverse());
}
