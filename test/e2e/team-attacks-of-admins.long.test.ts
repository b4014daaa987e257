import { describe, expect, it } from 'vitest';
import { Forger } from './team-forging.ts';
import { fact, git, idOf, type Person, pull, push, save, team } from './team-people.ts';
import { changesNothing, membersOf, NEVER, value, writes } from './team-questions.ts';

/* Attacks of the threat model by real git; others are in team.test.ts and team-rules.test.ts. */

describe('another card of somebody who was removed', () => {
  it('is out where it was made on another branch, which also teaches nothing by itself', async () => {
    const { people, alice, others } = await team('bob', 'carol');
    const [bob, carol] = others as [Person, Person];
    const [second, third] = [people.person('bob-2'), people.person('bob-3')];
    await bob.place.ok(['team', 'add', '-q', '--yes', 'bob', second.key, '--admin']);
    await bob.place.ok('team remove -q alice --yes');
    save(bob);
    git(bob, 'push -q origin HEAD:refs/heads/bobs');
    await carol.place.ok(['team', 'add', '-q', '--yes', 'bob', third.key]);
    await alice.place.ok('team remove -q bob --yes');
    push(alice);
    save(carol);
    pull(carol);
    const listed = await carol.place.run('team list');
    expect(listed.stderr).toContain('ignored: carol added bob again, but did not know of the removal');
    // She looks at his branch, and comes back.
    git(carol, 'fetch -q');
    git(carol, 'checkout -q origin/bobs');
    await carol.place.run('team list');
    git(carol, 'checkout -q -');
    expect(await membersOf(carol)).toEqual(['alice', 'carol']);
    git(carol, 'merge -q --no-edit -X ours origin/bobs');
    expect(await membersOf(carol)).toEqual(['alice', 'carol']);
    await carol.place.ok('team settle -q');
    await writes(carol, 'x');
    push(carol);
    for (const gone of [second, third]) {
      pull(gone);
      await gone.place.run(['team', 'trust', '-q', '--yes', idOf(fact(gone, 'store.'))]);
      expect((await gone.place.run('secrets get app.env DB')).exitCode).not.toBe(0);
    }
    // Added again by somebody who knows, he is in.
    await carol.place.ok(['team', 'add', '-q', 'bob', third.key]);
    expect(await membersOf(carol)).toEqual(['alice', 'bob', 'carol']);
  });
});

describe('an admin who means harm', () => {
  it('calls nobody otherwise in a removal, and adds no key of low order', async () => {
    const { alice, others } = await team('bob', 'carol');
    const [bob, carol] = others as [Person, Person];
    pull(bob);
    const forger = new Forger(bob);
    const zoe = forger.card('carol').replace('carol', 'zoe');
    const [removal, armor] = await forger.removal([zoe], [forger.card('bob')], [bob.key]);
    forger.put('removal', removal, { armor });
    const low = `ssh-ed25519 ${Buffer.concat([Buffer.from([0, 0, 0, 11]), Buffer.from('ssh-ed25519'), Buffer.from([0, 0, 0, 32, 1]), Buffer.alloc(31)]).toString('base64')}`;
    expect(() =>
      forger.put(
        'member',
        [
          ['name', 'low'],
          ['role', 'admin'],
          ['key', low],
          ['sign', low],
          ['root', forger.store],
        ],
        { armor },
      ),
    ).toThrow('has an invalid key');
    push(bob);
    pull(carol);
    const listed = await carol.place.run('team list');
    expect(listed.stderr).toContain('gives the member carol the wrong name zoe');
    expect(await membersOf(carol)).toEqual(['alice', 'bob', 'carol']);
    pull(alice);
    await writes(alice, 'x');
  });

  it('stops nobody for good by a newer kind, holes, or root keys that never were: his removal leads out', async () => {
    const { alice, others } = await team('bob', 'carol');
    const [bob, carol] = others as [Person, Person];
    pull(bob);
    const forger = new Forger(bob);
    const root = await forger.root('members/bob.');
    const [member, armor] = await forger.member('guest', carol.key, root, NEVER);
    forger.put('member', member, { armor });
    forger.newer();
    forger.put('version', forger.version('app', 2, root, NEVER));
    push(bob);
    pull(alice);
    expect((await alice.place.run(['secrets', 'set', 'app.env', 'DB', 'x'])).exitCode).not.toBe(0);
    await alice.place.ok('team remove -q bob --yes');
    await writes(alice, 's3cret');
    push(alice);
    pull(carol);
    await changesNothing(carol);
  });

  it('keeps nobody from the keys by an armor that leaves them out: others give them again', async () => {
    const { alice, others } = await team('bob', 'carol');
    const [bob, carol] = others as [Person, Person];
    pull(bob);
    const forger = new Forger(bob);
    const older = new Map([[forger.store, await forger.root('members/bob.')]]);
    const [epoch, armor, root] = await forger.removal(
      [],
      ['alice', 'bob', 'carol'].map((name) => forger.card(name)),
      [alice.key, bob.key],
      older,
    );
    const united = forger.put('removal', epoch, { armor });
    forger.put('version', forger.version('app', 2, root, united));
    await bob.place.ok('secrets rewrap -q app.env');
    push(bob);
    pull(carol);
    expect((await carol.place.run('secrets get app.env DB')).exitCode).not.toBe(0);
    pull(alice);
    await alice.place.ok('team settle -q --again carol --yes');
    push(alice);
    pull(carol);
    expect(await value(carol)).toBe('s3cret');
  });
});
