import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isGroup, type Node } from '../../../src/cli/command.ts';
import { commandTree } from '../../../src/cli/tree.ts';
import { DirectoryHere } from '../directory-here.ts';

/** Returns the words of the commands below a node that take a file, and then the name of a value in it. */
async function takingFileAndName(node: Node, path: readonly string[] = []): Promise<readonly string[]> {
  if (isGroup(node)) {
    const children = Object.entries(node.children);
    return (
      await Promise.all(children.map(([word, child]) => takingFileAndName(child, [...path, word])))
    ).flat();
  }
  const {
    arguments: [file, name],
  } = await node.load();
  return file?.metavar === 'FILE' && name?.offers === 'value' ? [path.join(' ')] : [];
}

const COMMANDS = await takingFileAndName(commandTree);

describe('the name of a value in the place of the file', () => {
  it('is looked for in every command that takes both', () => {
    expect(COMMANDS).toEqual(['secrets get', 'secrets set', 'secrets unset']);
  });

  it.each(COMMANDS)('is answered with the command that works: %s', async (command) => {
    const here = await DirectoryHere.withStore();
    here.write('app.env', 'DB_PASSWORD=old\n');
    here.write('c.yaml', 'db:\n  password: old\n');
    for (const [file, name] of [
      ['app.env', 'DB_PASSWORD'],
      ['c.yaml', 'db.password'],
    ]) {
      const line = `coffer ${command} ${file} ${name}`;
      expect(await here.refused(`${command} ${name} ${file}`, 2)).toBe(
        `coffer: FILE: no file ${name}: the file comes first, then the name of the value (run "${line}")`,
      );
      expect((await here.run(`${line.slice(7)}`, { input: 'new' })).err).not.toContain('FILE');
      expect(existsSync(here.file(name ?? ''))).toBe(false);
    }
  });

  it('is recognized by its spelling, without a file and without repeating the value', async () => {
    const here = await DirectoryHere.withStore();
    const said = (file: string) =>
      `coffer: FILE: no file DB_PASSWORD: the file comes first, then the name of the value (run "coffer secrets set ${file} DB_PASSWORD")`;
    expect(await here.refused('secrets set DB_PASSWORD hunter2', 2)).toBe(said('FILE'));
    here.write('.env', 'A=1\n');
    expect(await here.refused('secrets set DB_PASSWORD hunter2', 2)).toBe(said('.env'));
    expect(await here.refused('secrets set DB_PASSWORD -', 2, { input: 'hunter2' })).toBe(said('.env'));
    expect(await here.refused('secrets get missing.env DB_PASSWORD', 2)).toContain('cannot read missing.env');
    expect(await here.refused('secrets set notes x', 2)).toContain('cannot tell the format of notes');
  });

  it('after the file decrypts nothing on the disk, and is answered with the command that prints the value', async () => {
    const here = await DirectoryHere.withStore();
    here.write('app.env', 'DB_PASSWORD=old\n');
    here.write('c.yaml', 'db:\n  password: old\n');
    for (const [file, name] of [
      ['app.env', 'DB_PASSWORD'],
      ['c.yaml', 'db.password'],
    ] as const) {
      await here.ok(`secrets encrypt ${file} --key app`);
      const encrypted = here.read(file);
      const command = `coffer secrets get ${file} ${name}`;
      expect(await here.refused(`secrets decrypt ${file} ${name}`, 2)).toBe(
        `coffer: FILE: no file ${name}; ${name} is the name of a value in ${file} (to print one value, run "${command}")`,
      );
      expect(here.read(file)).toBe(encrypted);
      expect(await here.ok(command.slice(7))).toBe('old');
    }
  });

  it('creates a file with such a name if its format is given', async () => {
    const here = await DirectoryHere.withStore();
    await here.ok('secrets set SECRETS A --format dotenv --key app', { input: 'x' });
    expect(here.read('SECRETS')).toContain('A=');
  });
});
