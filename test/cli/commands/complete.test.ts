import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runCommandLine } from '../../../src/cli/command-line.ts';
import { systemRandom } from '../../../src/ground/random.ts';
import { freshIdentity } from '../../../src/transit/envelope/age/recipients.ts';
import { DirectoryHere } from '../directory-here.ts';
import { streamsDouble } from '../streams.double.ts';

/** What completion offers where a server has keys of these names. */
async function offered(keys: readonly string[]): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data: { keys } }));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const streams = streamsDouble();
  const { port } = server.address() as AddressInfo;
  const environment = { COFFER_ADDR: `http://127.0.0.1:${port}`, COFFER_TOKEN: 'any' };
  await runCommandLine(['complete', 'key', '--', 'coffer', 'transit', 'encrypt', ''], streams, environment);
  return streams.written.out;
}

it('completion offers no name that would do something to the terminal: not all shells make such names visible', async () => {
  const strange = ['\u001b[2J', 'a\u009b31m', 'b\u202e', 'c\u061c', 'two\nlines', 'with\ttab'];
  expect(await offered(['orders', ...strange, 'prés'])).toBe('orders\nprés\n');
});

describe('completion of names that depend on the line', () => {
  /** What completion offers after a command line that ends in a space. */
  const offeredAt = async (here: DirectoryHere, kind: string, line: string, environment: object = {}) => {
    const words = ['complete', kind, '--', ...`coffer ${line}`.split(' '), ''];
    const result = await here.run(words, { environment: { ...environment } });
    expect(result).toMatchObject({ exitCode: 0, err: '' });
    return result.out.split('\n').filter(Boolean);
  };

  it('has the keys that sign, and no others, after sign --key', async () => {
    const here = DirectoryHere.make();
    await here.run(['init']);
    for (const [name, type] of [
      ['orders', 'aes256-gcm96'],
      ['release', 'ed25519'],
      ['web', 'rsa-2048'],
    ] as const)
      await here.run(['transit', 'keys', 'create', name, '--type', type]);
    expect(await offeredAt(here, 'signing-key', 'sign app.tgz --key')).toEqual(['release', 'web']);
  });

  it('has the names of the only organization if none is given, and none if there are several', async () => {
    const here = await DirectoryHere.withStore();
    await here.ok('orgs create acme');
    await here.ok('workspaces create web api --org acme');
    await here.ok('workspaces tag web prod --org acme');
    const names = async () => [
      await offeredAt(here, 'workspace', 'workspaces tag'),
      await offeredAt(here, 'tag', 'workspaces tag web'),
    ];
    expect(await names()).toEqual([['api', 'web'], ['prod']]);
    await here.ok('orgs create other');
    expect(await names()).toEqual([[], []]);
  });

  it('has the names of the values of the file, without a key, and never a value', async () => {
    const here = DirectoryHere.make({ COFFER_MASTER_KEY: undefined });
    here.write('app.env', 'DB=s3cret\nMAIL=coffer:app:v1:aaaa\n');
    here.write('other', '{"db": {"password": "s3cret"}}');
    expect(await offeredAt(here, 'value', 'secrets get app.env')).toEqual(['DB', 'MAIL']);
    expect(await offeredAt(here, 'value', 'secrets get --copy -o json app.env')).toEqual(['DB', 'MAIL']);
    expect(await offeredAt(here, 'value', 'secrets unset --format json other')).toEqual(['db.password']);
  });

  it('has nothing, silently, for a file that is not there or cannot be read, and where no file is named', async () => {
    const here = DirectoryHere.make();
    here.write('broken.json', '{');
    mkdirSync(here.file('folder.env'));
    for (const line of [
      'secrets get',
      'secrets get no.env',
      'secrets get broken.json',
      'secrets get folder.env',
    ])
      expect(await offeredAt(here, 'value', line)).toEqual([]);
    expect(await offeredAt(here, 'value', 'nonsense app.env')).toEqual([]);
  });

  it('has the members of a keyring that this machine trusts', async () => {
    const here = DirectoryHere.make({ COFFER_STORE: undefined, COFFER_MASTER_KEY: undefined });
    for (const path of ['.git/objects', '.git/refs', 'home']) mkdirSync(here.file(path), { recursive: true });
    here.write('.git/HEAD', 'ref: refs/heads/main\n');
    expect(await offeredAt(here, 'member', 'team remove')).toEqual([]);
    writeFileSync(here.file('home/ann'), freshIdentity(systemRandom), { mode: 0o600 });
    const as = { environment: { COFFER_IDENTITY_FILE: here.file('home/ann') } };
    await here.ok('team init -q --name ann', as);
    expect(await offeredAt(here, 'member', 'team remove')).toEqual(['ann']);
    expect(await offeredAt(here, 'member', 'team remove', { COFFER_STATE: 'none' })).toEqual([]);
  });

  it('has the versions of the key', async () => {
    const here = await DirectoryHere.withStore();
    await here.ok('transit keys rotate app');
    expect(await offeredAt(here, 'key-version', 'transit encrypt app --key-version')).toEqual(['1', '2']);
    expect(await offeredAt(here, 'key-version', 'transit keys revoke app')).toEqual(['1', '2']);
    expect(await offeredAt(here, 'key-version', 'transit keys revoke nosuch')).toEqual([]);
    expect(await offeredAt(here, 'key-version', 'transit encrypt --key-version')).toEqual([]);
  });
});
