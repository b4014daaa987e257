import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sharing } from '../../src/cli/topics/registry.ts';
import { MASTER_KEY } from './harness.ts';
import { People, type Person, pull, push } from './team-people.ts';

/** The commands of the topic, those of each block. */
const [moving = [], adding = [], using = []] = sharing.parts
  .flatMap(({ blocks }) => blocks)
  .flatMap((block) => (typeof block === 'object' && 'lines' in block ? [block.lines] : []));

/** Types each line of a block, which must succeed. @returns all that was printed */
async function typed({ place }: Person, lines: readonly string[]): Promise<string> {
  let printed = '';
  for (const line of lines) {
    const { exitCode, stdout, stderr } = await place.shell(line);
    expect(`${exitCode} ${stderr}`).toMatch(/^0/);
    printed += stdout + stderr;
  }
  return printed;
}

/** Someone with a store, and a file in a repository that is encrypted with it. */
async function author(): Promise<{ people: People; alice: Person }> {
  const people = new People();
  const person = people.person('alice');
  const alice = { ...person, place: person.place.with({ COFFER_MASTER_KEY: MASTER_KEY }) };
  await alice.place.ok('init');
  await alice.place.ok('transit keys create app');
  writeFileSync(alice.place.file('.coffer.yaml'), 'rules:\n  - files: .env\n    key: app\n');
  writeFileSync(alice.place.file('.env'), 'DB=s3cret\nMAIL=m1\n');
  await alice.place.ok('secrets encrypt -q .env');
  push(alice);
  return { people, alice };
}

describe('values of an own store', () => {
  it('become values that a colleague decrypts, by the commands of "coffer help sharing"', async () => {
    const { people, alice } = await author();
    const bob = people.person('bob');
    expect(await bob.place.refused('secrets get .env DB', 3)).toContain('"coffer help sharing"');
    const sealed = readFileSync(alice.place.file('.env'), 'utf8');
    await typed(alice, moving);
    expect(readFileSync(alice.place.file('.env'), 'utf8')).toMatch(/^DB=coffer:app:v1:/);
    expect(readFileSync(alice.place.file('.env'), 'utf8')).not.toBe(sealed);
    writeFileSync(alice.place.file('bob.pub'), bob.key);
    const [, id = ''] = /coffer team trust (\S+)/.exec(await typed(alice, adding)) ?? [];
    const own = using.map((line) =>
      line.replace('trust ID', `trust ${id}`).replace('npm start', 'printenv DB'),
    );
    expect(await typed(bob, own)).toContain('s3cret\n');
  });

  it('that were not decrypted before "team init" are decrypted by the command that the first error names', async () => {
    const { alice } = await author();
    await alice.place.ok('team init -q');
    const { stderr: refusal, exitCode } = await alice.place.run('secrets decrypt .env');
    expect(exitCode).toBe(4);
    const [command = '', ...more] = [...refusal.matchAll(/run "(coffer secrets decrypt [^"]+)"/g)].map(
      ([, said = '']) => said,
    );
    expect(more).toEqual([]);
    await typed(alice, [command, ...moving.slice(2)]);
    expect(await alice.place.ok('secrets get .env MAIL')).toBe('m1');
    expect(pull(alice).exitCode).toBe(0);
  });

  it('that a keyring has taken the place of are named by a check, with the command that moves them', async () => {
    const { alice } = await author();
    await alice.place.ok('transit keys create other');
    writeFileSync(alice.place.file('other.env'), 'A=1\n');
    await alice.place.ok('secrets encrypt -q other.env --key other');
    appendFileSync(alice.place.file('.coffer.yaml'), '  - files: other.env\n    key: other\n');
    await alice.place.ok('team init -q');
    push(alice);
    const found = await alice.place.run('team check');
    expect(found.exitCode).toBe(1);
    const store =
      'encrypted with another keyring or store (if your store encrypted the value before "coffer team init", run';
    expect(found.stdout.split('\n')).toEqual([
      expect.stringContaining(`.env: this keyring cannot decrypt DB, MAIL: modified, moved, or ${store}`),
      expect.stringContaining(`other.env: this keyring cannot decrypt A: modified, moved, or ${store}`),
      '',
    ]);
    for (const [, said = ''] of found.stdout.matchAll(/run "(coffer secrets decrypt [^"]+)"/g))
      await typed(alice, [said]);
    await typed(alice, ['coffer team key add other', 'coffer secrets encrypt .env other.env']);
    push(alice);
    expect(await alice.place.run('team check')).toMatchObject({ exitCode: 0, stdout: '' });
  });

  it('are named to the author who adds a colleague or encrypts more, and the command that is named moves them', async () => {
    const { people, alice } = await author();
    const bob = people.person('bob');
    await alice.place.ok('transit keys create other');
    writeFileSync(alice.place.file('other.env'), 'A=1\n');
    await alice.place.ok('secrets encrypt -q other.env --key other');
    appendFileSync(alice.place.file('.coffer.yaml'), '  - files: other.env\n    key: app\n');
    await alice.place.ok('team init -q');
    writeFileSync(alice.place.file('bob.pub'), bob.key);
    const added = await alice.place.run('team add bob bob.pub');
    expect(added.exitCode).toBe(0);
    expect(added.stderr).toContain(
      'coffer: warning: some values here were not encrypted with the keyring, and bob cannot decrypt these (run "coffer team check" to list them)\n',
    );
    const lacking =
      'other.env: other members cannot decrypt A: encrypted with a key that the keyring does not';
    const same = await alice.place.run('secrets encrypt other.env');
    expect(same).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(lacking) });
    const [, moving = ''] = /run "(coffer secrets decrypt [^"]+)"/.exec(same.stderr) ?? [];
    writeFileSync(alice.place.file('copy.env'), readFileSync(alice.place.file('other.env')));
    await typed(alice, [moving.replace('other.env', 'copy.env')]);
    expect(readFileSync(alice.place.file('copy.env'), 'utf8')).toBe('A=1\n');
    appendFileSync(alice.place.file('other.env'), 'B=2\n');
    const mixed = await alice.place.run('secrets encrypt other.env');
    expect(mixed).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(lacking) });
    const [, again = ''] = /run "(coffer secrets set [^"]+)"/.exec(mixed.stderr) ?? [];
    await typed(alice, [`printf 1 | ${again}`]);
    expect(await alice.place.ok('secrets decrypt other.env --stdout')).toBe('A=1\nB=2');
  });

  it('are not suspected where the keyring decrypts all, by "team add" and "secrets encrypt"', async () => {
    const { people, alice } = await author();
    await typed(alice, moving);
    writeFileSync(alice.place.file('bob.pub'), people.person('bob').key);
    expect((await alice.place.run('team add bob bob.pub')).stderr).not.toContain('cannot decrypt');
    expect((await alice.place.run('secrets encrypt .env')).stderr).not.toContain('warning');
  });
});
