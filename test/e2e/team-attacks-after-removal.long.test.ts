import { describe, expect, it } from 'vitest';
import { Forger } from './team-forging.ts';
import { fact, factsOf, git, idOf, type Person, pull, push, save, team } from './team-people.ts';
import { changesNothing, membersOf, NEVER, pathOf, value, writes } from './team-questions.ts';

/* Attacks of the threat model by real git; others are in team.test.ts and team-rules.test.ts. */

/** Alice, Bob and Carol are admins; what Bob does after his removal, Carol pulls, who knows it. */
async function afterBobsRemoval() {
  const made = await team('bob', 'carol');
  const [bob, carol] = made.others as [Person, Person];
  const before = factsOf(bob).map(idOf);
  const old = new Forger(bob);
  const [heads, root] = [old.heads, await old.root('members/bob.')];
  await made.alice.place.ok('team remove -q bob --yes');
  push(made.alice);
  pull(carol);
  await carol.place.ok('team list -q');
  return { ...made, bob, carol, before, heads, root };
}

describe('an admin who left', () => {
  it('lets nobody in, and no version count, whether he dates them back or not', async () => {
    const { people, bob, carol, heads, root } = await afterBobsRemoval();
    const mallory = people.person('mallory');
    const forger = new Forger(bob);
    const [member, armor] = await forger.member('mallory', mallory.key, root);
    const back = { after: heads, at: '2020-01-01T00:00:00Z' };
    forger.put('member', member, { ...back, armor });
    forger.put('version', forger.version('app', 2, root), back);
    forger.put('version', forger.version('evil', 1, root), back);
    forger.put(
      'slot',
      [
        ['for', forger.card('bob')],
        ['root', forger.store],
      ],
      { ...back, armor },
    );
    pull(bob);
    forger.put('member', member, { armor });
    forger.put('version', forger.version('app', 3, root));
    push(bob);
    pull(carol);
    await changesNothing(carol);
  });

  it('leaves no hole, takes no number and says nothing newer by ids that never were', async () => {
    const { people, bob, carol, heads, root } = await afterBobsRemoval();
    const forger = new Forger(bob);
    const guest = people.person('guest');
    const [member, armor] = await forger.member('guest', guest.key, root, NEVER);
    forger.put('member', member, { after: [...heads, NEVER], armor });
    forger.put('version', forger.version('app', 2, root, NEVER), { after: [...heads, NEVER] });
    forger.put('version', forger.version('app', 999_999_999, root), { after: heads });
    forger.put('version', forger.version('app', 999_999_999, root), { after: [...heads, NEVER] });
    forger.newer(true, { after: heads });
    save(bob);
    pull(bob);
    push(bob);
    pull(carol);
    await changesNothing(carol);
  });

  it('removes nobody by a removal that is dated back, for whoever knew of his own', async () => {
    const { people, alice, bob, carol, heads } = await afterBobsRemoval();
    const forger = new Forger(bob);
    const [all, armor] = await forger.removal(
      [forger.card('alice'), forger.card('carol')],
      [forger.card('bob')],
      [bob.key],
    );
    const removal = forger.put('removal', all, { after: heads, armor });
    save(bob);
    pull(bob);
    push(bob);
    pull(carol);
    await changesNothing(carol);
    pull(alice);
    await changesNothing(alice, false);
    // Who knew neither is told of both, and starts with the id of the one that is meant.
    const fresh = people.freshMachine(carol, 'carol-2');
    const meant = idOf(fact(fresh, 'removals/bob.'));
    expect(await fresh.place.refused(['team', 'trust', idOf(fact(fresh, 'store.'))], 1)).toContain(
      removal.slice(0, 4),
    );
    await fresh.place.ok(['team', 'trust', '-q', meant]);
    expect(await membersOf(fresh)).toEqual(['alice', 'carol']);
  });

  it('is believed by whoever has not heard of his removal, until they have', async () => {
    const { people, alice, others } = await team('bob', 'carol', 'erin');
    const [bob, , erin] = others as [Person, Person, Person];
    await alice.place.ok('team remove -q bob --yes');
    push(alice);
    await bob.place.ok('team remove -q alice --yes');
    save(bob);
    git(bob, 'push -q origin HEAD:refs/heads/bobs');
    git(erin, 'pull -q --no-rebase origin bobs');
    expect(await membersOf(erin)).toEqual(['bob', 'carol', 'erin']);
    git(erin, 'pull -q --no-rebase -X ours origin main');
    const told = await erin.place.run('team list');
    expect(told.stderr).toContain('alice removed bob');
    // The truth, told by a colleague, takes back what this machine knew, and says so.
    const truth = idOf(fact(people.person('look'), 'removals/bob.'));
    expect((await erin.place.run(['team', 'trust', truth])).stderr).toContain(
      'this machine would have to forget changes: bob removed alice',
    );
    await erin.place.ok(['team', 'trust', '-q', '--yes', truth]);
    expect(await membersOf(erin)).toEqual(['alice', 'carol', 'erin']);
  });
});

describe('somebody who may push and has no key, after a removal', () => {
  it('stops what needs a fact that they take away, until it is brought back', async () => {
    const { people, alice, others } = await team('bob', 'carol');
    const [, carol] = others as [Person, Person];
    await alice.place.ok('team remove -q bob --yes');
    push(alice);
    pull(carol);
    const eve = people.person('eve');
    git(eve, ['rm', '-q', pathOf(eve, 'removals/bob.')]);
    push(eve);
    // Also for whoever sees it for the first time, as the versions are under its root key.
    pull(carol);
    expect(await carol.place.refused('secrets get -q app.env DB', 1)).toContain('the keyring is incomplete');
    await carol.place.ok('team settle -q');
    expect(await value(carol)).toBe('s3cret');
    push(carol);
    pull(eve);
    git(eve, ['rm', '-q', pathOf(eve, 'keys/app.v1.')]);
    push(eve);
    pull(carol);
    expect(await value(carol)).toBe('s3cret');
    expect(await carol.place.refused(['secrets', 'set', '-q', 'app.env', 'DB', 'x'], 1)).toContain(
      'the keyring is incomplete',
    );
    await carol.place.ok('team settle -q');
    await writes(carol, 'x');
  });

  it('brings no older state back by a merge that keeps only an old branch', async () => {
    const { people, alice, others } = await team('bob', 'carol');
    const [, carol] = others as [Person, Person];
    await alice.place.ok('team remove -q bob --yes');
    push(alice);
    pull(carol);
    await carol.place.ok('team list -q');
    const eve = people.person('eve');
    git(eve, 'checkout -q -b old HEAD~1');
    git(eve, 'merge -q -s ours origin/main');
    push(eve);
    pull(carol);
    expect((await carol.place.run(['secrets', 'set', 'app.env', 'DB', 'x'])).stderr).toContain(
      'does not have the removal of bob yet',
    );
    expect((await carol.place.run('team check')).stdout).toContain('removed .coffer/removals/bob.');
    const fresh = people.freshMachine(carol, 'carol-2');
    const first = idOf(fact(fresh, 'store.'));
    expect(await fresh.place.refused(['team', 'trust', '-q', first], 4)).toContain('from before a removal');
    await carol.place.ok('team settle -q');
    await writes(carol, 'x');
  });
});
