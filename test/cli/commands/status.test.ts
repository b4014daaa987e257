import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../../src/cli/command-line.ts';
import { systemRandom } from '../../../src/ground/random.ts';
import { spelled } from '../../../src/team/names.ts';
import { freshIdentity } from '../../../src/transit/envelope/age/recipients.ts';
import { emptyPlace, MASTER_KEY, type Place, removePlace } from '../../e2e/harness.ts';
import { cleanUpAfterAll, issueToken, startServer, temporaryDirectory } from '../../servers/serving.ts';
import { DirectoryHere } from '../directory-here.ts';
import { streamsDouble } from '../streams.double.ts';

let here: Place;
beforeAll(async () => {
  here = emptyPlace().with({ COFFER_MASTER_KEY: MASTER_KEY, NO_COLOR: '1' });
  await here.ok('init');
});
afterAll(() => removePlace(here));

/** Runs a command on a terminal of that width; in a pipe without one. */
async function shown(line: string, columns = 0): Promise<{ readonly out: string }> {
  const streams = streamsDouble(columns === 0 ? {} : { terminals: ['out', 'err'], columns });
  await runCommandLine(line.split(' '), streams, here.environment());
  return streams.written;
}

/** Rows of a table with two columns. */
const rowsOf = (out: string): readonly string[] =>
  out.split('\n').flatMap(
    (line) =>
      line
        .match(/^│ (.+?) +│ (.+?) +│$/)
        ?.slice(1, 3)
        .join(': ') ?? [],
  );

describe('a status', () => {
  it('shows the state of the store in brief, and all that is known of it with -o wide', async () => {
    const { out } = await shown('status', 80);
    expect(rowsOf(out)).toEqual([
      `Directory: ${here.file('store')}`,
      'State: unlocked',
      'Opens with: master key',
      'Created: just now',
      'Keys: 0',
      'Mounts: 1',
      'Organizations: 0',
    ]);
    expect(out).toContain('More: coffer status -o wide\n');
    for (const field of ['format', 'id', 'files', 'generation', 'revision'])
      expect((await shown('status -o wide', 120)).out).toContain(`│ ${field} `);
    expect((await shown('status')).out).toMatch(
      /^state\tunlocked\nopens with\traw\ndirectory\t.*\nformat\t2\n/,
    );
    const wide = (await shown('status -o wide', 120)).out.toLowerCase();
    for (const row of rowsOf(out)) expect(wide).toContain(`│ ${row.split(': ')[0]?.toLowerCase()} `);
    const agent = (await shown('agent status', 200)).out;
    expect(agent).toContain('│ State  │ no agent');
    expect(agent).toContain('More: coffer agent status -o wide\n');
    expect((await shown('agent status')).out).toContain('locked\ttrue\n');
  });

  it('names the keyring of the repository and the member that this user is, on a terminal alone', async () => {
    const repository = DirectoryHere.make({ NO_COLOR: '1' });
    for (const path of ['.git/objects', '.git/refs', 'home'])
      mkdirSync(repository.file(path), { recursive: true });
    repository.write('.git/HEAD', 'ref: refs/heads/main\n');
    for (const name of ['ann', 'eve'])
      writeFileSync(repository.file(`home/${name}`), freshIdentity(systemRandom), { mode: 0o600 });
    const as = (name: string, more: object = {}) => ({
      environment: { COFFER_IDENTITY_FILE: repository.file(`home/${name}`), ...more },
    });
    const terminal = { terminals: ['out', 'err'], columns: 120 } as const;
    await repository.ok('team init -q --name ann', as('ann'));
    const log = JSON.parse(await repository.ok('team log -o json', as('ann'))) as {
      readonly facts: readonly { readonly id: string }[];
    };
    const id = spelled(log.facts[0]?.id ?? '');
    const own = await repository.run('status', { ...as('ann'), ...terminal });
    expect(rowsOf(own.out)).toEqual([`Keyring: ${id}`, 'Member: ann (admin)']);
    expect(await repository.run('status', as('ann'))).toMatchObject({ exitCode: own.exitCode, out: '' });
    expect(rowsOf((await repository.run('status', { ...as('eve'), ...terminal })).out)[1]).toBe(
      'Member: unknown: no member has one of your keys',
    );
    const elsewhere = as('ann', { COFFER_STATE: 'none' });
    expect(rowsOf((await repository.run('status', { ...elsewhere, ...terminal })).out)).toEqual([
      'Keyring: not trusted on this machine: run "coffer team trust ID", with the ID that a colleague tells you',
    ]);
    await repository.ok('init');
    const beside = rowsOf((await repository.run('status', { ...as('ann'), ...terminal })).out);
    expect(beside).toEqual(expect.arrayContaining(['State: unlocked', `Keyring: ${id}`]));
  });

  describe('of a server', () => {
    const cleaning = cleanUpAfterAll();
    let home: string;
    let address: string;
    let directory: string;
    let file: string;
    let tokens: { readonly ada: string; readonly narrow: string };
    beforeAll(async () => {
      home = temporaryDirectory(cleaning);
      file = join(home, 'audit.log');
      const server = await startServer({ auditFile: file }, cleaning);
      ({ address, directory } = server);
      const ada = { policies: ['default'], display_name: 'ada', ttl: '2h' };
      tokens = {
        ada: await issueToken(server.directory, ada),
        narrow: await issueToken(server.directory, { policies: ['enc'], no_default_policy: true }),
      };
    });
    const seen = async (token: string | undefined, line = 'status', columns = 120) => {
      const streams = streamsDouble(columns === 0 ? {} : { terminals: ['out', 'err'], columns });
      const environment = { HOME: home, COFFER_ADDR: address, NO_COLOR: '1', COFFER_TOKEN: token };
      expect(await runCommandLine(line.split(' '), streams, environment)).toBe(0);
      return streams.written.out;
    };

    it('says who is logged in, with which policies and for how long', async () => {
      expect(rowsOf(await seen(tokens.ada)).slice(3)).toEqual([
        'Logged in as: token-ada',
        'Policies: default',
        'Token expires: in 1 hour',
      ]);
    });

    it('says that there is no token, or that the token may not look itself up', async () => {
      expect(rowsOf(await seen(undefined)).slice(3)).toEqual(['Logged in: no: run "coffer login"']);
      expect(rowsOf(await seen(tokens.narrow)).slice(3)).toEqual([
        'Logged in as: unknown: the token is invalid, or its policies do not allow looking it up',
      ]);
    });

    it('costs a token with a limited number of uses one of them, and none in a pipe', async () => {
      const limited = await issueToken(directory, { policies: ['default'], ttl: '1h', num_uses: 2 });
      for (const columns of [0, 0, 0]) expect(await seen(limited, 'status', columns)).toContain(address);
      for (const _ of [1, 2])
        expect(rowsOf(await seen(limited)).slice(3)).toEqual(expect.arrayContaining(['Policies: default']));
      expect(rowsOf(await seen(limited)).slice(3)).toEqual([
        'Logged in as: unknown: the token is invalid, or its policies do not allow looking it up',
      ]);
    });

    it('sends nothing more in a pipe and with -o json', async () => {
      const before = readFileSync(file, 'utf8');
      expect(await seen(tokens.ada, 'status', 0)).not.toContain('token-ada');
      expect(await seen(tokens.ada, 'status -o json')).not.toContain('token-ada');
      expect(readFileSync(file, 'utf8')).toBe(before);
    });
  });
});
