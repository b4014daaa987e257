import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../src/ground/random.ts';
import { freshIdentity, recipientOfIdentity } from '../../src/transit/envelope/age/recipients.ts';
import { factsOf, git, type Person, pull, push, save, team } from './team-people.ts';

const only = ([person]: readonly Person[]): Person => {
  if (person === undefined) throw new RangeError('there is nobody');
  return person;
};
/** Runs the line that a command has printed after "To commit it:". */
function addAsPrinted(person: Person, printed: string): void {
  const [, line = ''] = /^To commit it: git (add .*)$/m.exec(printed) ?? [];
  expect(line).not.toBe('');
  expect(git(person, line)).toMatchObject({ exitCode: 0 });
}
const untracked = (person: Person): string => git(person, 'ls-files --others').stdout;
const names = async ({ place }: Person): Promise<readonly string[]> =>
  ((await place.json('team list')) as { members: { name: string }[] }).members.map(({ name }) => name);

describe('a commit of values from another branch', () => {
  it('is refused by the hook without the version of the key, which only the other branch has', async () => {
    const { alice } = await team();
    await alice.place.ok('secrets git-setup -q');
    save(alice);
    expect(git(alice, 'branch older')).toMatchObject({ exitCode: 0 });
    await alice.place.ok('team key rotate -q app --yes');
    await alice.place.ok('secrets rewrap -q app.env');
    save(alice);
    const newer = git(alice, 'rev-parse HEAD').stdout.trim();
    expect(git(alice, 'checkout -q older')).toMatchObject({ exitCode: 0 });
    expect(git(alice, ['checkout', newer, '--', 'app.env'])).toMatchObject({ exitCode: 0 });
    const refused = git(alice, ['commit', '-q', '-m', 'values']);
    expect(refused.exitCode).not.toBe(0);
    expect(refused.stderr).toContain(
      'app.env needs version 2 of key "app", which is not in .coffer (merge the branch that has it)',
    );
    expect(git(alice, ['checkout', newer, '--', '.coffer'])).toMatchObject({ exitCode: 0 });
    expect(git(alice, ['commit', '-q', '-m', 'values'])).toMatchObject({ exitCode: 0 });
  });
});

describe('a change of a keyring', () => {
  it('prints the git command after which a commit contains all of it, for each command that changes one', async () => {
    const { people, alice, others } = await team('bob');
    const erin = people.person('erin');
    for (const words of [
      ['team', 'add', 'erin', erin.key],
      ['team', 'key', 'add', 'mail'],
      ['team', 'key', 'rotate', 'mail'],
      ['team', 'remove', 'bob', '--yes'],
    ]) {
      const { stderr, exitCode } = await alice.place.run(words);
      expect(exitCode).toBe(0);
      addAsPrinted(alice, stderr);
      expect(git(alice, 'commit -q -m change')).toMatchObject({ exitCode: 0 });
      expect(git(alice, 'status --porcelain').stdout).toBe('');
    }
    push(alice);
    const bob = only(others);
    pull(bob);
    expect((await bob.place.run('secrets get app.env DB')).stderr).toMatch(
      /none of your keys opens version 2 of key "app" \(alice removed you from this keyring on \d{4}-\d\d-\d\d; ask an admin to add you again\)/,
    );
    expect(await names(alice)).toEqual(['alice', 'erin']);
  });

  it('is not lost where the commit is made with -a: the hook refuses the values, and names what is missing', async () => {
    const { alice, others } = await team('bob');
    const bob = only(others);
    await alice.place.ok('secrets git-setup -q');
    push(alice);
    await alice.place.ok('team remove -q bob --yes');
    const refused = git(alice, ['commit', '-q', '-am', 'bob left']);
    expect(refused.exitCode).not.toBe(0);
    expect(refused.stderr).toMatch(
      /app\.env needs version 2 of key "app", but \.coffer\/keys\/app\.v2\.\w{32} is not staged \(run "git add \.coffer"\)/,
    );
    // The version alone would leave out the removal that it follows.
    git(alice, 'add .coffer/keys');
    expect(git(alice, ['commit', '-q', '-am', 'bob left']).stderr).toMatch(
      /needs an earlier change, but \.coffer\/removals\/bob\.\w{32} is not staged/,
    );
    git(alice, 'add .coffer');
    expect(git(alice, ['commit', '-q', '-am', 'bob left'])).toMatchObject({ exitCode: 0 });
    push(alice);
    pull(bob);
    expect((await bob.place.run('secrets get app.env DB')).exitCode).toBe(4);
  });

  it('stops no commit that needs none of its files', async () => {
    const { people, alice } = await team();
    await alice.place.ok('secrets git-setup -q');
    push(alice);
    await alice.place.ok(['team', 'add', '-q', 'erin', people.person('erin').key]);
    writeFileSync(alice.place.file('notes.txt'), 'notes\n');
    git(alice, 'add notes.txt');
    expect(git(alice, 'commit -q -m notes')).toMatchObject({ exitCode: 0 });
    await alice.place.ok(['secrets', 'set', '-q', 'app.env', 'DB', 'newer']);
    expect(git(alice, ['commit', '-q', '-am', 'newer'])).toMatchObject({ exitCode: 0 });
    expect(untracked(alice)).toMatch(/^\.coffer\/members\/erin\./);
  });

  it('is reported by a check until git tracks it, and where values were committed without it', async () => {
    const { alice, others } = await team('bob');
    const bob = only(others);
    expect(await alice.place.run('team check')).toMatchObject({ exitCode: 0, stdout: '' });
    await alice.place.ok('team key rotate -q app');
    await alice.place.ok('secrets rewrap -q app.env');
    const found = await alice.place.run('team check');
    expect(found.exitCode).toBe(1);
    expect(found.stdout).toMatch(
      /^\.coffer\/keys\/app\.v2\.\w{32} is not in git \(run "git add \.coffer"\)\n$/,
    );
    git(alice, ['commit', '-q', '-am', 'rotated']);
    git(alice, 'push -q origin HEAD:main');
    pull(bob);
    expect(await bob.place.run('team check')).toMatchObject({
      exitCode: 1,
      stdout: 'app.env: DB is encrypted with app v2, which this keyring does not have\n',
    });
    expect((await bob.place.run('secrets get app.env DB')).stderr).toContain(
      'the author of the file may have left out new files of .coffer: ask for "git add .coffer" and a commit',
    );
    push(alice);
    pull(bob);
    expect(await bob.place.run('team check')).toMatchObject({ exitCode: 0, stdout: '' });
    expect(await bob.place.ok('secrets get app.env DB')).toBe('s3cret');
  });

  it('is printed with the paths from the working directory', async () => {
    const { alice } = await team();
    const { stderr } = await alice.place.shell('mkdir -p deep && cd deep && coffer team key rotate app');
    expect(stderr).toContain('To commit it: git add ../.coffer\n');
  });
});

