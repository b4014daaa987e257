import { describe, expect, it } from 'vitest';
import { catalogue } from '../../src/operations/catalogue.ts';
import type { Runner } from '../../src/operations/declaration/operation.ts';
import { leaves } from './catalogue-leaves.ts';
import { DirectoryHere } from './directory-here.ts';
import { promptsDouble } from './streams.double.ts';

/** Operations whose question is about a change that another command reverts. */
const REVERSIBLE = ['tags reserved delete', 'auth cert delete-revocations'];

const commands = await Promise.all(
  leaves(catalogue)
    .filter(([, { command }]) => command)
    .map(async ([path, { load }]) => [path, (await load()).declaration] as const),
);
const asking = commands.filter(([, { cli }]) => cli?.confirm !== undefined);

/** Values of any operation. */
const values = new Proxy(
  {},
  { get: (_, name) => (name === 'data' ? ['x'] : name === 'auto_trim' ? true : 'x') },
);
const attributes = { name: 'x', 'tag-names': [], 'instance-count': 1 };
const data = { data: { id: 'x', attributes }, meta: { pagination: { 'total-count': 1 } } };
const runner = { run: async () => ({ data }) } as unknown as Runner;

describe('the question before a change that is for good', () => {
  it('is asked by every command that deletes, destroys or disables', () => {
    const named = commands.filter(([path]) =>
      / (?:delete|destroy|disable|trim)(?:-secret-id|-accessor|-revocations)?$/.test(path),
    );
    expect(named.length).toBeGreaterThan(15);
    expect(named.filter(([, { cli }]) => cli?.confirm === undefined).map(([path]) => path)).toEqual([]);
  });

  it.each(asking)('says so, or another command can revert it: %s', async (path, { cli }) => {
    const question = (await cli?.confirm?.(values, runner)) ?? '';
    const isForGood = /[Pp]ermanently|cannot be undone/.test(question);
    expect(isForGood, question).toBe(!REVERSIBLE.includes(path));
  });

  it.each([
    'token revoke nosuch',
    'token revoke cfr.nosuch',
    'token revoke-prefix auth/nosuch',
    'token roles delete nosuch',
    'policy delete nosuch',
    'auth disable nosuch',
    'auth userpass delete nosuch',
    'auth approle destroy-accessor deploy nosuch',
    'auth approle destroy-secret-id deploy --in secret',
    'mounts remove nosuch',
    'transit keys delete nosuch',
    'transit keys destroy nosuch 1',
    'tags delete nosuch --org acme',
    'workspaces delete nosuch --org acme',
    'orgs delete nosuch',
    'slots remove 0123456789abcdef',
  ])('is not asked about what does not exist: %s', async (line) => {
    const here = await DirectoryHere.withStore();
    await here.ok('orgs create acme');
    for (const setUp of ['auth enable userpass', 'auth enable approle', 'auth approle write deploy'])
      await here.ok(setUp);
    here.write('secret', 'nosuch');
    const prompts = promptsDouble([], true);
    const { exitCode } = await here.run(line, { prompts, terminals: ['in', 'err'] });
    expect([exitCode, prompts.asked]).toEqual([3, []]);
  });

  it('is asked about a token by its ID and by its accessor', async () => {
    const here = await DirectoryHere.withStore();
    for (const field of ['token', 'accessor']) {
      const id = await here.ok(`token create -field=${field}`);
      const prompts = promptsDouble([true]);
      await here.run(['token', 'revoke', id], { prompts, terminals: ['in', 'err'] });
      expect(prompts.asked).toEqual([expect.stringMatching(/^Revoke the token and all its child tokens\?/)]);
      expect(await here.refused(['token', 'revoke', id, '--yes'], 3)).toContain('nothing was revoked');
    }
  });

  it('is asked about a secret ID of the role by itself and by its accessor, and scripts need --yes', async () => {
    const here = await DirectoryHere.withStore();
    for (const role of ['auth enable approle', 'auth approle write deploy', 'auth approle write other'])
      await here.ok(role);
    const created = JSON.parse(await here.ok('auth approle secret-id deploy -o json'));
    here.write('secret', created.secret_id);
    const accessor = await here.ok('auth approle list-secret-ids deploy');
    for (const [command, rest] of [
      ['auth approle destroy-secret-id', '--in secret'],
      ['auth approle destroy-accessor', accessor],
    ]) {
      const prompts = promptsDouble([false]);
      await here.run(`${command} deploy ${rest}`, { prompts, terminals: ['in', 'err'] });
      expect(prompts.asked).toEqual(['Destroy the secret ID? This cannot be undone.']);
      expect(await here.refused(`${command} deploy ${rest}`, 2)).toContain('use --yes');
      expect(await here.refused(`${command} other ${rest}`, 3)).toContain('the role has no');
    }
    expect(await here.ok('auth approle list-secret-ids deploy')).toBe(accessor);
  });

  it('names the copy of tags that can be made before, of the same organization', async () => {
    const here = await DirectoryHere.withStore();
    await here.ok('orgs create acme');
    await here.ok('tags create red blue --org acme');
    await here.ok('workspaces create web --org acme');
    await here.ok('tags attach red --workspace web --org acme');
    here.write('tags.yaml', 'tags: [red]\nworkspaces:\n  web: []\n');
    const copy = 'This cannot be undone; keep a copy first with "coffer tags export --org acme".';
    for (const line of [
      'tags delete red --org acme',
      'tags prune --unused --org acme',
      'tags rename red blue --merge --org acme',
      'tags apply tags.yaml --org acme',
      'workspaces delete web --org acme',
      'orgs delete acme',
    ]) {
      const prompts = promptsDouble([false]);
      await here.run(line, { prompts });
      expect(prompts.asked, line).toEqual([expect.stringContaining(copy)]);
    }
    await here.ok('tags export --org acme --out copy.yaml');
    await here.ok('tags delete red --org acme --yes');
    await here.ok('tags import copy.yaml --org acme');
    expect(await here.ok('tags of web --org acme')).toBe('red');
  });

  it('names no copy where applying a file only adds tags', async () => {
    const here = await DirectoryHere.withStore({ COFFER_ORG: 'acme' });
    await here.ok('orgs create acme');
    here.write('tags.yaml', 'tags: [red]\n');
    const prompts = promptsDouble([false]);
    await here.run('tags apply tags.yaml', { prompts });
    expect(prompts.asked).toEqual(['Apply? 1 to add, 0 to change, 0 to remove.']);
  });

  it.each([
    ['tags restore red', 'coffer tags import FILE'],
    ['tags undelete red', 'coffer tags import FILE'],
    ['workspaces restore web', 'coffer tags import FILE'],
    ['orgs recover acme', 'coffer tags import FILE'],
    ['policy restore clerk', 'coffer store restore FILE'],
    ['token roles undelete ci', 'coffer store restore FILE'],
  ])('is answered as well where a command is missed that would revert it: %s', async (line, advice) => {
    const here = DirectoryHere.make();
    expect(await here.refused(line, 2)).toMatch(/what was deleted can only be restored /);
    expect(await here.refused(line, 2)).toContain(`"${advice}"`);
  });
});
