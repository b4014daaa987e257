import { readdirSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Session } from '../../../src/cli/session.ts';
import { Changes, MOST_HEADS } from '../../../src/cli/team/changes.ts';
import { openKeyring } from '../../../src/cli/team/keyring.ts';
import { placeIn } from '../../../src/cli/team/place.ts';
import { refused } from '../../refusal.ts';
import { promptsDouble, streamsDouble } from '../streams.double.ts';
import { RepositoryHere } from './repository-here.ts';

describe('a keyring', () => {
  it('is not made without a private key, and not used by a key that it does not know', async () => {
    const repository = new RepositoryHere();
    const { here } = repository;
    expect(await here.refused('team init', 3)).toBe(
      'coffer: no private key found (create one with "ssh-keygen -t ed25519", or use --identity FILE)',
    );
    expect(readdirSync(here.path)).not.toContain('.coffer');
    expect((await here.run('team init', repository.as())).err).toContain(
      'Created the keyring .coffer for this repository. ',
    );
    here.write('.coffer.yaml', 'rules:\n  - files: "*.env"\n    key: app\n');
    repository.addKey('eve');
    const before = repository.facts;
    for (const [line, message] of [
      ['team unlock', 'none of your keys opens this keyring'],
      ['team key add x', 'none of your keys belongs to a member of this keyring'],
      ['secrets set a.env A x', `none of your keys opens .coffer/store.${repository.idOf('store.')}`],
    ] as const)
      expect(await here.refused(line, 4, repository.as('eve'))).toContain(`coffer: ${message}`);
    expect(repository.facts).toEqual(before);
    expect(readdirSync(here.path)).not.toContain('a.env');
  });

  it('says of a value whose end is missing that it is truncated, and of no other', async () => {
    const repository = new RepositoryHere();
    const { here } = repository;
    await repository.ok('team init -q');
    here.write('a.env', 'A=one\nB=two\n');
    await repository.ok('secrets encrypt a.env --key app -q');
    const [first = '', second = ''] = here.read('a.env').split('\n');
    // Of 256 values, one ends so by chance.
    const end = second.endsWith('AA==') ? 'gA==' : 'AA==';
    here.write('a.env', `${first.slice(0, -5)}\n${second.slice(0, -4)}${end}\n`);
    const said = await repository.refused('secrets decrypt a.env', 4);
    expect(said.split('\n')).toEqual([
      'coffer: a.env:1: A: cannot decrypt (the value appears to be truncated: restore it from git or a backup)',
      expect.stringMatching(/^coffer: a\.env:2: B: cannot decrypt \(the value was modified, /),
    ]);
  });

  it('is not said to be without problems where no rule names a file, but for its own files', async () => {
    const repository = new RepositoryHere();
    const { here } = repository;
    await repository.ok('team init -q');
    here.write('a.env', 'A=one\n');
    await repository.ok('secrets encrypt a.env --key app -q');
    const NONE = 'No files with secrets were checked: .coffer.yaml names none of this keyring.';
    expect((await here.run('team check', repository.as())).err).toContain(NONE);
    here.write('.coffer.yaml', 'rules:\n  - files: "*.env"\n    key: app\n');
    expect((await here.run('team check', repository.as())).err).not.toContain(NONE);
  });

  it('has its keys named where none is given to encrypt with', async () => {
    const repository = new RepositoryHere();
    await repository.ok('team init -q');
    await repository.ok('team key add mail -q');
    repository.here.write('a.env', 'A=one\n');
    for (const line of ['secrets encrypt a.env', 'secrets set b.env A x'])
      expect(await repository.refused(line, 2)).toMatch(
        /no key given to encrypt \w\.env with \(keys of the keyring: app, mail; use --key NAME, or add a rule to \.coffer\.yaml\)$/,
      );
  });

  it('in the place of another one is trusted only by its ID and a yes', async () => {
    const repository = new RepositoryHere();
    const replaced =
      'coffer: the keyring of this clone was replaced by another one (ask a colleague for the ID, in person or by chat, not through the repository, and run "coffer team trust ID")';
    await repository.ok('team init -q');
    repository.keep('first');
    rmSync(repository.here.file('.coffer'), { recursive: true });
    expect(await repository.refused('team', 1)).toContain(
      ' of this clone no longer exists (restore it with git',
    );
    expect(await repository.refused('team init', 4)).toContain(
      ' of this clone no longer exists (restore it with git; its ID was ',
    );
    expect(await repository.refused('team init', 1, [false])).toBe('No changes made.');
    await repository.ok('team init -q --yes');
    repository.putBack('first');
    expect(await repository.refused('team', 4)).toBe(replaced);
    const trust = `team trust ${repository.idOf('store.')}`;
    expect(await repository.refused(trust, 4, [false])).toBe(`No changes made.\n${replaced}`);
    expect(await repository.refused(trust, 4)).toBe(
      'coffer: this clone had another keyring before (use --yes to trust the keyring with this ID from now on)',
    );
    expect(await repository.refused('team', 4)).toBe(replaced);
    await repository.ok(`${trust} --yes -q`);
    await repository.ok('team -q');
  });

  it('without a removal that this machine has seen gives no new key, and is trusted again only by a yes', async () => {
    const repository = new RepositoryHere();
    await repository.ok('team init -q');
    await repository.ok('team add bob --new -q');
    repository.keep('before');
    await repository.ok('team remove bob --yes -q');
    repository.putBack('before');
    const before = repository.facts;
    expect(await repository.refused('team key rotate app', 1)).toContain(
      'coffer: this checkout does not have the removal of bob yet (merge the removal first',
    );
    const trust = `team trust ${repository.idOf('store.')}`;
    expect(await repository.refused(trust, 4)).toBe(
      'coffer: to trust this ID, this machine would have to forget changes: bob was removed (in a change that this checkout does not have) (run "git pull" first; if the removal was undone on purpose, use --yes)',
    );
    expect(await repository.refused(trust, 4, [false])).toContain(
      'coffer: not confirmed: nothing was changed',
    );
    expect(await repository.refused('team key rotate app', 1)).toContain('the removal of bob');
    expect(repository.facts).toEqual(before);
    await repository.ok(`${trust} --yes -q`);
    await repository.ok('team key rotate app -q');
  });

  it('that lacks a change before another one is only read, with a warning', async () => {
    const repository = new RepositoryHere();
    await repository.ok('team init -q');
    await repository.ok('team add bob --new -q');
    await repository.ok('team key add mail -q');
    const lost = repository.idOf('members/bob.');
    rmSync(repository.here.file(`.coffer/members/bob.${lost}`));
    const told = `the keyring is incomplete: .coffer/keys/mail.v1.${repository.idOf('keys/mail.')} by ann refers to ${lost.slice(0, 8)}…, which is missing`;
    const shown = await repository.here.run('team', repository.as());
    expect({ exitCode: shown.exitCode, warning: shown.err.split('\n')[0] }).toEqual({
      exitCode: 0,
      warning: `coffer: warning: ${told}`,
    });
    const before = repository.facts;
    expect(await repository.refused('team key rotate app', 1)).toBe(
      `coffer: ${told} (run "coffer team settle" to restore it from git; if that fails, first fetch the branch that has it)`,
    );
    expect(repository.facts).toEqual(before);
  });

  it('takes a change after 10,000 others, and none after more', async () => {
    const repository = new RepositoryHere();
    await repository.ok('team init -q');
    const { here } = repository;
    const environment = { HOME: here.file('home'), ...repository.as().environment };
    const session = new Session(streamsDouble(), environment, new Map(), promptsDouble([], false), () =>
      Promise.reject(new Error('nothing is run')),
    );
    const keyring = await openKeyring(session, { place: placeIn(here.path, here.path), isChange: true });
    const changes = await Changes.begin(session, keyring);
    const { id, card } = changes.own;
    const ids = (count: number) => Array.from({ length: count }, (_, at) => String(at).padStart(32, '0'));
    const armor = await changes.sealer.armorFor(card.keys, Buffer.alloc(32));
    const add = (count: number) => changes.add('slot', { for: `${id} ann`, root: id }, armor, ids(count));
    const before = repository.facts;
    expect(await refused(add(MOST_HEADS + 1))).toMatchObject({
      kind: 'conflict',
      message: expect.stringMatching(/^the keyring has 10001 concurrent changes, most of them by /) as string,
    });
    expect(repository.facts).toEqual(before);
    expect((await add(MOST_HEADS)).after).toHaveLength(10_000);
    expect(repository.facts).toHaveLength(before.length + 1);
  });
});

describe('rules that encrypt less than when a machine last used them', () => {
  const rules = (count: number): string =>
    `rules:\n  - files: a.env\n    key: app\n${Array.from({ length: count }, (_, at) => `  - files: f${at}.env\n    key: app\n`).join('')}`;

  /** A repository with so many rules of which all but one are then taken away. */
  async function withFewerRules(taken: number): Promise<RepositoryHere> {
    const repository = new RepositoryHere();
    const { here } = repository;
    await repository.ok('team init -q');
    here.write('.coffer.yaml', rules(taken));
    await repository.ok('secrets set -q a.env A one');
    here.write('.coffer.yaml', rules(0));
    return repository;
  }

  it.each([
    [10, ''],
    [11, '; and 1 more'],
  ])('are refused where nobody can be asked, with up to ten losses: %i', async (taken, more) => {
    const repository = await withFewerRules(taken);
    const before = repository.here.read('a.env');
    const losses = Array.from(
      { length: 10 },
      (_, at) => `the rule for f${at}.env was removed, or applies to other files`,
    ).join('; ');
    expect(await repository.refused('secrets set a.env A two', 1)).toBe(
      `coffer: .coffer.yaml may encrypt less than when it was last used here: ${losses}${more} (.coffer.yaml has uncommitted changes) (review the changes to .coffer.yaml; if they are right, use --yes)`,
    );
    expect(repository.here.read('a.env')).toBe(before);
  });

  it('are used after a yes, and not after a no', async () => {
    const repository = await withFewerRules(1);
    const before = repository.here.read('a.env');
    expect(await repository.refused('secrets set a.env A two', 1, [false])).toContain(
      'coffer: the changes to .coffer.yaml were not confirmed (review the changes',
    );
    expect(repository.here.read('a.env')).toBe(before);
    await repository.ok('secrets set -q --yes a.env A two');
    expect(await repository.ok('secrets get -q a.env A')).toBe('two');
  });
});
