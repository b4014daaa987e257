import { expect, it } from 'vitest';
import { seeded } from '../../../seeded.ts';
import { send, spawnServer, startServer } from '../../../servers/serving.ts';
import { bound, MEDIA_TYPE, named } from './api.ts';

const WORKSPACES = 8;
const ROUNDS = 8;

interface Resource {
  readonly id: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** Two clients, each with a server of its own over one store, do everything at once; nobody knows of the other. */
it('renaming, merging, tagging, binding, moving and deleting over two servers loses nothing, doubles nothing and counts right', async () => {
  const first = await startServer();
  const second = await spawnServer({ location: first.directory });
  const { token } = first;
  const at = (address: string) => async (method: string, path: string, data?: unknown) => {
    const headers = { 'content-type': MEDIA_TYPE };
    const body = data === undefined ? undefined : { data };
    const reply = await send(address, method, `/api/v2/${path}`, { token, headers, body });
    expect(reply.status, `${method} ${path}: ${reply.text}`).toBeLessThan(500);
    return reply;
  };
  const ask = at(first.address);
  await ask('POST', 'organizations', { type: 'organizations', attributes: { name: 'acme' } });
  const workspaces: string[] = [];
  for (let index = 0; index < WORKSPACES; index++) {
    const { json } = await ask('POST', 'organizations/acme/workspaces', {
      type: 'workspaces',
      attributes: { name: `w${index}` },
    });
    workspaces.push(json.data.id);
  }
  const projects: string[] = [];
  for (const name of ['left', 'right']) {
    const { json } = await ask('POST', 'organizations/acme/projects', {
      type: 'projects',
      attributes: { name },
    });
    projects.push(json.data.id);
  }
  await ask('POST', 'organizations/acme/tags', named('wandering', 'one', 'two'));

  /** What a client was told is so, and nobody else undoes. */
  const own = new Map<string, Set<string>>(workspaces.map((id) => [id, new Set()]));
  const deleted = new Set<string>();

  const client = async (who: string, address: string): Promise<void> => {
    const call = at(address);
    const chance = seeded(`client ${who}`);
    for (let round = 0; round < ROUNDS; round++) {
      const workspace = chance.pick(workspaces);
      const mine = `${who}-${round}`;
      await call(
        'POST',
        `workspaces/${workspace}/relationships/tags`,
        named(mine, `common-${round}`, 'one', 'two'),
      );
      own.get(workspace)?.add(mine);
      // Both want the same: one of them wins, the other one finds it taken or gone.
      const pool = await call('GET', 'organizations/acme/tags?q=wandering');
      const [wandering] = pool.json.data as Resource[];
      if (wandering !== undefined) {
        const attributes = { name: `wandering-${who}-${round}` };
        await call('PATCH', `tags/${wandering.id}`, { type: 'tags', attributes });
      }
      await call('PATCH', 'organizations/acme/tags/two', {
        type: 'tags',
        attributes: { name: 'one', merge: true },
      });
      if (round % 3 === 2) {
        const gone = `${who}-${round - 1}`;
        const { json } = await call('GET', `organizations/acme/tags/${gone}`);
        await call('DELETE', 'organizations/acme/tags', [{ type: 'tags', id: json.data.id }]);
        deleted.add(gone);
      }
      if (round < 5) await call('PATCH', `workspaces/${workspaces[0]}/tag-bindings`, bound({ [mine]: who }));
      const moved = [{ type: 'workspaces', id: chance.pick(workspaces) }];
      await call('POST', `projects/${chance.pick(projects)}/relationships/workspaces`, moved);
    }
  };
  await Promise.all([client('a', first.address), client('b', second.address)]);

  for (const address of [first.address, second.address]) {
    const call = at(address);
    const { json: list } = await call('GET', 'organizations/acme/workspaces?page[size]=100');
    const carried = (list.data as Resource[]).map(({ id, attributes }) => ({
      id,
      tags: attributes['tag-names'] as string[],
    }));
    const counted: Record<string, number> = {};
    for (const { tags } of carried) {
      expect(new Set(tags).size).toBe(tags.length);
      for (const tag of tags) counted[tag] = (counted[tag] ?? 0) + 1;
    }
    const { json: pool } = await call('GET', 'organizations/acme/tags?page[size]=100');
    const said = (pool.data as Resource[]).map(({ attributes }) => [
      attributes['name'],
      attributes['instance-count'],
    ]);
    expect(new Set(said.map(([name]) => name)).size).toBe(said.length);
    expect(Object.fromEntries(said.filter(([, count]) => count !== 0))).toEqual(counted);
    expect(said.filter(([name]) => String(name).startsWith('wandering'))).toHaveLength(1);
    for (const { id, tags } of carried) {
      const expected = [...(own.get(id) ?? [])].filter((tag) => !deleted.has(tag)).sort();
      expect(tags.filter((tag) => /^[ab]-/.test(tag))).toEqual(expected);
    }
    expect(said.filter(([name]) => deleted.has(String(name)))).toEqual([]);
    const { json: bindings } = await call('GET', `workspaces/${workspaces[0]}/tag-bindings`);
    const keys = (bindings.data as Resource[]).map(({ attributes }) => attributes['key']);
    expect(keys.sort()).toEqual(
      ['a', 'b'].flatMap((who) => [0, 1, 2, 3, 4].map((round) => `${who}-${round}`)),
    );
    const { json: held } = await call('GET', 'organizations/acme/projects');
    for (const { id, attributes } of held.data as Resource[]) {
      const inside = await call('GET', `organizations/acme/workspaces?filter[project][id]=${id}`);
      expect(attributes['workspace-count']).toBe(inside.json.meta.pagination['total-count']);
    }
  }
});
