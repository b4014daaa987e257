import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Place } from './harness.ts';
import {
  fact,
  factsOf,
  git,
  idOf,
  type People,
  type Person,
  pull,
  push,
  save,
  team,
  withRemovalOfNoEffect,
} from './team-people.ts';
import { membersOf, read, value, writes } from './team-questions.ts';

/* Ways in which git and its hosts bring branches together; others are in team.test.ts. */

/** Alice has rotated the key and added Bob on a branch, Carol has added Erin on another. */
async function twoBranches() {
  const { people, alice, others } = await team('carol');
  const [carol] = others as [Person];
  const [bob, erin] = [people.person('bob'), people.person('erin')];
  await alice.place.ok(['team', 'add', '-q', 'bob', bob.key]);
  await alice.place.ok('team key rotate -q app');
  push(alice);
  await carol.place.ok(['team', 'add', '-q', 'erin', erin.key]);
  save(carol);
  git(carol, 'fetch -q');
  return { people, alice, carol };
}
/** Merges as hosts do, in a bare repository: without drivers and a working tree. */
function mergeOnHost({ directory, remote }: People, onto: string, from: string): void {
  const host = { place: new Place(remote, { ...process.env, HOME: directory }) } as Person;
  const tree = git(host, ['merge-tree', '--write-tree', onto, from]);
  done(tree);
  const names = ['-c', 'user.name=host', '-c', 'user.email=host@example.org'];
  const words = ['commit-tree', tree.stdout.trim(), '-p', onto, '-p', from, '-m', 'merged'];
  const commit = git(host, [...names, ...words]);
  done(git(host, ['update-ref', 'refs/heads/main', commit.stdout.trim()]));
}
const ALL = ['alice', 'bob', 'carol', 'erin'];
const done = (answer: { exitCode: number | null; stdout: string; stderr: string }): void =>
  expect(answer, answer.stdout + answer.stderr).toMatchObject({ exitCode: 0 });

describe('the facts of two branches', () => {
  it.each([
    ['a rebase', [['rebase', '-q', 'origin/main']]],
    [
      'a squash',
      [
        ['checkout', '-q', '-b', 'side'],
        ['checkout', '-q', '-B', 'main', 'origin/main'],
        ['merge', '-q', '--squash', 'side'],
        ['commit', '-q', '-m', 'all of it'],
      ],
    ],
    [
      'cherry-picks',
      [
        ['checkout', '-q', '-b', 'side'],
        ['checkout', '-q', '-B', 'main', 'origin/main'],
        ['cherry-pick', 'side'],
      ],
    ],
    [
      'a merge of three',
      [
        ['branch', 'third', 'HEAD~1'],
        ['merge', '-q', '--no-edit', 'origin/main', 'third'],
      ],
    ],
  ])('are all there and open after %s', async (_, commands) => {
    const { alice, carol } = await twoBranches();
    for (const words of commands) done(git(carol, words));
    expect(await membersOf(carol)).toEqual(ALL);
    await writes(carol, 'newer');
    push(carol);
    pull(alice);
    expect(await value(alice)).toBe('newer');
  });

  it('are all there and open where a host has merged them, without drivers and a working tree', async () => {
    const { people, alice, carol } = await twoBranches();
    git(carol, 'push -q origin HEAD:refs/heads/carols');
    mergeOnHost(people, 'main', 'carols');
    pull(alice);
    expect(await membersOf(alice)).toEqual(ALL);
    await writes(alice, 'newer');
  });

  it('are read in clones that are shallow, or whose git changes line ends', async () => {
    const { people, alice } = await twoBranches();
    const first = idOf(fact(alice, 'store.'));
    const machine = people.freshMachine(alice, 'alice-2');
    for (const [name, words] of [
      ['shallow', ['--depth', '1']],
      ['crlf', ['-c', 'core.autocrlf=true']],
    ] as const) {
      const folder = join(machine.home, name);
      done(git(machine, ['clone', '-q', ...words, `file://${people.remote}`, folder]));
      const place = new Place(folder, machine.place.environment());
      const trusted = await place.run(['team', 'trust', first]);
      expect(trusted).toMatchObject({ exitCode: 0 });
      if (name === 'shallow')
        expect(trusted.stderr).toContain('This clone does not have the whole git history');
      expect(await place.ok('secrets get -q app.env DB')).toBe('s3cret');
      await place.ok(['secrets', 'set', '-q', 'app.env', 'DB', 'x']);
    }
    // Facts are kept as they are, and read as well where something has changed their line ends.
    for (const path of factsOf(machine))
      expect(readFileSync(join(machine.home, 'crlf', '.coffer', path), 'utf8')).not.toContain('\r');
  });

  it('are all there and open after they were put aside without a commit, and taken back onto newer ones', async () => {
    const { alice, carol } = await twoBranches();
    git(carol, 'reset -q --soft HEAD~1');
    git(carol, 'reset -q');
    done(git(carol, 'stash -q -u'));
    done(git(carol, 'merge -q --ff-only origin/main'));
    done(git(carol, 'stash pop -q'));
    expect(await membersOf(carol)).toEqual(ALL);
    await writes(carol, 'newer');
    push(carol);
    pull(alice);
    expect(await value(alice)).toBe('newer');
  });

  it('open in another working tree of the clone, which trusts nothing anew and changes one branch only', async () => {
    const { carol } = await twoBranches();
    const folder = join(carol.home, 'worktree');
    done(git(carol, ['worktree', 'add', '-q', '-b', 'side', folder, 'origin/main']));
    const beside = { ...carol, place: new Place(folder, carol.place.environment()) };
    expect(await membersOf(beside)).toEqual(['alice', 'bob', 'carol']);
    expect(await value(beside)).toBe('s3cret');
    await writes(beside, 'newer');
    save(beside);
    expect(await membersOf(carol)).toEqual(['alice', 'carol', 'erin']);
    done(git(carol, 'merge -q --no-edit side'));
    expect(await membersOf(carol)).toEqual(ALL);
    expect(await value(carol)).toBe('newer');
  });

  it('open for somebody who was away for five removals, in one step, and are encrypted for the rest alone', async () => {
    const names = ['erin', 'frank', 'grace', 'heidi', 'ivan'];
    const { people, alice, others } = await team('carol');
    const [carol] = others as [Person];
    for (const name of names) await alice.place.ok(['team', 'add', '-q', name, people.person(name).key]);
    push(alice);
    pull(carol);
    writeFileSync(carol.place.file('older.txt'), read(carol));
    for (const name of names) await alice.place.ok(['team', 'remove', '-q', name, '--yes']);
    push(alice);
    pull(carol);
    const told = await carol.place.run('team list');
    for (const name of names) expect(told.stderr).toContain(`New: alice removed ${name}.`);
    expect(await value(carol)).toBe('s3cret');
    expect(read(carol)).toMatch(/^DB=coffer:app:v6:/);
    // What was encrypted before all of it opens as well, through the newest root key.
    writeFileSync(carol.place.file('older.env'), readFileSync(carol.place.file('older.txt')));
    expect((await carol.place.run('secrets decrypt older.env --stdout')).stderr).toContain('removed members');
    await writes(carol, 'newer');
    push(carol);
    pull(alice);
    expect(await value(alice)).toBe('newer');
  });
});

