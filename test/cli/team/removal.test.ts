import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Environment } from '../../../src/cli/given.ts';
import { Session } from '../../../src/cli/session.ts';
import { grant } from '../../../src/cli/team/acts.ts';
import { Changes } from '../../../src/cli/team/changes.ts';
import { openKeyring } from '../../../src/cli/team/keyring.ts';
import { placeIn } from '../../../src/cli/team/place.ts';
import { type CofferError, expected } from '../../../src/ground/errors.ts';
import { systemRandom } from '../../../src/ground/random.ts';
import { freshIdentity, recipientOfIdentity } from '../../../src/transit/envelope/age/recipients.ts';
import { promptsDouble, streamsDouble } from '../streams.double.ts';
import { RepositoryHere } from './repository-here.ts';

const freshKey = (): string => recipientOfIdentity(freshIdentity(systemRandom));
const RULES = 'rules:\n  - files: "*.env"\n    key: app\n';

/** A repository of Ann, with Bob as a member and a file with two values. */
async function withBob(): Promise<RepositoryHere> {
  const repository = new RepositoryHere();
  await repository.ok('team init -q');
  repository.here.write('.coffer.yaml', RULES);
  await repository.ok('secrets set -q a.env A one');
  await repository.ok('secrets set -q a.env B two');
  await repository.ok('team add bob --new -q');
  return repository;
}

/** Makes Dave an admin, with an SSH key. */
async function addDave(repository: RepositoryHere): Promise<void> {
  const { here } = repository;
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'dave', '-f', here.file('home/dave')]);
  const key = here.read('home/dave.pub').trim();
  await here.ok(['team', 'add', 'dave', key, '--admin', '-q'], repository.as());
}

function sessionOf(repository: RepositoryHere, more: Environment = repository.as().environment): Session {
  const environment = { HOME: repository.here.file('home'), ...more };
  return new Session(streamsDouble(), environment, new Map(), promptsDouble([], false), () =>
    Promise.reject(new Error('nothing is run')),
  );
}

/** Changes of a keyring that no command makes. */
async function changesOf(repository: RepositoryHere, environment?: Environment): Promise<Changes> {
  const session = sessionOf(repository, environment);
  const { path } = repository.here;
  const keyring = await openKeyring(session, { place: placeIn(path, path), isChange: true });
  return Changes.begin(session, keyring);
}

