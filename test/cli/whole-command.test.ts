import { describe, expect, it } from 'vitest';
import { parseWithCommander } from '../../src/cli/parse/program.ts';
import { commandTree } from '../../src/cli/tree.ts';
import { streamsDouble } from './streams.double.ts';

const refusalOf = (line: string): Promise<unknown> =>
  parseWithCommander(line.split(' '), commandTree, streamsDouble()).catch((error: unknown) => error);

describe('words in another order', () => {
  it.each([
    ['store check b1', 'coffer store verify b1'],
    ['rm orders', 'coffer transit keys delete orders'],
    ['rm env:prod', 'coffer tags delete env:prod'],
    ['transit create key orders --type ed25519', 'coffer transit keys create orders --type ed25519'],
    ['transit create', 'coffer transit keys create'],
    ['transit keys orders create', 'coffer transit keys create orders'],
    ['auth cert roles write r', 'coffer auth cert write r'],
    ['auth approle role write r', 'coffer auth approle write r'],
    ['workspaces of env:prod', 'coffer workspaces list --where-tag env:prod'],
  ])('bring up the whole command: %s', async (line, meant) => {
    expect(await refusalOf(line)).toMatchObject({
      hint: expect.stringMatching(new RegExp(`^did you mean "${meant}"\\? see `)),
    });
  });

  it('bring up none if the second is no command either', async () => {
    expect(await refusalOf('transit keys orders nothing')).toMatchObject({
      hint: 'see "coffer transit keys --help"',
    });
  });

  it('include a backup given to doctor', async () => {
    expect(await refusalOf('doctor b1')).toMatchObject({
      hint: 'to check a backup, run "coffer store verify b1"; see "coffer doctor --help"',
    });
  });
});
