import { beforeEach, describe, expect, it } from 'vitest';
import { DirectoryHere } from './directory-here.ts';

describe('a tag and what is to have it, exchanged', () => {
  let here: DirectoryHere;

  beforeEach(async () => {
    here = await DirectoryHere.withStore({ COFFER_ORG: 'acme' });
    for (const line of [
      'orgs create acme',
      'workspaces create billing web',
      'transit keys create orders',
      'tags create env:prod blue',
    ])
      await here.ok(line);
  });

  it.each([
    [
      'tags attach billing --workspace env:prod',
      '"billing" is a workspace and "env:prod" a tag',
      'tags attach env:prod --workspace billing',
    ],
    [
      'tags attach billing web --workspace blue',
      '"billing", "web" are workspaces and "blue" a tag',
      'tags attach blue --workspace billing web',
    ],
    [
      'tags detach billing --workspace env:prod --org acme',
      '"billing" is a workspace and "env:prod" a tag',
      'tags detach env:prod --workspace billing --org acme',
    ],
    [
      'tags attach orders --key env:prod',
      '"orders" is a key and "env:prod" a tag',
      'tags attach env:prod --key orders',
    ],
    [
      'workspaces tag env:prod billing',
      '"billing" is a workspace and "env:prod" a tag',
      'workspaces tag billing env:prod',
    ],
    [
      'workspaces tag blue billing web',
      '"billing", "web" are workspaces and "blue" a tag',
      'tags attach blue --workspace billing web',
    ],
    ['transit keys tag blue orders', '"orders" is a key and "blue" a tag', 'transit keys tag orders blue'],
  ])('are named, with the command, which works: coffer %s', async (line, said, right) => {
    const result = await here.run(line);
    expect(result.err).toContain(`coffer: ${said} (run "coffer ${right}")`);
    expect(result.out).toBe('');
    expect(result.exitCode).not.toBe(0);
    await here.ok(right);
    expect((await here.run('tags list')).out.trim().split('\n').sort()).toEqual(['blue', 'env:prod']);
  });

  it('are said to be so by the colon that no name of a key has', async () => {
    expect((await here.run('transit keys tag env:prod orders')).err).toContain(
      '(the key comes first, then its tags: run "coffer transit keys tag orders env:prod")',
    );
    expect((await here.run('transit keys tag env:prod orders --org acme')).err).toContain(
      'run "coffer transit keys tag orders env:prod --org acme")',
    );
  });

  it('are not said to be exchanged if the first one is no workspace, or the second one no tag', async () => {
    for (const line of ['tags attach nothing --workspace env:prod', 'tags attach billing --workspace web'])
      expect((await here.run(line)).err).toContain('create it first with "coffer tags create');
  });
});
