import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/ground/clock.ts';
import { systemRandom } from '../../src/ground/random.ts';
import { refuseOverrides } from '../../src/tags/bindings.ts';
import { Tags } from '../../src/tags/tags.ts';
import { refusal, refused } from '../refusal.ts';
import { FakeStore } from './fake-store.ts';

const FIELDS = { name: 'name', description: 'description', autoDestroyActivityDuration: 'duration' };
const page = { number: 1, size: 20 };
const owned = [{ key: 'owner', value: 'core' }];

async function acme(): Promise<Tags> {
  const tags = new Tags({ store: new FakeStore(), clock: systemClock, random: systemRandom });
  await tags.organizations.create({ name: 'acme', email: null });
  return tags;
}

const DEFAULT = 'Default Project';

describe('the projects of an organization', () => {
  it('are listed by name in either order, whichever was made first', async () => {
    const tags = await acme();
    for (const name of ['bbb', 'Zzz', 'aaa', 'ccc']) await tags.projects.create('acme', name, {}, FIELDS);
    const names = async (order?: 'ascending' | 'descending') =>
      (await tags.projects.list('acme', { order, page })).items.map(({ name }) => name);
    expect(await names()).toEqual([DEFAULT, 'Zzz', 'aaa', 'bbb', 'ccc']);
    expect(await names('ascending')).toEqual([DEFAULT, 'Zzz', 'aaa', 'bbb', 'ccc']);
    expect(await names('descending')).toEqual(['ccc', 'bbb', 'aaa', 'Zzz', DEFAULT]);
    await tags.projects.update({ organization: 'acme', name: DEFAULT }, { name: 'aab' }, FIELDS);
    expect(await names()).toEqual(['aab', 'Zzz', 'aaa', 'bbb', 'ccc']);
    expect(await names('ascending')).toEqual(['Zzz', 'aaa', 'aab', 'bbb', 'ccc']);
  });

  it('have a default one, which is found by its name and its identifier before anything is written', async () => {
    const tags = await acme();
    const { id } = await tags.projects.get({ organization: 'acme', name: DEFAULT });
    expect(await refused(tags.projects.get({ organization: 'acme', name: 'other' }))).toMatchObject({
      kind: 'not-found',
    });
    const other = await tags.projects.create('acme', 'other', {}, FIELDS);
    await tags.organizations.create({ name: 'beta', email: null });
    const isDefault = (organization: string, project: string) =>
      tags.projects.isDefault(organization, project);
    expect([await isDefault('acme', id), await isDefault('acme', other.id)]).toEqual([true, false]);
    expect([await isDefault('beta', id), await isDefault('acme', 'prj-x')]).toEqual([false, false]);
    expect((await tags.projects.get({ id })).name).toBe(DEFAULT);
  });

  it('are found by their tags only by those who may see these', async () => {
    const tags = await acme();
    for (const name of ['one', 'two']) await tags.projects.create('acme', name, { bindings: owned }, FIELDS);
    await tags.projects.create('acme', 'bare', {}, FIELDS);
    const found = async (bindings: typeof owned | undefined, seen?: string) => {
      const sees = ({ name }: { readonly name: string }) => seen === undefined || name === seen;
      const { items } = await tags.projects.list('acme', { bindings, page, sees });
      return items.map(({ name }) => name);
    };
    expect(await found(owned)).toEqual(['one', 'two']);
    expect(await found(owned, 'two')).toEqual(['two']);
    expect(await found(owned, 'bare')).toEqual([]);
    expect(await found(undefined, 'bare')).toEqual([DEFAULT, 'bare', 'one', 'two']);
  });

  it('keep their settings until these are changed', async () => {
    const tags = await acme();
    const content = { autoDestroyActivityDuration: '14d', description: 'ours' };
    const { id } = await tags.projects.create('acme', 'one', content, FIELDS);
    await tags.projects.update({ id }, { name: 'two' }, FIELDS);
    expect(await tags.projects.get({ id })).toMatchObject({ ...content, name: 'two' });
    await tags.projects.update({ id }, { autoDestroyActivityDuration: null }, FIELDS);
    expect(await tags.projects.get({ id })).toMatchObject({ ...content, autoDestroyActivityDuration: null });
  });
});

describe('the tags bound to projects and workspaces', () => {
  it('come by the names of those that have them, with how many have each', async () => {
    const tags = await acme();
    const projects = new Map<string, string>();
    for (const name of ['bbb', 'aaa', 'ccc']) {
      projects.set(name, (await tags.projects.create('acme', name, { bindings: owned }, FIELDS)).id);
    }
    for (const [name, project] of [
      ['y', 'aaa'],
      ['x', 'aaa'],
      ['z', 'bbb'],
    ] as const) {
      const bindings = name === 'x' ? [{ key: 'owner', value: 'web' }] : [];
      const wanted = { name, description: null, tags: [], project: projects.get(project), bindings };
      await tags.workspaces.create('acme', wanted);
    }
    await tags.projects.create('acme', 'Alpha', { bindings: owned }, FIELDS);
    await tags.projects.update({ organization: 'acme', name: DEFAULT }, { bindings: owned }, FIELDS);
    const found = async (isCounted: boolean) =>
      (await tags.bound.list('acme', { sees: () => true, isCounted, page })).items.map(
        ({ kind, target, value, counts }) => [kind, target.name, value, counts],
      );
    expect(await found(true)).toEqual([
      ['projects', 'Alpha', 'core', { projects: 1, workspaces: 0 }],
      ['projects', DEFAULT, 'core', { projects: 1, workspaces: 0 }],
      ['projects', 'aaa', 'core', { projects: 1, workspaces: 1 }],
      ['projects', 'bbb', 'core', { projects: 1, workspaces: 1 }],
      ['projects', 'ccc', 'core', { projects: 1, workspaces: 0 }],
      ['workspaces', 'x', 'web', { projects: 0, workspaces: 1 }],
    ]);
    expect((await found(false)).map(([, , , counts]) => counts)).toEqual(Array(6).fill(undefined));
  });
});

describe('a tag whose value only a project says', () => {
  const ofProject = [{ key: 'owner', value: 'core', createdAt: 0 }];
  it.each([
    ['owner', 'core', ['owner'], true],
    ['owner', 'web', ['owner'], false],
    ['owner', 'web', [], true],
    ['zone', 'web', ['owner', 'zone'], true],
  ])('is bound to a workspace as %s=%s where %j are fixed: %j', (key, value, fixed, isAllowed) => {
    const work = () => refuseOverrides([{ key, value }], ofProject, new Set(fixed));
    if (isAllowed) work();
    else expect(refusal(work).message).toBe('Key is reserved and cannot be overridden');
  });
});
