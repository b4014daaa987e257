import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { MASTER_KEY } from './harness.ts';
import { People, type Person, pull, push, team } from './team-people.ts';
import { canUseTerminals, onTerminal } from './terminal.ts';

/** Somebody with a repository whose values are encrypted with a key of an own store, in its second version. */
async function withStore(people: People, key = 'app'): Promise<Person> {
  const person = people.person('alice');
  const alice = { ...person, place: person.place.with({ COFFER_MASTER_KEY: MASTER_KEY }) };
  await alice.place.ok('init -q');
  await alice.place.ok(`transit keys create ${key}`);
  await alice.place.ok(`transit keys rotate ${key}`);
  writeFileSync(alice.place.file('.coffer.yaml'), `rules:\n  - files: "*.env"\n    key: ${key}\n`);
  for (const name of ['a.env', 'my own.env']) {
    writeFileSync(alice.place.file(name), 'DB=s3cret\n');
    await alice.place.ok(['secrets', 'encrypt', '-q', name]);
  }
  push(alice);
  return alice;
}

const storeOf = ({ home }: Person): string => `${home}/.local/share/coffer`;

describe('"coffer team init" in a repository with values of a store', () => {
  it.each(['app', 'other'])('prints a line that moves the values of key %s to the keyring', async (key) => {
    const alice = await withStore(new People(), key);
    const { stderr } = await alice.place.run('team init');
    const added = key === 'app' ? '' : 'coffer team key add other && ';
    const line =
      `coffer secrets decrypt a.env 'my own.env' --store ${storeOf(alice)} && ` +
      `${added}coffer secrets encrypt a.env 'my own.env'`;
    expect(stderr).toContain(
      `a.env 'my own.env' are encrypted with a key of your store, which the keyring does not have. To encrypt them with the keyring: ${line}\n`,
    );
    expect(await alice.place.shell(line)).toMatchObject({ exitCode: 0 });
    expect(readFileSync(alice.place.file('a.env'), 'utf8')).toMatch(new RegExp(`^DB=coffer:${key}:v1:`));
    expect(await alice.place.ok(['secrets', 'get', 'my own.env', 'DB'])).toBe('s3cret');
  });

  it('says so when such a value is used, before anything about commits and branches', async () => {
    const alice = await withStore(new People());
    await alice.place.ok('team init -q');
    const move = `(if your store encrypted the value before "coffer team init", run "coffer secrets decrypt a.env --store ${storeOf(alice)}", then "coffer secrets encrypt a.env"; otherwise, the author of the file may have left out`;
    expect(await alice.place.refused('secrets get a.env DB', 3)).toContain(
      `no version 2 of key "app" ${move}`,
    );
  });

  it('names no store that is not there', async () => {
    const people = new People();
    await withStore(people);
    const bob = people.person('bob');
    expect((await bob.place.run('team init')).stderr).toContain(
      'are encrypted with a key of a store that is not on this machine, not with a key of the keyring: see "coffer help sharing".',
    );
    expect(await bob.place.refused('secrets get a.env DB', 3)).toContain(
      'no version 2 of key "app" (the author of the file may have left out',
    );
  });

  it('says nothing of files without encrypted values, of rules that name a mount, and with broken rules', async () => {
    const alice = await withStore(new People());
    for (const rules of ['rules:\n  - files: "*.env"\n    key: app\n    mount: own\n', 'rules: 1\n']) {
      writeFileSync(alice.place.file('.coffer.yaml'), rules);
      const { stderr, exitCode } = await alice.place.run('team init');
      expect(exitCode).toBe(0);
      expect(stderr).not.toContain('encrypted with');
      rmSync(alice.place.file('.coffer'), { recursive: true });
      rmSync(`${alice.home}/state`, { recursive: true });
    }
    expect((await alice.place.run('team init')).exitCode).toBe(0);
  });

  it('is refused for a folder with values of an outer keyring, which it would replace for them', async () => {
    const { alice } = await team();
    const write = async (): Promise<string> => alice.place.ok('secrets set -q production/p.env DB s3cret');
    await alice.place.shell('mkdir production');
    await write();
    const refusal = await alice.place.refused('team init production', 1);
    expect(refusal).toContain('production/p.env: encrypted with the keyring of a parent directory');
    const [, first = '', , last = ''] = /run "([^"]+)" first, (and) "([^"]+)" after/.exec(refusal) ?? [];
    const rule =
      'rules:\n  - files: "production/*.env"\n    key: production\n  - files: "*.env"\n    key: app\n';
    await alice.place.ok(first.replace('coffer ', ''));
    writeFileSync(alice.place.file('.coffer.yaml'), rule);
    await alice.place.ok('team init -q production');
    await alice.place.ok([...last.replace('coffer ', '').split(' '), '--yes']);
    expect(await alice.place.ok('secrets get production/p.env DB')).toBe('s3cret');
  });
});

describe('a user without a store, in a clone of values that others encrypted', () => {
  it('is sent to their author instead of being told to create a store or a keyring', async () => {
    const people = new People();
    await withStore(people);
    const bob = people.person('bob');
    const author =
      '(a.env has a value that is encrypted with a key of a store: if you encrypted the value, select your store with --store or COFFER_STORE, or ' +
      'restore its backup with "coffer store restore FILE"; if not, ask the author for access: "coffer help sharing")';
    for (const line of ['status', 'team', 'team check'])
      expect(await bob.place.refused(line, 3), line).toContain(author);
  });

  it('is told by status and by help how members join, if there is a keyring', async () => {
    const { people, alice } = await team();
    const bob = people.person('bob');
    const needsNone = 'the keyring of this repository needs no store: run "coffer team';
    expect(await bob.place.refused('status', 3)).toContain(
      `${needsNone} trust ID", with the ID that a colleague tells you`,
    );
    expect(await alice.place.refused('status', 3)).toContain(`${needsNone}" to show it`);
    const help = (await bob.place.ok('team --help')).replaceAll(/\s+/g, ' ');
    for (const step of [
      'To join: send an admin your public key',
      '"coffer team add NAME KEY"',
      '"coffer team trust ID"',
    ])
      expect(help).toContain(step);
    pull(bob);
  });

  it.skipIf(!canUseTerminals)(
    'has the line that moves values on a line of its own on a terminal',
    async () => {
      const alice = await withStore(new People());
      const { text } = onTerminal(alice.place, 'coffer team init', { columns: 120 });
      expect(text).toContain(`\n    coffer secrets decrypt a.env 'my own.env' --store ${storeOf(alice)} && `);
    },
  );
});