describe('a removal on one branch', () => {
  it('has somebody who was added on the other wait, until who added them settles it', async () => {
    const { people, alice, others } = await team('bob', 'carol');
    const [, carol] = others as [Person, Person];
    const erin = people.person('erin');
    await alice.place.ok('team remove -q bob --yes');
    push(alice);
    const added = (await carol.place.json(['team', 'add', 'erin', erin.key])) as { trust: string };
    save(carol);
    pull(carol);
    expect((await carol.place.run('team list')).stderr).toContain('Cannot decrypt yet: erin');
    await carol.place.ok('team settle -q');
    push(carol);
    pull(erin);
    await erin.place.ok(['team', 'trust', '-q', added.trust]);
    expect(await value(erin)).toBe('s3cret');
  });

  it.each([
    ['the removal first', 'main', 'carols'],
    ['the rotation first', 'carols', 'main'],
  ])('outdoes a rotation on the other, however a host merges them: %s', async (_, onto, from) => {
    const { people, alice, others } = await team('bob', 'carol');
    const [bob, carol] = others as [Person, Person];
    await alice.place.ok('team remove -q bob --yes');
    push(alice);
    await carol.place.ok('team key rotate -q app');
    await carol.place.ok(['secrets', 'set', '-q', 'other.env', 'PORT', '80']);
    save(carol);
    git(carol, 'push -q origin HEAD:refs/heads/carols');
    mergeOnHost(people, onto, from);
    const machine = people.freshMachine(carol, 'carol-2');
    await machine.place.ok(['team', 'trust', '-q', idOf(fact(machine, 'removals/bob.'))]);
    for (const one of [alice, machine]) {
      git(one, 'checkout -q -f main');
      pull(one);
      expect(factsOf(one).filter((path) => path.startsWith('keys/app.v2.'))).toHaveLength(2);
      expect(await value(one)).toBe('s3cret');
      await writes(one, 'newer');
      // Bob opens the root key of the other version 2, so it is not the one to encrypt with.
      expect(await one.place.refused('secrets get other.env PORT', 4)).toContain('removed members (bob)');
      git(one, 'checkout -q -f .');
    }
    pull(bob);
    expect((await bob.place.run('secrets get app.env DB')).exitCode).toBe(4);
    await alice.place.ok('secrets rewrap -q other.env --yes');
    expect(await alice.place.ok('secrets get -q other.env PORT')).toBe('80');
    await alice.place.ok('team key rotate -q app');
    expect(factsOf(alice).some((path) => path.startsWith('keys/app.v3.'))).toBe(true);
  });

  it('is made once where both branches have removed the same person', async () => {
    const { alice, others } = await team('bob', 'carol');
    const [bob, carol] = others as [Person, Person];
    await alice.place.ok('team remove -q bob --yes');
    await carol.place.ok('team remove -q bob --yes');
    push(alice);
    save(carol);
    git(carol, 'pull -q --no-rebase -X ours origin main');
    await carol.place.ok('team settle -q');
    expect(await membersOf(carol)).toEqual(['alice', 'carol']);
    await writes(carol, 'newer');
    push(carol);
    pull(alice);
    expect(await value(alice)).toBe('newer');
    pull(bob);
    expect((await bob.place.run('secrets get app.env DB')).exitCode).toBe(4);
  });

  it('does not count where its author was removed on the other, which is said until it is said again', async () => {
    const { alice, carol } = await withRemovalOfNoEffect();
    const told = await carol.place.run('team list');
    expect(told.stderr).toContain('ignored, because bob was removed at the same time: bob removed dave');
    expect(await membersOf(carol)).toEqual(['alice', 'carol', 'dave']);
    pull(alice);
    await alice.place.ok('team remove -q dave --yes');
    expect(await membersOf(alice)).toEqual(['alice', 'carol']);
  });
});
