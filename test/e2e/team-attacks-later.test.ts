import { cpSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Forger } from './team-forging.ts';
import { fact, git, idOf, type Person, pull, push, save, team } from './team-people.ts';
import { membersOf, pathOf, read, value, writes } from './team-questions.ts';

/* Attacks of the threat model by real git, found by a later review; others are in team.test.ts and team-attacks.test.ts. */

describe('somebody who may push and has no key', () => {
  it('keeps no fact away for good by altered, moved or earlier copies of it: settle restores it', async () => {
    const { people, alice } = await team('bob');
    await alice.place.ok('team remove -q bob --yes');
    push(alice);
    const eve = people.person('eve');
    const removal = pathOf(eve, 'removals/bob.');
    const text = readFileSync(eve.place.file(removal), 'utf8');
    const put = (path: string, content: string): void => writeFileSync(eve.place.file(path), content);
    // With the signature of another fact, on a branch that seems older than everything.
    const signature = /^signature .*$/m.exec(readFileSync(fact(eve, 'store.'), 'utf8'))?.[0] ?? '';
    git(eve, 'checkout -q --orphan old');
    put(removal, text.replace(/^signature .*$/m, signature));
    git(eve, 'add -A');
    git(eve, ['-c', 'user.name=eve', 'commit', '-q', '-m', 'x', '--date', '2001-01-01T00:00:00Z']);
    git(eve, 'push -q origin old');
    // The same bytes elsewhere, a directory with the name of a fact, and the fact itself altered in its place.
    git(eve, 'checkout -q -f main');
    put(`.coffer/moved`, text);
    mkdirSync(eve.place.file(`.coffer/x.${'0'.repeat(32)}`));
    put(`.coffer/x.${'0'.repeat(32)}/y`, 'y');
    put(removal, text.replace(/^at .*$/m, 'at 2020-01-01T00:00:00Z'));
    push(eve);
    git(alice, 'fetch -q origin');
    pull(alice);
    expect(await alice.place.refused('secrets get -q app.env DB', 1)).toContain('the keyring is incomplete');
    await alice.place.ok('team settle -q');
    expect(readFileSync(alice.place.file(removal), 'utf8')).toBe(text);
    expect(await value(alice)).toBe('s3cret');
    await writes(alice, 'x');
  });

  it('stops no reading by attributes of any size, and no terminal by names in the output of check', async () => {
    const { people, alice } = await team();
    const eve = people.person('eve');
    writeFileSync(eve.place.file('.coffer/a\u001b[2J'), 'junk');
    push(eve);
    pull(alice);
    truncateSync(alice.place.file('.coffer/.gitattributes'), 600 * 2 ** 20);
    expect(await value(alice)).toBe('s3cret');
    rmSync(alice.place.file('.coffer/.gitattributes'));
    const { stdout } = await alice.place.run('team check');
    expect(stdout).toContain('.coffer/a\\u001b[2J does not end with a signature');
    expect(stdout).not.toContain('\u001b');
  });

  it('has no value used that a store or server opens, where the rules want one of the keyring', async () => {
    const { people, alice } = await team();
    const eve = people.person('eve');
    writeFileSync(eve.place.file('app.env'), `DB=coffer:other/app:v1:${'A'.repeat(40)}\n`);
    push(eve);
    pull(alice);
    expect(await alice.place.spawned.refused('exec -f app.env -- true', 1)).toContain(
      'app.env:1: DB is encrypted with the key other/app of a store or server, but .coffer.yaml says to encrypt it with the keyring',
    );
    writeFileSync(
      alice.place.file('.coffer.yaml'),
      'rules:\n  - files: "*.env"\n    key: app\n    mount: other\n',
    );
    const meant = await alice.place.spawned.run('exec --yes -f app.env -- true');
    expect(meant.stderr).not.toContain('but .coffer.yaml says');
  });
});

describe('somebody who may push, and moves what is signed or encrypted', () => {
  it('has no copy of a keyring used nearer to files, and no value under another name, key or version', async () => {
    const { people, alice } = await team();
    await alice.place.ok('team key add -q mail');
    push(alice);
    const eve = people.person('eve');
    cpSync(eve.place.file('.coffer'), eve.place.file('sub/.coffer'), { recursive: true });
    const payload = read(eve).trim().split(':').at(-1);
    const moved = ['OTHER=coffer:app:v1', 'MAIL=coffer:mail:v1', 'DB=coffer:app:v2', 'DB=coffer:APP:v1'];
    for (const [at, start] of moved.entries())
      writeFileSync(eve.place.file(`${at}.env`), `${start}:${payload}\n`);
    push(eve);
    pull(alice);
    for (const [at, start] of moved.entries())
      expect((await alice.place.run(['secrets', 'get', `${at}.env`, start.split('=')[0] ?? ''])).stdout).toBe(
        '',
      );
    expect(await alice.place.refused(['secrets', 'set', 'sub/x.env', 'A', 'b'], 4)).toContain(
      'this keyring is not trusted on this machine yet',
    );
  });

  it('has no pipeline accept a state whose pinned fact was altered, or one before it is missing', async () => {
    const { people, alice } = await team('bob');
    const identity = await alice.place.ok('team add ci -q --new');
    push(alice);
    const runner = people.person('runner');
    const job = runner.place.with({ COFFER_IDENTITY: identity });
    const pinned = fact(runner, 'members/ci.');
    const text = readFileSync(pinned, 'utf8');
    const signature = /^signature .*$/m.exec(readFileSync(fact(runner, 'store.'), 'utf8'))?.[0] ?? '';
    writeFileSync(pinned, text.replace(/^signature .*$/m, signature));
    expect(await job.refused('secrets get -q app.env DB', 4)).toContain('is not signed by alice');
    writeFileSync(pinned, text);
    rmSync(fact(runner, 'members/bob.'));
    expect(await job.refused('secrets get -q app.env DB', 4)).toContain('earlier changes are missing');
    git(runner, 'checkout -q -- .');
    expect(await job.ok('secrets get -q app.env DB')).toBe('s3cret');
  });
});