describe('a new member', () => {
  it('is added with the file of a public key, and not twice with the same key', async () => {
    const { people, alice } = await team();
    const erin = people.person('erin');
    writeFileSync(alice.place.file('erin.pub'), readFileSync(join(erin.home, '.ssh', 'id_ed25519.pub')));
    await alice.place.ok('team add -q erin erin.pub');
    const before = factsOf(alice);
    expect((await alice.place.run('team add erin @erin.pub --yes')).stderr).toContain(
      'erin already has this key',
    );
    expect(factsOf(alice)).toEqual(before);
    // The same key in another role is another card.
    await alice.place.ok('team add -q erin erin.pub --admin --yes');
    expect((await alice.place.run('team add frank missing.pub')).stderr).toContain(
      'missing.pub is neither a file nor a public key',
    );
  });

  it('is added with the key that is typed, even if a file is named like it, or with a file whose name has spaces', async () => {
    const { people, alice } = await team();
    const typed = recipientOfIdentity(freshIdentity(systemRandom));
    writeFileSync(alice.place.file(typed), people.person('eve').key);
    writeFileSync(alice.place.file('ssh-keys of ours'), people.person('erin').key);
    await alice.place.ok(['team', 'add', '-q', 'dora', typed]);
    await alice.place.ok(['team', 'add', '-q', 'erin', 'ssh-keys of ours']);
    const { members } = (await alice.place.json('team list')) as {
      members: { name: string; keys: string[] }[];
    };
    expect(members.find(({ name }) => name === 'dora')?.keys).toEqual([typed]);
    expect(members.find(({ name }) => name === 'erin')?.keys[0]).toMatch(/^ssh-ed25519 /);
  });

  it('with two keys keeps the one that an ID does not name, and an ID must name one', async () => {
    const { people, alice } = await team();
    const ids: string[] = [];
    for (const { key } of [people.person('erin'), people.person('other')]) {
      const added = (await alice.place.json(['team', 'add', 'erin', key, '--yes'])) as { id: string };
      ids.push(added.id);
    }
    // Dashes are left out, so that all IDs begin with this one.
    expect(await alice.place.refused('team remove erin --yes --card=-', 2)).toContain(
      'the IDs of 2 keys of erin begin with',
    );
    await alice.place.ok(['team', 'remove', '-q', 'erin', '--yes', '--card', ids[0] ?? '']);
    expect(await names(alice)).toEqual(['alice', 'erin']);
  });

  it('can be told the ID for "coffer team trust" again', async () => {
    const { people, alice } = await team();
    const erin = people.person('erin');
    const added = (await alice.place.json(['team', 'add', 'erin', erin.key])) as { trust: string };
    push(alice);
    pull(erin);
    const { stderr } = await alice.place.run('team');
    expect(stderr).toContain(`To trust this keyring elsewhere: coffer team trust ${added.trust}\n`);
    expect(await erin.place.refused(['team', 'trust', added.trust.replace(/^..../, '0000')], 4)).toMatch(
      /no keyring with the ID 0000\w{4}… in this clone \(check the ID with a colleague; if it is right, run "git pull" and try again\)/,
    );
    const { stderr: told } = await erin.place.run(['team', 'trust', added.trust]);
    expect(told).toContain('Members: alice (admin), erin.');
    // Her machine does not know whom alice adds later, and vouches for nobody it does not know.
    await alice.place.ok(['team', 'add', '-q', 'frank', people.person('frank').key]);
    push(alice);
    pull(erin);
    expect((await erin.place.run('team')).stderr).not.toContain('coffer team trust');
  });
});
