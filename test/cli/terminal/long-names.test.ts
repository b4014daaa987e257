import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { DirectoryHere } from '../directory-here.ts';

const LONG = 'the-key-of-the-payments-team-in-eu-west';
const LONGER = `${LONG}-and-in-all-other-regions`;

async function withNames(...names: readonly string[]): Promise<DirectoryHere> {
  const here = await DirectoryHere.withStore({ COFFER_ORG: 'acme' });
  await here.ok('orgs create acme');
  for (const name of names) {
    await here.ok(`transit keys create ${name} --type chacha20-poly1305`);
    await here.ok(`tags create ${name}`);
    await here.ok(`workspaces create ${name}`);
    if (name.length <= 40) await here.ok(`projects create ${name}`);
    await here.ok(`mounts add ${name}`);
  }
  return here;
}

const LISTS = ['transit keys list', 'tags list', 'workspaces list', 'projects list', 'mounts list'];

async function shown(here: DirectoryHere, line: string, columns: number): Promise<string[]> {
  const { out } = await here.run(line, { terminals: ['out', 'err'], columns });
  return stripVTControlCharacters(out).trimEnd().split('\n');
}

describe('a long name in a list', () => {
  it.each(LISTS)('can be copied from a terminal of any width; lesser columns give way: %s', async (list) => {
    const here = await withNames(LONG);
    for (const columns of [60, 70, 80, 110]) {
      const lines = await shown(here, list, columns);
      expect(lines.join('\n')).toContain(LONG);
      expect(
        lines.filter(({ length }) => length > columns),
        `${list} at ${columns}`,
      ).toEqual([]);
    }
  });

  it('that is wider than the terminal stands on a line of its own, without a frame to be copied with it', async () => {
    const here = await withNames(LONGER);
    for (const list of LISTS.slice(0, 2)) expect(await shown(here, list, 60)).toContain(LONGER);
    expect((await shown(here, LISTS[0] ?? '', 60))[0]).toBe('Name');
  });

  it('takes the place of the latest version before that of the type', async () => {
    const here = await withNames(LONG.slice(0, 34));
    const head = (await shown(here, 'transit keys list', 60))[1]?.split('│').map((title) => title.trim());
    expect(head?.filter((title) => title !== '')).toEqual(['Name', 'Type']);
  });
});
