import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { promptsDouble, streamsDouble } from '../cli/streams.double.ts';
import { selfSignedBetween } from '../servers/self-signed.ts';
import { type ServerProcess, startServerProcess } from '../servers/server-process.ts';
import { flip, named } from './followed.ts';
import { binary, emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';
import { filledPlace } from './typed.ts';

/* Mistakes of somebody who is new here: the cause is named, and what a hint says works as it stands. */

/** Dates of a certificate that is valid long after this code was written. */
const LATER = ['20900101000000Z', '20910101000000Z'] as const;

let bare: Place;
let here: Place;
let running: ServerProcess;

beforeAll(async () => {
  ({ bare, here } = await filledPlace([
    'transit keys create orders',
    'transit keys create releases --type ed25519',
  ]));
  writeFileSync(bare.file('report.txt'), 'hello\n');
  mkdirSync(bare.file('folder'));
  running = await startServerProcess([binary, 'serve', '--listen', '127.0.0.1:0', '-q'], {
    directory: here.directory,
    environment: here.environment(),
  });
});
afterAll(async () => {
  await running.stop();
  removePlace(bare);
});

describe('a place that was not meant', () => {
  it.each(['--store', '--store='])(
    'is a directory named ~ in %s, which nothing is created in',
    async (option) => {
      const words = option === '--store' ? ['--store', '~/s'] : ['--store=~/s'];
      for (const line of [['init'], ['status']])
        expect(await here.refused([...line, ...words], 2)).toBe(
          'coffer: --store: cannot use ~/s as a store (the shell does not expand ~ in quotes or after =: use "$HOME/s", or ./~/s for a directory named ~)',
        );
      expect(readdirSync(bare.directory)).not.toContain('~');
    },
  );

  it('is told of by the name of the variable that it comes from', async () => {
    const wrong = here.with({ COFFER_STORE: '~/s' });
    expect(await wrong.refused('status', 2)).toContain('coffer: COFFER_STORE: cannot use ~/s');
    expect(await here.with({ COFFER_ADDR: 'localhost:8200' }).refused('status', 2)).toContain(
      'coffer: COFFER_ADDR: invalid server address "localhost:8200"',
    );
    expect(await here.refused('status --address localhost:8200', 2)).toContain('coffer: --address: invalid');
    const token = here.with({ COFFER_ADDR: running.address, COFFER_TOKEN: 'schlüssel' });
    expect(await token.refused('transit keys list', 2)).toContain('coffer: COFFER_TOKEN: not a valid token');
  });

  it('is an empty one, of a variable that is not set', async () => {
    expect(await here.refused(['status', '--store', ''], 2)).toBe(
      'coffer: --store: the location of the store is empty (if the location comes from a variable, check that the variable is set)',
    );
    expect(await here.refused(['store', 'copy', '', 'copy'], 2)).toContain('FROM: the location of the store');
    expect(await here.refused('store copy store ~/copy', 2)).toContain('TO: cannot use ~/copy as a store');
  });

  it('is the URL of something else, which no directory is made for and no password is shown of', async () => {
    const url = 'postgress://owner:geheim@db.example.com/coffer';
    const said = 'invalid store location: unknown scheme "postgress" (did you mean "postgres://"?)';
    for (const line of ['init', 'status', 'serve', 'store restore report.txt', 'store migrate', 'agent run'])
      expect(await here.refused([...line.split(' '), '--store', url], 2)).toBe(`coffer: --store: ${said}`);
    expect(await here.refused(['store', 'copy', 'store', url], 2)).toBe(`coffer: TO: ${said}`);
    expect(await here.refused(['store', 'copy', url, 'copy'], 2)).toBe(`coffer: FROM: ${said}`);
    expect(await here.with({ COFFER_STORE: url }).refused('init', 2)).toBe(`coffer: COFFER_STORE: ${said}`);
    expect(readdirSync(bare.directory).join()).not.toContain('postgres');
  });

  it('is a file', async () => {
    expect(await here.refused('status --store report.txt', 3)).toBe(
      'coffer: no store in report.txt (this path is a file: use the directory of the store)',
    );
    expect(await here.refused('init --store report.txt', 1)).toBe(
      'coffer: report.txt is a file (use an empty or new directory)',
    );
  });

  it.each([
    ['transit encrypt orders --in ~/report.txt', '--in: cannot read ~/report.txt: no such file'],
    ['secrets encrypt ~/a.env --key orders', 'cannot read ~/a.env: no such file'],
    ['keygen --out ~/key', '--out: cannot write ~/key: no such directory'],
  ])('is a file below a directory named ~ in "%s"', async (line, said) => {
    const refusal = await here.refused(line, 2);
    expect(refusal).toContain(said);
    expect(refusal).toContain('use "$HOME/');
  });

  it('is named with the @ of other options', async () => {
    expect(await here.refused('transit encrypt orders --in @report.txt', 2)).toContain(
      '(omit the @: only a file',
    );
  });
});

describe('a command in a hint', () => {
  it('is for the store that the command line names', async () => {
    const place = here.with({ COFFER_STORE: undefined });
    const refusal = await place.refused('transit keys list --store new', 3);
    await place.ok(named(refusal, 'init --store new'));
    const missing = await place.refused('transit keys read zzz --store new', 3);
    await place.ok(named(missing, 'transit keys list --store new'));
  });

  it('is for the server that the command line names', async () => {
    const token = await here.ok('token create --policy root');
    const place = here.with({ COFFER_STORE: undefined, COFFER_TOKEN: token });
    const missing = await place.refused(`transit keys read zzz --address ${running.address}`, 3);
    await place.ok(named(missing, `transit keys list --address ${running.address}`));
  });

  it('lists the names of a kind that has none of the name', async () => {
    const refusal = await here.refused('tags list --org nowhere', 3);
    expect(refusal).toContain('organization "nowhere" not found');
    await here.ok(named(refusal, 'orgs list'));
  });
});

describe('a secret of another kind than the store has', () => {
  it('is named, and so is the variable for the right one', async () => {
    const streams = streamsDouble({ terminals: ['in', 'out', 'err'] });
    const environment = bare.with({ COFFER_PASSPHRASE: 'wrong' }).environment();
    expect(await runCommandLine(['transit', 'keys', 'list'], streams, environment, promptsDouble())).toBe(4);
    expect(streams.written.err.replaceAll('\n', ' ')).toContain(
      'COFFER_PASSPHRASE does not unlock the store; it can be unlocked with a master key: set COFFER_MASTER_KEY_FILE=FILE',
    );
  });

  it('is a master key in quotes', async () => {
    const quoted = bare.with({ COFFER_MASTER_KEY: `"${MASTER_KEY}"` });
    expect(await quoted.refused('transit keys list', 2)).toBe(
      'coffer: COFFER_MASTER_KEY must be 32 bytes in base64 or hex (remove the quotes around the key)',
    );
  });
});

describe('a server', () => {
  it('is found by the address that is named when the scheme was wrong', async () => {
    const { port } = new URL(running.address);
    const place = here.with({ COFFER_TOKEN: await here.ok('token create --policy root') });
    const refusal = await place.refused(`transit keys list --address https://127.0.0.1:${port}`, 1);
    expect(refusal).toContain(`the server does not use TLS (use http://127.0.0.1:${port})`);
    await place.ok(`transit keys list --address http://127.0.0.1:${port}`);
  });

  it('says of a token whether it is not valid, or may not do this', async () => {
    const place = here.with({ COFFER_ADDR: running.address });
    const ended = await here.ok('token create --policy root');
    await here.ok(['token', 'revoke', ended, '--yes']);
    for (const COFFER_TOKEN of ['wrong', ended])
      expect(await place.with({ COFFER_TOKEN }).refused('transit keys list', 4)).toBe(
        'coffer: permission denied (the token is unknown, expired, revoked or not valid from your address: log in again with "coffer login", or use another token)',
      );
    expect(await place.with({ VAULT_TOKEN: ended }).refused('transit keys list', 4)).toBe(
      'coffer: permission denied (the token is from VAULT_TOKEN; it is unknown, expired, revoked or not valid from your address: log in again with "coffer login", or use another token)',
    );
    writeFileSync(here.file('.vault-token'), ended, { mode: 0o600 });
    const ofVault = place.with({ HOME: here.directory });
    expect(await ofVault.refused('transit keys list', 4)).toContain(
      '(the token is from ~/.vault-token; it is unknown, expired, revoked or not valid from your address: ',
    );
    const COFFER_TOKEN = await here.ok('token create --policy default');
    writeFileSync(here.file('.vault-token'), COFFER_TOKEN, { mode: 0o600 });
    expect(await ofVault.refused('transit keys list', 4)).toContain(
      '(the token is from ~/.vault-token; its policies must grant',
    );
    expect(await place.with({ COFFER_TOKEN }).refused('transit keys list', 4)).toContain(
      'policies must grant "list" on transit/keys',
    );
  });

  it('is trusted by a file that has a certificate', async () => {
    const place = here.with({ COFFER_ADDR: 'https://127.0.0.1:1', COFFER_CACERT: here.file('report.txt') });
    expect(await place.refused('transit keys list', 2)).toContain('COFFER_CACERT: no certificate in');
  });

  it('has a certificate that is not valid yet when a clock is wrong', async () => {
    mkdirSync(bare.file('later'));
    const { pem, keyFile, certificateFile } = selfSignedBetween(bare.file('later'), LATER);
    const server = createServer({ cert: pem, key: readFileSync(keyFile) });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const place = here.with({ COFFER_ADDR: `https://127.0.0.1:${port}`, COFFER_CACERT: certificateFile });
    expect(await place.refused('transit keys list', 1)).toContain(
      "the server's certificate is not valid yet (correct the clock of this machine,",
    );
  });

  it.each([
    ['127.0.0.1:99999', '(no port is higher than 65535: use another one, e.g. 127.0.0.1:8200)'],
    ['[::1]:70000', 'use another one, e.g. [::1]:8200)'],
    ['8203', '(use 127.0.0.1:8203)'],
    [':8203', '(use 127.0.0.1:8203)'],
    ['localhost', '(use localhost:8200)'],
    ['::1', '(use [::1]:8200)'],
    ['127.0.0.1:abc', '(a port is a number: use 127.0.0.1:8200)'],
    ['8203x', '(a port is a number: use 127.0.0.1:8203)'],
    ['[::1]:8203x', '(a port is a number: use [::1]:8203)'],
  ])('does not listen on %s, and says what was meant', async (address, said) => {
    expect(await here.refused(`serve --listen ${address}`, 2)).toContain(said);
  });
});

describe('a name', () => {
  it('that was exchanged with the value is the one that was meant', async () => {
    expect(await here.refused('transit sign report.txt releases', 3)).toBe(
      'coffer: key "report.txt" not found (did you mean "releases"?)',
    );
  });

  it('with a slash is told that the mount is not part of it', async () => {
    expect(await here.refused('transit keys read transit/orders', 2)).toContain(
      'the mount is not part of the name',
    );
  });

  it.each([
    ['report.txt', 3, 'no key "report.txt", and the file of that name has no recipients (use age1…'],
    ['bob.txt', 3, 'no key "bob.txt" (for the recipients in the file, use @bob.txt)'],
    ['ec.pub', 3, 'no key "ec.pub", and the file of that name has no recipients (use age1…'],
    ['@ec.pub', 2, 'ec.pub has a key in PEM, not a recipient (use one age1… recipient'],
    [
      'bob@example.com',
      2,
      'not a recipient: "bob@example.com" (use age1…, an SSH public key, @FILE, or the name',
    ],
  ])('that is no recipient: %s', async (word, exitCode, said) => {
    writeFileSync(here.file('ec.pub'), '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n');
    await here.run('transit keys create bob --type x25519');
    writeFileSync(here.file('bob.txt'), `${await here.ok('transit keys public bob --format age')}\n`);
    expect(
      await here.refused(`transit envelope encrypt --recipient ${word} --in report.txt`, exitCode),
    ).toContain(said);
  });
});

describe('a tag with a value', () => {
  it.each([
    ['workspaces tag billing team=x', 2],
    ['tags attach team=x --workspace billing', 3],
    ['tags create team=x', 2],
  ])('is set with workspaces bind: %s', async (line, exitCode) => {
    await here.run('orgs create pairs');
    await here.run('workspaces create billing --org pairs');
    const place = line.includes('billing') ? 'billing' : 'WS';
    expect(await here.refused(`${line} --org pairs`, exitCode)).toContain(
      `(tags with a value are set on a workspace with "coffer workspaces bind ${place} team=x --org pairs")`,
    );
  });
});

describe('a ciphertext', () => {
  it('is no encrypted file, and names the command that decrypts it', async () => {
    const text = await here.ok('transit encrypt orders hello');
    writeFileSync(bare.file('c.txt'), `${text}\n`);
    const decrypt = 'coffer transit decrypt';
    expect(await here.refused(`transit envelope decrypt ${text}`, 2)).toContain(`"${decrypt} KEY ${text}"`);
    expect(await here.refused(`transit envelope decrypt orders ${text}`, 2)).toContain(
      `"${decrypt} orders ${text}"`,
    );
    expect(await here.refused('transit envelope decrypt --in c.txt', 1)).toContain(
      `(it is a ciphertext: run "${decrypt} KEY --in c.txt")`,
    );
  });
});

describe('versions that are deleted', () => {
  it('need one change of the settings, which the first refusal names', async () => {
    await here.ok('transit keys create trimmed');
    await here.ok('transit keys rotate trimmed');
    const set = 'transit keys config trimmed --min-decryption-version 2 --min-encryption-version 2';
    const trim = 'transit keys trim trimmed --min-available-version 2 --yes';
    expect(await here.refused(trim, 2)).toContain(`(run "coffer ${set}" first)`);
    await here.ok(set);
    await here.ok(trim);
  });
});

describe('a list in a table', () => {
  it('has the same columns in a pipe as on a terminal', async () => {
    expect(await here.ok('transit keys list -o table')).toMatch(
      /^Name +Type +Latest version +Created +Rotated\n/,
    );
    expect(await here.ok('transit keys list')).not.toContain('Type');
  });
});

describe('help of environment variables', () => {
  it('is wrapped in a pipe as on a terminal of 80 columns', async () => {
    for (const line of (await here.ok('help environment')).split('\n'))
      expect(line.length).toBeLessThanOrEqual(80);
  });
});

describe('a file', () => {
  it('of a public key is no private key', async () => {
    writeFileSync(bare.file('id.pub'), 'ssh-ed25519 AAAA\n', { mode: 0o644 });
    writeFileSync(bare.file('sent.age'), 'age-encryption.org/v1\n-> X25519 AAAA\nAAAA\n--- AAAA\n');
    expect(await here.refused('transit envelope decrypt sent.age --identity id.pub', 2)).toBe(
      'coffer: --identity: id.pub is a public key (use the private key, id)',
    );
  });

  it.each([
    ['edit folder', 'cannot read folder: is a directory', 2],
    ['secrets encrypt folder', '(name the files in the directory; "coffer secrets check" lists those', 2],
    ['transit envelope encrypt orders --in folder', '--in: no files in folder', 2],
    ['store backup folder', 'folder is a directory (use the name of a file in it)', 6],
  ])('is no directory: %s', async (line, said, exitCode) => {
    expect(await here.refused(line, exitCode)).toContain(said);
  });

  it('with a line that is none of a .env says what to look for', async () => {
    writeFileSync(bare.file('b.env'), 'A=1\nNOPE\n');
    expect(await here.refused('secrets encrypt b.env --key orders', 2)).toContain(
      'b.env:2: this line is neither NAME=value nor a comment (check that this is a .env file and that no quote is missing)',
    );
  });

  it('with a value that was moved says from where, also for one value', async () => {
    writeFileSync(bare.file('moved.env'), 'A=one\nB=two\n');
    await here.ok('secrets encrypt moved.env --key orders');
    const sealed = readFileSync(bare.file('moved.env'), 'utf8');
    writeFileSync(
      bare.file('moved.env'),
      sealed.replace(/^A=(.*)\nB=(.*)$/m, (_, a: string, b: string) => `A=${b}\nB=${a}`),
    );
    expect(await here.refused('secrets get moved.env A', 4)).toBe(
      'coffer: moved.env:1: A: this value was encrypted under another name, B (move the value back to that name, or set A again)',
    );
  });

  it('that is no backup of a key says what is', async () => {
    expect(await here.refused('transit restore', 2, { input: 'junk' })).toContain(
      '(use the unchanged output of "coffer transit backup NAME")',
    );
  });
});

it('a ciphertext with spaces in it is told of them', async () => {
  const ciphertext = await here.ok(['transit', 'encrypt', 'orders', 'x'.repeat(60)]);
  const spaced = ciphertext.replace(/.{40}/, '$& ');
  expect(await here.refused(['transit', 'decrypt', 'orders', spaced], 2)).toContain(
    '(remove the spaces in it;',
  );
});

it('doctor says of the only key slot, when it is damaged, that a backup is needed', async () => {
  const place = here.with({ COFFER_STORE: here.file('only') });
  await place.ok('init');
  const [slot = ''] = readdirSync(here.file('only/generation-1/slots'));
  flip(here.file(`only/generation-1/slots/${slot}`));
  const { stdout } = await place.run('doctor -o json');
  expect(stdout).toContain('restore a backup to a new location');
  expect(stdout).not.toContain('unlock with another slot');
});

it('a directory of somebody else is not said to have a store', async ({ skip }) => {
  chmodSync(bare.file('folder'), 0o500);
  // Even root creates nothing in /sys.
  const refusal = await here.refused(`init --store ${process.geteuid?.() === 0 ? '/sys' : 'folder'}/s`, 1);
  if (refusal.includes('read-only')) return skip('/sys is mounted read-only');
  expect(refusal).toContain('(use a directory that you can write to)');
});

describe('an address in a variable at which nothing answers', () => {
  it('is answered with the way back to the local store, which --address is not', async () => {
    const here = emptyPlace().with({ COFFER_MASTER_KEY: MASTER_KEY });
    await here.ok('init');
    const address = 'http://127.0.0.1:1';
    const elsewhere = here.with({ COFFER_ADDR: address });
    for (const line of ['status', 'transit keys list'])
      expect(await elsewhere.refused(line, 1)).toContain(
        'is running at the address in COFFER_ADDR; to use the local store, run "unset COFFER_ADDR")',
      );
    expect(await elsewhere.refused('doctor', 2)).toContain(
      'run it on the machine with the store, after "unset COFFER_ADDR"; --store DIR takes precedence',
    );
    expect(await here.refused(`status --address ${address}`, 1)).not.toContain('unset');
    removePlace(here);
  });
});
