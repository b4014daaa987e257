import { beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/ground/clock.ts';
import { systemRandom } from '../../src/ground/random.ts';
import { organizationCalled } from '../../src/tags/organization.ts';
import { OrganizationEdit } from '../../src/tags/organization-edit.ts';
import { Tags } from '../../src/tags/tags.ts';
import type { BindingFilter } from '../../src/tags/workspace-query.ts';
import type { Workspace } from '../../src/tags/workspaces.ts';
import { processorMsUntil } from '../processor-time.ts';
import { seeded } from '../seeded.ts';
import { FakeStore } from './fake-store.ts';

/** Enough that lists of who has what are made, after a few questions. */
const WORKSPACES = 700;
const KEYS = ['env', 'team', 'zone', 'Tier'];
const VALUES = ['', 'a', 'b'];
const FIELDS = { name: '', description: '', autoDestroyActivityDuration: '' };
const WORKSPACE_FIELDS = { name: '', setting: () => '' };

const ports = { store: new FakeStore(), clock: systemClock, random: systemRandom };
const tags = new Tags(ports);
const projects: string[] = [];
let all: readonly Workspace[] = [];

const everything = { number: 1, size: WORKSPACES };
const listed = async (): Promise<readonly Workspace[]> =>
  (await tags.workspaces.list('acme', { page: everything })).items;

/** What the answer must be, worked out from what each workspace shows. */
const holds = ({ effectiveBindings, tagNames }: Workspace, filter: BindingFilter): boolean =>
  effectiveBindings.some(
    ({ key, value }) =>
      (!('key' in filter) || filter.key === key) && (filter.value === undefined || filter.value === value),
  ) ||
  ('key' in filter && filter.value === undefined && tagNames.includes(filter.key.toLowerCase()));

beforeAll(async () => {
  await tags.organizations.create({ name: 'acme', email: null });
  await tags.reservedKeys.create('acme', 'zone', true);
  for (const [name, bindings] of [
    [
      'one',
      [
        { key: 'zone', value: 'a' },
        { key: 'env', value: 'b' },
      ],
    ],
    ['two', [{ key: 'team', value: '' }]],
  ] as const) {
    projects.push((await tags.projects.create('acme', name, { bindings }, FIELDS)).id);
  }
  await ports.store.transact(async (tx) => {
    const edit = await OrganizationEdit.open(tx, await organizationCalled(tx, 'acme'), ports);
    for (let index = 0; index < WORKSPACES; index++) {
      const own = KEYS.filter((_, place) => (index >> place) % 3 === 0);
      const bindings = own.map((key, place) => ({
        key,
        value: VALUES[(index + place) % 3] ?? '',
        createdAt: 0,
      }));
      const id = projects[index % 3];
      const project = id === undefined ? undefined : await edit.projectKey(id);
      const content = { description: null, bindings, project };
      const { key } = await edit.addWorkspace(`w${(index * 37) % WORKSPACES}`, content, undefined);
      if (index % 5 === 0) await edit.attach(key, await edit.tagsFor([{ name: KEYS[index % 4] ?? '' }]));
    }
    await edit.save();
  });
  all = await listed();
});

describe('a query about the tags of many workspaces', () => {
  it('finds what each workspace shows, before and after it is known who has what', async () => {
    const chance = seeded();
    for (let round = 0; round < 60; round++) {
      const bindings = Array.from({ length: 1 + chance.below(2) }, (): BindingFilter => {
        const key = chance.pick([...KEYS, 'nobody']);
        const value = chance.pick([undefined, ...VALUES.slice(1), 'c']);
        if (value === undefined) return { key };
        return chance.below(4) === 0 ? { value } : { key, value };
      });
      const project = chance.pick([undefined, undefined, ...projects]);
      const query = { bindings, project, page: everything };
      const found = await tags.workspaces.list('acme', query);
      const expected = all.filter(
        (workspace) =>
          bindings.every((filter) => holds(workspace, filter)) &&
          (project === undefined || workspace.project === project),
      );
      expect([bindings, project, found.items.map(({ name }) => name)]).toEqual([
        bindings,
        project,
        expected.map(({ name }) => name),
      ]);
      expect(found.total).toBe(expected.length);
    }
  });

  it('finds what each workspace shows after changes of a few, of many, and of names', async () => {
    const chance = seeded();
    const one = () => ({ organization: 'acme', name: chance.pick(all).name });
    const changes: (() => Promise<unknown>)[] = [
      () =>
        tags.workspaces.bind(one(), [{ key: chance.pick(KEYS), value: chance.pick(VALUES) }]).catch(() => {}),
      () => tags.workspaces.unbind(one(), [chance.pick(KEYS)]),
      () => tags.workspaces.tag(one(), [{ name: chance.pick(KEYS) }]),
      () => tags.workspaces.untag(one(), [{ name: chance.pick(KEYS) }]),
      () => tags.workspaces.update(one(), { project: chance.pick([null, ...projects]) }, WORKSPACE_FIELDS),
      () => tags.workspaces.update(one(), { name: `n${chance.below(1e9)}` }, WORKSPACE_FIELDS),
      () => tags.workspaces.delete(one()),
      async () => {
        const { id } = await tags.pool.get({ organization: 'acme', name: 'env' });
        const some = all.slice(0, chance.pick([3, 600])).map((workspace) => workspace.id);
        await (chance.below(2) === 0 ? tags.pool.attach(id, some) : tags.pool.detach(id, some));
      },
    ];
    await tags.workspaces.tag(one(), [{ name: 'env' }]);
    for (let round = 0; round < 50; round++) {
      all = await listed();
      await chance.pick(changes)();
      const shown = await listed();
      for (let question = 0; question < 4; question++) {
        const key = chance.pick(KEYS);
        const filter = chance.pick<BindingFilter>([{ key }, { key, value: chance.pick(VALUES.slice(1)) }]);
        const found = await tags.workspaces.list('acme', { bindings: [filter], page: everything });
        const expected = shown.filter((workspace) => holds(workspace, filter));
        expect([filter, found.items.map(({ id }) => id)]).toEqual([filter, expected.map(({ id }) => id)]);
      }
    }
    all = await listed();
  });

  it('gives pages in either order that make up the whole', async () => {
    const bindings = [{ key: 'env' }];
    const whole = await tags.workspaces.list('acme', { bindings, page: everything });
    for (const descending of [false, true]) {
      const names: string[] = [];
      for (let number = 1; names.length < whole.total; number++) {
        const page = { number, size: 90 };
        const { items } = await tags.workspaces.list('acme', { bindings, descending, page });
        names.push(...items.map(({ name }) => name));
      }
      const expected = whole.items.map(({ name }) => name);
      expect(names).toEqual(descending ? expected.reverse() : expected);
    }
  });

  it('with thousands of names to leave out looks at each workspace once', async () => {
    const excludeTags = Array.from({ length: 4000 }, (_, index) => `t${index}`);
    let total: number | undefined;
    const ms = await processorMsUntil(async () => {
      ({ total } = await tags.workspaces.list('acme', {
        excludeTags: [...excludeTags, 'env'],
        page: everything,
      }));
    });
    expect(total).toBe(all.filter((workspace) => !holds(workspace, { key: 'env' })).length);
    expect(ms).toBeLessThan(2000);
  });
});
