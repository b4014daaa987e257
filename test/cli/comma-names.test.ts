import { beforeEach, describe, expect, it } from 'vitest';
import { DirectoryHere } from './directory-here.ts';

describe('names that are joined by commas', () => {
  let here: DirectoryHere;

  beforeEach(async () => {
    here = await DirectoryHere.withStore({ COFFER_ORG: 'acme' });
    await here.ok('orgs create acme');
    await here.ok('workspaces create billing');
    await here.ok('tags create env:prod');
  });

  it.each([
    [
      'tags attach a,b --workspace billing',
      3,
      'separate several tags with spaces: "coffer tags attach a b --workspace billing"',
    ],
    ['tags create a,b', 2, 'with spaces: "coffer tags create a b"'],
    ['tags delete a,b', 3, 'with spaces: "coffer tags delete a b"'],
    [
      'tags attach env:prod --workspace billing,web --yes',
      3,
      'separate several workspaces with spaces: "coffer tags attach env:prod --workspace billing web"',
    ],
    [
      'transit keys rotate app,pay',
      2,
      'separate several keys with spaces: "coffer transit keys rotate app pay"',
    ],
    ['transit keys create x,y --type ed25519', 2, '"coffer transit keys create x y --type ed25519"'],
    ['workspaces create q,r', 2, 'with spaces: "coffer workspaces create q r"'],
    ['workspaces tag billing x,y', 2, 'with spaces: "coffer workspaces tag billing x y"'],
  ])('bring up the command that separates them: coffer %s', async (line, exitCode, hint) => {
    const result = await here.run(line);
    expect(result.err).toContain(hint);
    expect(result).toMatchObject({ exitCode, out: '' });
  });

  it('are one name where a command takes one, or where a comma may be in it', async () => {
    expect((await here.run('transit keys read app,pay')).err).not.toContain('spaces');
    expect((await here.run('secrets encrypt a,b.env --key app')).err).not.toContain('spaces');
  });
});