describe('an admin who left, and may push', () => {
  it('has no value of theirs taken over where somebody else is removed later', async () => {
    const { alice, others } = await team('bob');
    const [bob] = others as [Person];
    await alice.place.ok('team add ci -q --new');
    await bob.place.ok(['secrets', 'set', '-q', 'app.env', 'DB', 'evil']);
    await alice.place.ok('team remove -q bob --yes');
    writeFileSync(alice.place.file('app.env'), `${read(bob)}OTHER=${read(alice).slice('DB='.length)}`);
    await alice.place.ok(['secrets', 'set', '-q', 'app.env', 'OTHER', 'right']);
    const removed = await alice.place.run('team remove ci --yes');
    expect(removed).toMatchObject({ exitCode: 0 });
    expect(removed.stderr).toContain('DB: version 1 of key "app" is known to removed members (bob, ci)');
    // The other values of the file are written, so that they are not refused as well.
    expect(read(alice)).toMatch(/^DB=coffer:app:v1:.*\nOTHER=coffer:app:v3:/);
    expect((await alice.place.run('secrets get app.env DB')).exitCode).toBe(4);
  });

  it('teaches no removal to who merges other files, by a branch that nobody merged', async () => {
    const { alice, others } = await team('bob');
    const [bob] = others as [Person];
    await bob.place.ok('team remove -q alice --yes');
    save(bob);
    git(bob, 'push -q origin HEAD:refs/heads/bobs');
    git(alice, 'fetch -q origin bobs:refs/remotes/origin/bobs');
    for (const side of ['base', 'ours', 'theirs']) {
      await alice.place.ok(['secrets', 'set', '-q', 'app.env', 'DB', side === 'base' ? 'old' : 'new']);
      writeFileSync(alice.place.file(side), read(alice));
    }
    expect((await alice.place.run('secrets git-merge -- base ours theirs app.env')).exitCode).toBe(0);
    expect((await alice.place.run('team list')).stderr).not.toContain('warning');
    await writes(alice, 'x');
  });
});

describe('an admin who means harm', () => {
  it('keeps nobody from signing by a card with their key and a signing key of another', async () => {
    const { alice, others } = await team('bob', 'carol');
    const [bob, carol] = others as [Person, Person];
    pull(bob);
    const forger = new Forger(bob);
    const [fields, armor] = await forger.member('aaa', carol.key, await forger.root('members/bob.'));
    const mixed = fields.flatMap(([name, text]) =>
      name === 'sign'
        ? [[name, forger.publicKey] as const, ['secret', 'AAAA'] as const]
        : [[name, text] as const],
    );
    forger.put('member', mixed, { armor, after: [forger.store] });
    push(bob);
    pull(carol);
    await carol.place.ok('team remove -q bob --yes');
    await carol.place.ok('team remove -q aaa --yes');
    expect(await membersOf(carol)).toEqual(['alice', 'carol']);
    expect(await membersOf(alice)).toEqual(['alice', 'bob', 'carol']);
  });
});

describe('a removal that was discarded', () => {
  it('stops changes until the user says that it is to be forgotten', async () => {
    const { alice } = await team('bob');
    await alice.place.ok('team remove -q bob --yes');
    git(alice, 'checkout -q -- .');
    git(alice, 'clean -fdq');
    const refused = await alice.place.run('team remove bob --yes');
    expect(refused.stderr).toContain('does not have the removal of bob yet');
    const id = idOf(fact(alice, 'store.'));
    const denied = await alice.place.run(['team', 'trust', id]);
    expect(denied).toMatchObject({ exitCode: 4 });
    expect(denied.stderr).toContain(
      'this machine would have to forget changes: bob was removed (in a change that this checkout does not have)',
    );
    expect((await alice.place.run('team settle')).exitCode).toBe(1);
    await alice.place.ok(['team', 'trust', '-q', '--yes', id]);
    await alice.place.ok('team remove -q bob --yes');
    expect(await membersOf(alice)).toEqual(['alice']);
  });
});
