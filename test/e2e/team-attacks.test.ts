import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Forger } from './team-forging.ts';
import { fact, factsOf, git, idOf, type Person, pull, push, team } from './team-people.ts';
import { membersOf, NEVER, pathOf, read, value, writes } from './team-questions.ts';

/* Attacks of the threat model by real git; others are in team.test.ts and team-rules.test.ts. */

describe('somebody who may push and has no key', () => {
  it('is no member by whatever they invent, and stops neither reading nor changes', async () => {
    const { people, alice, others } = await team('bob');
    const [bob] = others as [Person];
    const eve = people.person('eve');
    const forger = new Forger(eve);
    const [member, armor] = await forger.member('eve', eve.key, Buffer.alloc(32));
    const asAlice = { by: forger.card('alice') };
    forger.put('member', member, { ...asAlice, armor });
    forger.put('version', forger.version('app', 9, Buffer.alloc(32)), asAlice);
    forger.put(
      'slot',
      [
        ['for', forger.card('bob')],
        ['root', forger.store],
      ],
      { ...asAlice, armor },
    );
    const [removal, other] = await forger.removal([forger.card('bob')], [forger.card('alice')], [eve.key]);
    forger.put('removal', removal, { ...asAlice, armor: other });
    const invented = forger.put('member', member, { by: `${NEVER} zoe`, armor });
    forger.put('version', forger.version('app', 2, Buffer.alloc(32)), { by: `${invented} eve` });
    forger.newer(false, asAlice);
    forger.newer(true, { by: `${invented} eve` });
    // One byte of a signature, and bytes behind one.
    const card = readFileSync(fact(eve, 'members/bob.'), 'utf8');
    const [message = '', signature = ''] = card.split(/^(?=signature )/m);
    const bytes = Buffer.from(signature.slice('signature '.length), 'base64');
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    const version = fact(eve, 'keys/app.v1.');
    writeFileSync(version, readFileSync(version, 'utf8').replace(/\n$/, 'AAAA\n'));
    for (let junk = 0; junk < 300; junk++) writeFileSync(eve.place.file(`.coffer/keys/junk-${junk}`), 'junk');
    push(eve);
    pull(bob);
    expect(await membersOf(bob)).toEqual(['alice', 'bob']);
    const checked = await bob.place.run('team check');
    expect(checked.exitCode).toBe(1);
    for (const named of ['members/eve.', 'keys/app.v9.', 'removals/bob.', 'retired/x.', 'keys/junk-7'])
      expect(checked.stdout).toContain(named);
    // The altered version is gone for who has no other copy of it; git has one.
    git(eve, ['checkout', '-q', 'HEAD~1', '--', pathOf(eve, 'keys/app.v1.')]);
    writeFileSync(fact(eve, 'members/bob.'), `${message}signature ${bytes.toString('base64')}\n`);
    push(eve);
    pull(alice);
    expect(await value(alice)).toBe('s3cret');
    await alice.place.ok('team settle -q').catch(() => undefined);
    git(alice, ['checkout', '-q', 'HEAD~2', '--', pathOf(alice, 'members/bob.')]);
    await writes(alice, 'newer');
    expect(read(alice)).toMatch(/^DB=coffer:app:v1:/);
    await alice.place.ok('team key rotate -q app');
    expect(factsOf(alice).filter((name) => name.startsWith('keys/app.v2.'))).toHaveLength(2);
  });

  it('has nothing encrypted for a keyring that they put nearer to the files', async () => {
    const { people, alice } = await team();
    const eve = people.person('eve');
    mkdirSync(eve.place.file('sub'));
    await eve.place.ok('team init -q sub');
    push(eve);
    pull(alice);
    expect(await alice.place.refused(['secrets', 'set', 'sub/x.env', 'A', 'b'], 4)).toContain(
      'this keyring is not trusted on this machine yet',
    );
    await writes(alice, 'x');
  });
});