describe('the removal of a member', () => {
  it('re-encrypts all values of the keyring, whatever rules name and git ignores, and nothing else', async () => {
    const repository = await withBob();
    const { here } = repository;
    here.write('.gitignore', 'ignored.env\nlocal/\n');
    here.write('conf/x.json', '{}\n');
    here.write('local/b.env', '');
    for (const line of ['ignored.env A x', 'local/b.env A y', 'conf/x.json A z --key app'])
      await repository.ok(`secrets set -q ${line}`);
    here.write('odd.conf', 'A=one\n');
    await repository.ok('secrets encrypt -q odd.conf --key app --format dotenv');
    const example = `A: coffer:app:v1:${Buffer.alloc(40, 5).toString('base64')}\n`;
    here.write('example.yaml', example);
    here.write('README.md', 'coffer:app:v1:BASE64\n');
    here.write('.coffer.yaml', 'rules:\n  - files: nothing.env\n    key: app\n');
    const { exitCode, err } = await here.run('team remove bob --yes', repository.as());
    expect(exitCode).toBe(0);
    for (const listed of ['a.env: A, B', 'ignored.env: A', 'local/b.env: A', 'conf/x.json: A'])
      expect(err).toContain(`\n  ${listed}\n`);
    for (const [file, values] of Object.entries({
      'a.env': 2,
      'ignored.env': 1,
      'local/b.env': 1,
      'conf/x.json': 1,
    }))
      expect(here.read(file).match(/coffer:app:v2:/g), file).toHaveLength(values);
    expect(await repository.ok('secrets get local/b.env A')).toBe('y');
    expect(err).toContain('odd.conf has encrypted values, but its name does not tell its format');
    expect(here.read('example.yaml')).toBe(example);
    expect(err).not.toMatch(/example|README/);
    expect(err).toMatch(/^To commit it: git add \.coffer (?:a\.env conf\/x\.json|conf\/x\.json a\.env)$/m);
  });

  it('re-encrypts the other values of a file with one that is refused, which is named and left', async () => {
    const repository = await withBob();
    const { here } = repository;
    const [stale = ''] = here.read('a.env').split('\n');
    await repository.ok('team remove bob --yes -q');
    here.write('a.env', here.read('a.env').replace(/^A=.*$/m, stale));
    await repository.ok('team add frank --new -q');
    const { exitCode, err } = await here.run('team remove frank --yes', repository.as());
    expect(exitCode).toBe(0);
    expect(err).toContain('a.env:1: A: version 1 of key "app" is known to removed members (bob');
    expect(err).toContain('which asks about each such value of the file; with --yes, it accepts all of them');
    expect(here.read('a.env')).toMatch(/^A=coffer:app:v1:.*\nB=coffer:app:v3:/);
    expect(await repository.ok('secrets get a.env B')).toBe('two');
    const checked = await here.run('team check', repository.as());
    expect(checked).toMatchObject({ exitCode: 1 });
    expect(checked.out).toContain('a.env:1: A: version 1 of key "app" is known to removed members (bob');
    expect(checked.out).not.toContain('a.env:2');
  });

  it('says who has the same key and stays, and a second name for a key is refused', async () => {
    const repository = await withBob();
    const key = freshKey();
    await repository.ok(`team add carol ${key} -q`);
    const before = repository.facts;
    expect(await repository.refused(`team add carol2 ${key}`, 6)).toContain('carol already has this key');
    expect(repository.facts).toEqual(before);
    const changes = await changesOf(repository);
    await grant(changes, { name: 'carol2', role: 'user', keys: [key], sign: undefined });
    const { err } = await repository.here.run('team remove carol --yes', repository.as());
    expect(err).toContain('carol2 has the same key as carol, and can still decrypt everything with it');
  });

  it('of oneself says that another admin must go on, whose command re-encrypts all', async () => {
    const repository = await withBob();
    const { here } = repository;
    await addDave(repository);
    const { exitCode, err } = await here.run('team remove ann --yes', repository.as());
    expect(exitCode).toBe(0);
    expect(err).toContain('You removed yourself (ann). Nothing is re-encrypted yet');
    expect(err).toContain('\n  a.env: A, B\n');
    expect(err).not.toContain('All keys have a new version');
    const [, command = ''] = /git pull && coffer (team remove ann --yes)/.exec(err) ?? [];
    await repository.ok(command, 'dave');
    expect(here.read('a.env').match(/coffer:app:v2:/g)).toHaveLength(2);
    expect(await repository.ok('secrets get a.env A', 'dave')).toBe('one');
  });

  it('asks about no card of the person at the machine, but about one that has the key of somebody else too', async () => {
    const repository = await withBob();
    const { here } = repository;
    await addDave(repository);
    const [own, foreign] = [freshIdentity(systemRandom), freshKey()];
    appendFileSync(here.file('home/ann'), `\n${own}\n`);
    writeFileSync(here.file('home/second'), `${own}\n`, { mode: 0o600 });
    const environment = { ...repository.as('dave').environment, XDG_STATE_HOME: here.file('home/other') };
    const { trust } = JSON.parse(await repository.ok('team -o json')) as { readonly trust: string };
    await here.ok(['team', 'trust', trust, '-q'], { environment });
    const changes = await changesOf(repository, environment);
    for (const keys of [[recipientOfIdentity(own)], [recipientOfIdentity(own), foreign]])
      await grant(changes, { name: 'ann', role: 'user', keys, sign: undefined });
    const { exitCode, err } = await here.run('team remove bob --yes', repository.as());
    expect(exitCode).toBe(0);
    expect(err.match(/ann is new to this machine/g)).toHaveLength(1);
    expect(err).toContain(`(ann has ${recipientOfIdentity(own)}, ${foreign}; `);
    expect(await repository.ok('secrets get a.env A', 'second')).toBe('one');
  });
});

it('a copy of a clone names the one that is trusted here, and the command with its ID', async () => {
  const repository = await withBob();
  const { here } = repository;
  for (const name of ['.git', '.coffer'])
    cpSync(here.file(name), here.file(`copy/${name}`), { recursive: true });
  const copy = here.file('copy');
  const opened = openKeyring(sessionOf(repository), { place: placeIn(copy, copy) });
  const { hint } = (await opened.catch(expected)) as CofferError;
  expect(hint).toContain(`this machine trusts the keyring with this ID in ${here.path}`);
  const [, id = ''] = /coffer team trust (\S+)"/.exec(hint ?? '') ?? [];
  expect(id.replaceAll('-', '')).toBe(repository.idOf('store.'));
});
