import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Place } from './harness.ts';
import { fact, factsOf, git, idOf, type Person, pull, push, save, sayAgain, team } from './team-people.ts';

const only = (others: readonly Person[], at = 0): Person => {
  const person = others[at];
  if (person === undefined) throw new RangeError('there is nobody');
  return person;
};
const read = (person: Person, file = 'app.env'): string => readFileSync(person.place.file(file), 'utf8');

describe('a team without a server', () => {
  it('opens for a colleague what was encrypted before she came, and for nobody else', async () => {
    const { people, alice, others } = await team('bob');
    const bob = only(others);
    expect(read(alice)).toMatch(/^DB=coffer:app:v1:/);
    expect(await bob.place.ok('secrets get app.env DB')).toBe('s3cret');
    await bob.place.ok(['secrets', 'set', '-q', 'app.env', 'MAIL', 'm1']);
    push(bob);
    pull(alice);
    expect(await alice.place.ok('secrets get app.env MAIL')).toBe('m1');
    const eve = people.person('eve');
    const refusal = await eve.place.refused('secrets get app.env DB', 4);
    expect(refusal).toContain('ask a colleague for the ID, in person or by chat, not through the repository');
    for (const path of factsOf(alice)) expect(refusal).not.toContain(idOf(path));
  });

  it('gives variables to programs and decrypts files, without a store of one', async () => {
    const { alice } = await team();
    expect(
      (await alice.place.run(['exec', '-f', 'app.env', '--', 'sh', '-c', 'printf %s "$DB"'])).stdout,
    ).toBe('s3cret');
    await alice.place.ok('secrets decrypt -q app.env');
    expect(read(alice)).toBe('DB=s3cret\n');
    await alice.place.ok('secrets encrypt -q app.env');
    expect(await alice.place.ok('secrets get app.env DB')).toBe('s3cret');
  });

  it('has whoever left open nothing that is encrypted afterwards, and lists what they could read', async () => {
    const { alice, others } = await team('bob', 'carol');
    const [bob, carol] = [only(others), only(others, 1)];
    const before = read(alice);
    const told = await alice.place.run('team remove bob --yes');
    expect(told).toMatchObject({ exitCode: 0 });
    expect(told.stderr).toContain('app.env: DB');
    expect(read(alice)).toMatch(/^DB=coffer:app:v2:/);
    await alice.place.ok(['secrets', 'set', '-q', 'app.env', 'DB', 'newer']);
    push(alice);
    pull(bob);
    pull(carol);
    expect(await carol.place.ok('secrets get app.env DB')).toBe('newer');
    expect(await bob.place.refused('secrets get -q app.env DB', 4)).toContain(
      'none of your keys opens version 2',
    );
    expect((await bob.place.run(['secrets', 'set', 'app.env', 'DB', 'evil'])).exitCode).not.toBe(0);
    // What he writes with the version that he had is refused by name.
    writeFileSync(carol.place.file('app.env'), before);
    expect((await carol.place.run('secrets get app.env DB')).stderr).toContain(
      'is known to removed members (bob)',
    );
    await carol.place.ok('secrets rewrap -q --yes app.env');
    expect(read(carol)).toMatch(/^DB=coffer:app:v2:/);
  });

  it('goes on with a removal that was interrupted after any of its facts', async () => {
    const { alice, others } = await team('bob');
    const bob = only(others);
    await alice.place.ok('team key add -q mail');
    const [before, text] = [new Set(factsOf(alice)), read(alice)];
    await alice.place.ok('team remove -q bob --yes');
    const made = factsOf(alice).filter((path) => !before.has(path));
    expect(made.map((path) => path.slice(0, -33)).sort()).toEqual([
      'keys/app.v2',
      'keys/mail.v2',
      'removals/bob',
    ]);
    // As if it had been killed after the removal, and after one of the keys.
    for (const path of made.filter((name) => name.startsWith('keys/'))) {
      rmSync(alice.place.file(`.coffer/${path}`));
    }
    writeFileSync(alice.place.file('app.env'), text);
    writeFileSync(alice.place.file('.coffer/keys/app.v2.half.new'), 'coffer team 1 ver');
    expect((await alice.place.run('team remove bob --yes')).stderr).toContain('Finished removing bob: an');
    expect(factsOf(alice).filter((path) => path.startsWith('removals/'))).toHaveLength(1);
    expect(await alice.place.ok('secrets get app.env DB')).toBe('s3cret');
    push(alice);
    pull(bob);
    expect((await bob.place.run('secrets get app.env DB')).exitCode).toBe(4);
  });

  it('merges two people who are added on two branches, and a rotation on each', async () => {
    const { people, alice, others } = await team('carol');
    const carol = only(others);
    const [bob, erin] = [people.person('bob'), people.person('erin')];
    await alice.place.ok(['team', 'add', '-q', 'bob', bob.key]);
    await alice.place.ok('team key rotate -q app');
    await carol.place.ok(['team', 'add', '-q', 'erin', erin.key]);
    await carol.place.ok('team key rotate -q app');
    push(alice);
    save(carol);
    expect(pull(carol)).toMatchObject({ exitCode: 0 });
    const listed = (await carol.place.json('team list')) as { members: { name: string }[] };
    expect(listed.members.map(({ name }) => name).sort()).toEqual(['alice', 'bob', 'carol', 'erin']);
    await carol.place.ok('team key rotate -q app');
    expect(
      factsOf(carol)
        .filter((path) => path.startsWith('keys/app.v'))
        .map((path) => path.slice(5, 11)),
    ).toEqual(['app.v1', 'app.v2', 'app.v2', 'app.v3']);
    expect(await carol.place.ok('secrets get app.env DB')).toBe('s3cret');
  });

  it('unites two removals that did not know of each other, and encrypts nothing until then', async () => {
    const { alice, others } = await team('bob', 'carol', 'dave');
    const carol = only(others, 1);
    await alice.place.ok('team remove -q bob --yes');
    await carol.place.ok('team remove -q dave --yes');
    push(alice);
    save(carol);
    git(carol, 'pull -q --no-rebase -X ours origin main');
    expect((await carol.place.run(['secrets', 'set', 'app.env', 'DB', 'x'])).stderr).toContain(
      'coffer team settle',
    );
    await carol.place.ok('team settle -q');
    expect(factsOf(carol).some((path) => path.startsWith('removals/united.'))).toBe(true);
    await carol.place.ok(['secrets', 'set', '-q', 'app.env', 'DB', 'x']);
    push(carol);
    pull(alice);
    expect(await alice.place.ok('secrets get app.env DB')).toBe('x');
  });

  it('stops on fresh machines where two admins removed each other, and lets whoever knew one go on', async () => {
    const { people, alice, others } = await team('carol');
    const carol = only(others);
    const machine = people.freshMachine(alice, 'alice-2');
    await alice.place.ok('team remove -q carol --yes');
    await carol.place.ok('team remove -q alice --yes');
    push(alice);
    save(carol);
    git(carol, 'pull -q --no-rebase -X ours origin main');
    push(carol);
    pull(machine);
    const first = idOf(factsOf(alice).find((path) => path.startsWith('store.')) ?? '');
    const refusal = await machine.place.run(['team', 'trust', first]);
    expect(refusal).toMatchObject({ exitCode: 1 });
    expect(refusal.stderr).toContain('admins removed each other');
    const removal = idOf(fact(machine, 'removals/carol.'));
    await machine.place.ok(['team', 'trust', '-q', removal]);
    const listed = (await machine.place.json('team list')) as { members: { name: string }[] };
    expect(listed.members.map(({ name }) => name)).toEqual(['alice']);
    pull(alice);
    expect((await alice.place.run('team list -q')).exitCode).toBe(0);
  });

  it('lets a pipeline open and encrypt with one variable, which leaves nothing and changes no team', async () => {
    const { people, alice } = await team();
    const identity = await alice.place.ok('team add ci --new');
    expect(identity).toMatch(/^# at least: [0-9a-z-]{39}\nAGE-SECRET-KEY-1/);
    push(alice);
    const runner = people.person('runner');
    const job = runner.place.with({ COFFER_IDENTITY: identity });
    expect(await job.ok('secrets get app.env DB')).toBe('s3cret');
    await job.ok(['secrets', 'set', '-q', 'app.env', 'DB', 'from-ci']);
    expect((await job.run('team remove alice --yes')).stderr).toContain('ci is a user');
    expect((await job.run(['team', 'add', 'mallory', runner.key])).exitCode).toBe(4);
    expect((await job.run('team key rotate app')).exitCode).toBe(4);
    expect((await runner.place.run('secrets get app.env DB')).exitCode).toBe(4);
    // A state from before the identity was made is refused.
    git(runner, 'checkout -q -f HEAD~1');
    expect((await job.run('secrets get app.env DB')).stderr).toContain('is missing');
  });

  it('has a keyring of its own for a folder, which only those open who are in it', async () => {
    const { alice, others } = await team('bob');
    const bob = only(others);
    mkdirSync(alice.place.file('production'));
    expect((await alice.place.run('team init production --key app')).stderr).toContain(
      'already has a key "app"',
    );
    expect((await alice.place.run('team init production')).stderr).toContain(
      'for the folder production. You',
    );
    writeFileSync(
      alice.place.file('.coffer.yaml'),
      'rules:\n  - {files: "production/*.env", key: production}\n  - {files: "*.env", key: app}\n',
    );
    await alice.place.ok(['secrets', 'set', '-q', 'production/db.env', 'PW', 'prod']);
    push(alice);
    pull(bob);
    expect((await bob.place.run('secrets get production/db.env PW')).exitCode).toBe(4);
    expect(await bob.place.ok('secrets get app.env DB')).toBe('s3cret');
    expect(await alice.place.ok('secrets get production/db.env PW')).toBe('prod');
    // A file that is moved there is of the outer one still.
    renameSync(alice.place.file('app.env'), alice.place.file('production/moved.env'));
    const moved = await alice.place.run('secrets get production/moved.env DB');
    expect(moved.stderr).toContain(
      'no key "app" in the keyring of this repository (the key is of another keyring',
    );
    renameSync(alice.place.file('production/moved.env'), alice.place.file('app.env'));
    // The inner one taken away: nothing is encrypted for the outer team under its key.
    renameSync(alice.place.file('production/.coffer'), alice.place.file('gone'));
    expect((await alice.place.run(['secrets', 'set', 'production/db.env', 'PW', 'x'])).stderr).toContain(
      'no longer exists',
    );
    const fresh = await bob.place.run(['secrets', 'set', 'app.env', 'PW', 'x', '--key', 'production']);
    expect(fresh.stderr).toContain('no key "production"');
    renameSync(alice.place.file('gone'), alice.place.file('production/.coffer'));
    const inner = new Place(alice.place.file('production'), alice.place.environment());
    await inner.ok(['team', 'add', '-q', 'bob', bob.key]);
    expect((await alice.place.run('team remove bob --yes')).stderr).toContain(
      'bob is also a member of the keyring of production: cd production && coffer team remove bob',
    );
    expect((await inner.run('team remove bob --yes')).stderr).not.toContain('is also a member');
    for (const { place } of [{ place: inner }, alice]) await place.ok('team add -q zoe --new');
    expect((await inner.run('team remove zoe --yes')).stderr).toContain(
      'zoe is also a member of the keyring of ..: cd .. && coffer team remove zoe',
    );
  });

  it('compares texts where both branches have encrypted a value anew, with the driver of git', async () => {
    const { alice, others } = await team('bob', 'carol');
    const carol = only(others, 1);
    for (const person of [alice, carol]) await person.place.ok('secrets git-setup -q');
    await alice.place.ok(['secrets', 'set', '-q', 'app.env', 'MAIL', 'm0']);
    push(alice);
    git(carol, 'checkout -q -- .');
    git(carol, 'clean -fdq');
    pull(carol);
    await alice.place.ok('team remove -q bob --yes');
    push(alice);
    await carol.place.ok('team key rotate -q app');
    await carol.place.ok('secrets rewrap -q app.env');
    save(carol);
    const merge = pull(carol);
    expect(merge, merge.stdout + merge.stderr).toMatchObject({ exitCode: 0 });
    await carol.place.ok('secrets rewrap -q --yes app.env');
    expect(await carol.place.ok('secrets get app.env DB')).toBe('s3cret');
    expect(await carol.place.ok('secrets get app.env MAIL')).toBe('m0');
  });

  it('leaves the directory of a keyring to keyrings', async () => {
    const { alice } = await team();
    for (const line of [
      '--store .coffer status',
      '--store .coffer init --raw',
      '--store other/.coffer init --raw',
    ]) {
      expect(await alice.place.refused(line, 2)).toContain('is reserved for the keyring of a repository');
    }
  });
});

describe('an admin who left, and may push', () => {
  it('makes no value unreadable by signing the version that it is under once more', async () => {
    const { alice, others } = await team('bob', 'carol');
    const [bob, carol] = [only(others), only(others, 1)];
    const before = read(alice);
    sayAgain(bob, 'keys/app.v1.');
    await alice.place.ok('team remove -q bob --yes');
    writeFileSync(alice.place.file('old.env'), before);
    push(alice);
    save(bob);
    pull(bob);
    push(bob);
    pull(carol);
    pull(alice);
    expect(factsOf(alice).filter((path) => path.startsWith('keys/app.v1.'))).toHaveLength(2);
    expect(await carol.place.ok('secrets get app.env DB')).toBe('s3cret');
    await carol.place.ok('secrets rewrap -q --yes old.env');
    expect(await carol.place.ok('secrets get old.env DB')).toBe('s3cret');
  });
});

describe('somebody who may push, and no more', () => {
  it('is not believed, whatever they alter, rename, copy or invent, and stops nothing that reads', async () => {
    const { people, alice, others } = await team('bob');
    const bob = only(others);
    const eve = people.person('eve');
    const card = fact(eve, 'members/bob.');
    const text = readFileSync(card, 'utf8');
    const name = card.slice(eve.place.file('.coffer/').length);
    writeFileSync(eve.place.file('.coffer/members/eve.00000000000000000000000000000000'), text);
    writeFileSync(eve.place.file('.coffer/members/junk'), 'junk\0');
    writeFileSync(eve.place.file(`.coffer/members/zoe.${idOf(card)}`), text);
    symlinkSync('/etc/passwd', eve.place.file('.coffer/keys/link'));
    push(eve);
    pull(bob);
    expect(await bob.place.ok('secrets get app.env DB')).toBe('s3cret');
    const found = await bob.place.run('team check');
    expect(found.exitCode).toBe(1);
    for (const path of ['members/eve.', 'members/junk', 'members/zoe.', 'keys/link'])
      expect(found.stdout).toContain(path);
    git(eve, 'revert --no-edit HEAD');
    writeFileSync(eve.place.file(`.coffer/${name}`), text.replace('role admin', 'role user'));
    push(eve);
    pull(alice);
    expect((await alice.place.run('team check')).stdout).toMatch(/commit [0-9a-f]+ by eve changed/);
    expect(await alice.place.ok('secrets get app.env DB')).toBe('s3cret');
  });

  it('cannot put another keyring in the place of the one that is trusted, nor nearer, nor take it away', async () => {
    const { people, alice, others } = await team('bob');
    const bob = only(others);
    const eve = people.person('eve');
    rmSync(eve.place.file('.coffer'), { recursive: true });
    await eve.place.ok('team init -q');
    await eve.place.ok(['team', 'add', '-q', 'bob', bob.key]);
    push(eve);
    pull(bob);
    expect(await bob.place.refused(['secrets', 'set', 'app.env', 'DB', 'x'], 4)).toContain(
      'replaced by another one',
    );
    git(eve, 'rm -rfq .coffer');
    push(eve);
    pull(bob);
    expect(await bob.place.refused(['secrets', 'set', 'app.env', 'DB', 'x'], 1)).toContain(
      'no longer exists',
    );
    expect(await alice.place.ok('secrets get app.env DB')).toBe('s3cret');
  });

  it('cannot take back a removal by an older tree on top, for machines that knew and for first looks', async () => {
    const { people, alice, others } = await team('bob', 'carol');
    const carol = only(others, 1);
    await alice.place.ok('team remove -q bob --yes');
    push(alice);
    pull(carol);
    await carol.place.ok('team list -q');
    const eve = people.person('eve');
    const removal = fact(eve, 'removals/bob.').slice(eve.place.directory.length + 1);
    git(eve, ['rm', '-q', removal]);
    git(eve, [
      'rm',
      '-q',
      '-r',
      '--ignore-unmatch',
      ...factsOf(eve)
        .filter((path) => path.startsWith('keys/app.v2'))
        .map((path) => `.coffer/${path}`),
    ]);
    git(eve, 'checkout -q HEAD~1 -- app.env');
    push(eve);
    pull(carol);
    const refused = await carol.place.run(['secrets', 'set', 'app.env', 'DB', 'x']);
    expect(refused.stderr).toContain('does not have the removal of bob yet');
    expect((await carol.place.run('team check')).stdout).toMatch(/by eve removed \.coffer\/removals\/bob\./);
    const fresh = people.freshMachine(carol, 'carol-2');
    const first = idOf(fact(fresh, 'store.'));
    expect(await fresh.place.refused(['team', 'trust', '-q', first], 4)).toContain('from before a removal');
    await carol.place.ok('team settle -q');
    expect(factsOf(carol).some((path) => path.startsWith('removals/bob.'))).toBe(true);
    await carol.place.ok(['secrets', 'set', '-q', 'app.env', 'DB', 'x']);
  });

  it('cannot have git alter facts by attributes, which stop changes and nothing else', async () => {
    const { people, others } = await team('bob');
    const bob = only(others);
    const eve = people.person('eve');
    writeFileSync(eve.place.file('.gitattributes'), '* text eol=crlf\n');
    push(eve);
    pull(bob);
    await bob.place.ok(['secrets', 'set', '-q', 'app.env', 'DB', 'x']);
    const info = bob.place.file('.git/info/attributes');
    for (const line of [
      'text eol=crlf',
      'filter=lfs',
      'ident',
      'merge=union',
      'working-tree-encoding=UTF-16',
    ]) {
      writeFileSync(info, `.coffer/** ${line}\n`);
      expect(await bob.place.ok('secrets get -q app.env DB')).toBe('x');
      expect(await bob.place.refused(['secrets', 'set', 'app.env', 'DB', 'y'], 1)).toMatch(
        /the git attribute [a-z-]+=.* applies to \.coffer/,
      );
    }
    rmSync(info);
    writeFileSync(eve.place.file('.coffer/members/.gitattributes'), '* text eol=crlf\n');
    push(eve);
    save(bob);
    pull(bob);
    expect(await bob.place.ok('secrets get app.env DB')).toBe('x');
    expect((await bob.place.run(['secrets', 'set', 'app.env', 'DB', 'y'])).stderr).toContain(
      '.gitattributes',
    );
  });
});