describe('somebody who can have the ssh-agent of an admin sign', () => {
  it('is given no keys for a card of theirs, and has nothing encrypted under a root key of theirs', async () => {
    const { people, alice, others } = await team('carol');
    const [carol] = others as [Person];
    const eve = people.person('eve');
    // They sign with carol's key, but open nothing with it.
    const forger = new Forger(carol, eve);
    const [member, armor] = await forger.member('eve', eve.key, Buffer.alloc(32, 7));
    forger.put('member', member, { armor, by: forger.card('carol') });
    push(eve);
    pull(alice);
    const settled = await alice.place.run('team settle');
    expect(settled.stderr).not.toContain('Restored');
    // A new admin's machine would take the card for known.
    const dave = people.person('dave');
    const added = await alice.place.run(['team', 'add', 'dave', dave.key]);
    expect(added.stderr).toContain(
      'members that you have not confirmed on this machine: eve (added by carol); a machine that trusts the ID printed below trusts these members, too',
    );
    expect((await alice.place.run('team remove carol --yes')).exitCode).toBe(0);
    expect(read(alice)).toMatch(/^DB=coffer:app:v2:/);
    push(alice);
    pull(eve);
    const first = idOf(fact(eve, 'store.'));
    await eve.place.ok(['team', 'trust', '-q', first]);
    expect((await eve.place.run('secrets get app.env DB')).exitCode).toBe(4);
  });

  it('cannot have values encrypted under an epoch of their own that is for everybody', async () => {
    const { people, alice, others } = await team('carol', 'dave');
    const [carol] = others as [Person, Person];
    const eve = people.person('eve');
    const forger = new Forger(carol, eve);
    const [epoch, armor] = await forger.removal(
      [forger.card('dave')],
      [forger.card('alice'), forger.card('carol')],
      [alice.key, carol.key],
      new Map([[forger.store, Buffer.alloc(32, 7)]]),
    );
    forger.put('removal', epoch, { armor, by: forger.card('carol') });
    push(eve);
    pull(alice);
    expect((await alice.place.run(['secrets', 'set', 'app.env', 'DB', 'x'])).exitCode).not.toBe(0);
    const settle = await alice.place.run('team settle');
    expect(settle.stderr).toContain('signed as carol by someone without access to the keyring');
    expect(settle.stderr).toContain('remove this member with "coffer team remove carol"');
    expect((await alice.place.run('team check')).stdout).toContain(
      'signed as carol by someone without access to the keyring',
    );
    await alice.place.ok('team remove -q carol --yes');
    await writes(alice, 'x');
    expect(await membersOf(alice)).toEqual(['alice']);
  });
});

describe('a user, and whoever has the variable of a pipeline', () => {
  it('reads and writes values, and can neither add nor remove, nor make a version that counts', async () => {
    const { people, alice } = await team();
    const identity = await alice.place.ok('team add ci --new');
    push(alice);
    const runner = people.person('runner');
    const job = runner.place.with({ COFFER_IDENTITY: identity });
    const forger = new Forger(runner);
    const ci = { by: forger.card('ci') };
    const [member, armor] = await forger.member('runner', runner.key, Buffer.alloc(32));
    forger.put('member', member, { ...ci, armor });
    forger.put('version', forger.version('app', 2, Buffer.alloc(32)), ci);
    const [removal, other] = await forger.removal([forger.card('alice')], [forger.card('ci')], [runner.key]);
    forger.put('removal', removal, { ...ci, armor: other });
    push(runner);
    pull(alice);
    expect(await membersOf(alice)).toEqual(['alice', 'ci']);
    await writes(alice, 'x');
    expect(read(alice)).toMatch(/^DB=coffer:app:v1:/);
    expect(await job.ok('secrets get -q app.env DB')).toBe('s3cret');
    for (const line of [
      ['team', 'add', 'x', runner.key],
      ['team', 'remove', 'alice', '--yes'],
      ['team', 'key', 'add', 'y'],
      ['team', 'settle'],
    ])
      expect((await job.run(line)).exitCode).not.toBe(0);
    // Another keyring in the place of the one that the variable names.
    renameSync(runner.place.file('.coffer'), runner.place.file('away'));
    await runner.place.ok('team init -q');
    expect((await job.run('secrets get app.env DB')).exitCode).toBe(4);
    rmSync(runner.place.file('away'), { recursive: true });
  });
});
