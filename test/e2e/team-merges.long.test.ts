import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Place } from './harness.ts';
import { fact, factsOf, git, idOf, type Person, pull, push, save, team } from './team-people.ts';
import { membersOf, value, writes } from './team-questions.ts';

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
    const bare = { ...alice, place: new Place(people.remote, alice.place.environment()) };
    const tree = git(bare, 'merge-tree --write-tree main carols');
    done(tree);
    const commit = git(bare, [
      'commit-tree',
      tree.stdout.trim(),
      '-p',
      'main',
      '-p',
      'carols',
      '-m',
      'merged',
    ]);
    done(git(bare, ['update-ref', 'refs/heads/main', commit.stdout.trim()]));
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
      if (name === 'shallow') expect(trusted.stderr).toContain('The git history is incomplete');
      expect(await place.ok('secrets get -q app.env DB')).toBe('s3cret');
      await place.ok(['secrets', 'set', '-q', 'app.env', 'DB', 'x']);
    }
    // Facts are kept as they are, and read as well where something has changed their line ends.
    for (const path of factsOf(machine))
      expect(readFileSync(join(machine.home, 'crlf', '.coffer', path), 'utf8')).not.toContain('\r');
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
    expect((await carol.place.run('team list')).stderr).toContain('Waiting for keys: erin');
    await carol.place.ok('team settle -q');
    push(carol);
    pull(erin);
    await erin.place.ok(['team', 'trust', '-q', added.trust]);
    expect(await value(erin)).toBe('s3cret');
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
    const { alice, others } = await team('bob', 'carol', 'dave');
    const [bob, carol] = others as [Person, Person, Person];
    pull(bob);
    await bob.place.ok('team remove -q dave --yes');
    await alice.place.ok('team remove -q bob --yes');
    push(alice);
    save(bob);
    git(bob, 'pull -q --no-rebase -X theirs origin main');
    push(bob);
    pull(carol);
    const told = await carol.place.run('team list');
    expect(told.stderr).toContain('ignored: bob removed dave, because bob was removed at the same time');
    expect(await membersOf(carol)).toEqual(['alice', 'carol', 'dave']);
    pull(alice);
    await alice.place.ok('team remove -q dave --yes');
    expect(await membersOf(alice)).toEqual(['alice', 'carol']);
  });
});
