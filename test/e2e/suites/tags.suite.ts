import { describe, expect, it } from 'vitest';
import type { Suite } from './index.ts';

/** A server's 404 says no name, so that whoever may not see a thing learns nothing of it. */
const missing = (name: string): RegExp => new RegExp(`${name}|not found`);

interface Resource {
  readonly id: string;
  readonly type: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

export const tagsSuite: Suite = (here) => {
  const acme = (line: string | readonly string[], more: readonly string[] = []) =>
    here().ok([...(typeof line === 'string' ? line.split(' ') : line), ...more, '--org', 'acme']);
  const document = async (
    line: string,
  ): Promise<{ data: Resource[]; meta: { pagination: Record<string, number> } }> =>
    JSON.parse(await acme(line, ['-o', 'json']));
  const count = async (name: string): Promise<unknown> =>
    (await document('tags list --all')).data.find((tag) => tag.attributes['name'] === name)?.attributes[
      'instance-count'
    ];

  it('makes organizations, workspaces and tags', async () => {
    await here().ok('orgs create acme');
    expect((await here().ok('orgs list')).split('\n')).toContain('acme');
    await acme('workspaces create billing-prod');
    await acme('workspaces create billing-test');
    expect((await acme('workspaces list')).split('\n').sort()).toEqual(['billing-prod', 'billing-test']);
    await acme('tags create env:prod team:billing unused');
    expect((await acme('tags list')).split('\n').sort()).toEqual(['env:prod', 'team:billing', 'unused']);
  });

  it.each(['workspaces', 'projects'])('makes several %s at a time, as far as it goes', async (kind) => {
    const create = `${kind} create`;
    expect(await acme(`${create} several-1 several-2`)).toBe('several-1\nseveral-2');
    const { exitCode, stdout } = await here().run(`${create} several-3 several-1 several-4 --org acme`);
    expect([exitCode, stdout]).toEqual([6, 'several-3\n']);
    const { data } = await document(`${create} several-3 several-4 several-5 --if-missing`);
    expect(data.map(({ attributes }) => attributes['name'])).toEqual(['several-4', 'several-5']);
    expect(await acme(`${create} several-6 several-7 -o table`)).toMatch(/several-6[\s\S]*several-7/);
    await here().refused(`${create} --org acme`, 2);
    for (let index = 1; index <= 7; index++) await acme(`${kind} delete several-${index} --yes`);
  });

  it('prints the JSON:API document with -o json', async () => {
    const { data, meta } = await document('tags list');
    expect(data[0]).toMatchObject({
      id: expect.stringMatching(/^tag-[A-Za-z0-9]{16}$/),
      type: 'tags',
      attributes: {
        name: 'env:prod',
        'instance-count': 0,
        'created-at': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
      relationships: { organization: { data: { id: 'acme', type: 'organizations' } } },
    });
    expect(meta.pagination).toMatchObject({ 'current-page': 1, 'page-size': 20, 'total-count': 3 });
  });

  it('attaches and detaches by name or identifier, and counts once what is attached twice', async () => {
    await acme('tags attach team:billing --workspace billing-prod --workspace billing-test');
    await acme('tags attach team:billing --workspace billing-prod');
    expect(await count('team:billing')).toBe(2);
    const [tag] = (await document('tags list env:prod')).data;
    const [workspace] = (await document('workspaces list billing-prod')).data;
    await here().ok(['tags', 'attach', tag?.id ?? '', '--workspace', workspace?.id ?? '']);
    expect(await count('env:prod')).toBe(1);
    expect((await acme('tags of billing-prod')).split('\n').sort()).toEqual(['env:prod', 'team:billing']);
    await acme('tags detach team:billing --workspace billing-prod billing-test');
    expect(await count('team:billing')).toBe(0);
    expect(await acme('tags of billing-prod')).toBe('env:prod');
  });

  it('says how to create a tag that is to be attached and is in no pool', async () => {
    const attach = (org: string) =>
      here().refused(`tags attach nobody --workspace billing-prod --org ${org}`, 3);
    expect(await attach('acme')).toContain('create it first with "coffer tags create nobody --org acme"');
    expect(await attach('nowhere')).not.toContain('create it first');
    expect(await here().refused('tags detach nobody --workspace billing-prod --org acme', 3)).not.toContain(
      'create it first',
    );
  });

  it('finds tags by a part of their name, in pages, and without those of a workspace', async () => {
    expect(await acme('tags list nv:pr')).toBe('env:prod');
    expect(await acme('tags list nothing-like-it')).toBe('');
    expect((await acme('tags list --page-size 2')).split('\n')).toHaveLength(2);
    expect((await acme('tags list --page 2 --page-size 2')).split('\n')).toHaveLength(1);
    expect((await acme('tags list --all')).split('\n')).toHaveLength(3);
    const [workspace] = (await document('workspaces list billing-prod')).data;
    expect((await acme(`tags list --not-on ${workspace?.id}`)).split('\n')).not.toContain('env:prod');
  });

  it('gathers every page with --all', async () => {
    await here().ok('orgs create crowded');
    const names = Array.from({ length: 230 }, (_, index) => `t${String(index).padStart(3, '0')}`);
    await here().ok(['tags', 'create', ...names, '--org', 'crowded', '-q']);
    expect((await here().ok('tags list --all --org crowded')).split('\n')).toEqual(names);
    const { stdout, stderr } = await here().run('tags list --org crowded');
    expect(stdout.trimEnd().split('\n')).toEqual(names.slice(0, 20));
    expect(stderr).toBe('coffer: warning: showing 20 of 230 (use --all to list all)\n');
    expect(await here().run('tags list --org crowded --page 2')).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('deletes tags from the pool and off every workspace, all or none', async () => {
    expect(await here().refused('tags delete env:prod --org acme', 2)).toContain('--yes');
    expect(await here().refused('tags delete env:prod nowhere --yes --org acme', 3)).toMatch(
      missing('nowhere'),
    );
    expect(await count('env:prod')).toBe(1);
    expect(await acme('tags delete env:prod unused --yes')).toBe('');
    expect(await acme('tags list')).toBe('team:billing');
    expect(await acme('tags of billing-prod')).toBe('');
  });

  it('corrects the counts when a workspace is deleted', async () => {
    await acme('tags attach team:billing --workspace billing-prod billing-test');
    await acme('workspaces delete billing-test --yes');
    expect(await count('team:billing')).toBe(1);
  });

  it('deletes an organization with its pool', async () => {
    await here().ok('orgs delete crowded --yes');
    await here().refused('tags list --org crowded', 3);
    expect((await here().ok('orgs list')).split('\n')).toEqual(['acme']);
  });

  it('takes the organization from the environment', async () => {
    expect(await here().with({ COFFER_ORG: 'acme' }).ok('tags list')).toBe('team:billing');
    await here().ok('orgs create globex');
    expect(await here().refused('tags list', 2)).toContain('--org');
    await here().ok('orgs delete globex --yes');
  });

  describe('bad input', () => {
    it.each([
      ['an organization that there is not', 'tags list --org nowhere', 3, 'nowhere'],
      ['a tag that there is not', 'tags attach nowhere --workspace billing-prod --org acme', 3, 'nowhere'],
      [
        'a workspace that there is not',
        'tags attach team:billing --workspace nowhere --org acme',
        3,
        'nowhere',
      ],
      ['an identifier that there is not', 'tags of ws-AAAAAAAAAAAAAAAA --org acme', 3, 'ws-AAAAAAAAAAAAAAAA'],
      ['page 0', 'tags list --page 0 --org acme', 2, '--page'],
      ['a negative page', 'tags list --page -1 --org acme', 2, '--page'],
      ['an absurd page size', 'tags list --page-size 100000000000000000000 --org acme', 2, '--page-size'],
      ['an organization whose name is no name', 'orgs create ..', 2, '..'],
      ['a name that is taken', 'orgs create acme', 6, 'acme'],
      ['no tag at all', 'tags create --org acme', 2, 'NAME'],
      ['no workspace at all', 'tags attach team:billing --org acme', 2, '--workspace'],
    ])('refuses %s', async (_, line, exitCode, named) => {
      const said = await here().refused(line, exitCode);
      if (exitCode === 3) expect(said).toMatch(missing(named));
      else expect(said).toContain(named);
    });

    it('refuses empty, oversized and illegal tag names', async () => {
      for (const name of ['', 'x'.repeat(300), 'a\tb']) {
        await here().refused(['tags', 'create', name, '--org', 'acme'], 2);
      }
      expect(await acme('tags list')).toBe('team:billing');
    });
  });

  it('puts tags on keys, finds keys by them, and shows them beside those of workspaces', async () => {
    const place = here();
    await place.ok('orgs create keyed');
    const org = ['--org', 'keyed'];
    for (const name of ['tagged-a', 'tagged-b', 'untagged']) await place.ok(`transit keys create ${name}`);
    expect(await place.ok(['transit', 'keys', 'tag', 'tagged-a', 'env:prod', 'tier=1', ...org])).toBe('');
    expect(await place.ok(['tags', 'attach', 'env:prod', '--key', 'tagged-a', 'tagged-b', ...org])).toBe('');
    expect(await place.ok(['transit', 'keys', 'list', '--tag', 'env:prod', ...org])).toBe(
      'tagged-a\ntagged-b',
    );
    expect(await place.ok(['transit', 'keys', 'list', '--tag', 'env:prod', 'tier=1', ...org])).toBe(
      'tagged-a',
    );
    expect(await place.ok('tags of tagged-a -o raw')).toBe('env:prod\ntier=1');
    expect(await place.json(['tags', 'of', 'tagged-b', '--key'])).toEqual({
      organization: 'keyed',
      tags: ['env:prod'],
    });
    expect(await place.json('transit keys read tagged-a')).toMatchObject({ tags: ['env:prod', 'tier=1'] });
    await place.ok(['tags', 'delete', 'env:prod', '--yes', ...org]);
    expect(await place.ok('transit keys tags tagged-a -o raw')).toBe('tier=1');
    await place.refused(['tags', 'of', 'nobody', ...org], 3);
    await place.refused(['tags', 'attach', 'nobody', '--key', 'tagged-a', ...org], 3);
  });
};
