import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Place, removePlace } from './harness.ts';
import { filledPlace } from './typed.ts';

/* What a command refuses of its own line: nothing is written, and the exit code says that it was the line. */

let bare: Place;
let here: Place;
beforeAll(async () => {
  ({ bare, here } = await filledPlace(
    [
      'transit keys create orders',
      'transit keys create releases --type ed25519',
      'transit keys create others --type ed25519',
      'orgs create acme',
    ],
    { COFFER_ORG: 'acme' },
  ));
  writeFileSync(bare.file('report.txt'), 'hello\n');
  writeFileSync(bare.file('tags.csv'), 'workspace,tag\n');
  execFileSync('git', ['init', '-q'], { cwd: bare.directory });
  for (const type of ['rsa', 'ed25519'])
    execFileSync('ssh-keygen', ['-q', '-t', type, '-N', '', '-f', bare.file(type)]);
});
afterAll(() => removePlace(bare));

/** Names of the files, except for those of the store. */
const files = (): string[] => readdirSync(bare.directory).sort();

describe('what does not go together', () => {
  it.each<[string | readonly string[], string]>([
    ['sign report.txt --key releases --format pgp', '--format: invalid format "pgp" (use ssh or minisign)'],
    [
      ['sign', 'report.txt', '--key', 'releases', '--comment', 'a\nb'],
      '--comment: the comment must be a single line',
    ],
    [
      ['sign', 'report.txt', '--key', 'releases', '--comment', 'a\rb'],
      '--comment: the comment must be a single line',
    ],
    [
      'sign report.txt - --key releases --manifest SUMS',
      '--manifest: standard input cannot be listed in a manifest: it has no name',
    ],
    ['sign report.txt', 'missing required option --key (use "coffer sign report.txt --key NAME"; '],
    ['sign - report.txt - --key releases', 'FILE: standard input can only be used once'],
    [
      'verify - SUMS.sig --manifest --key releases',
      'FILE: the manifest must be a file, because its entries are relative to it',
    ],
    ['verify - --key releases', 'missing required argument SIGNATURE (name the file with the signature)'],
    [
      'verify report.txt x --allowed-signers report.txt',
      '--allowed-signers and --identity must be used together (use --identity to name the expected signer)',
    ],
    [
      'verify report.txt x --identity ada --key releases',
      '--allowed-signers and --identity must be used together (use --allowed-signers to name the file of signers and their keys)',
    ],
    ['serve --store nowhere --tls-cert x', '--tls-cert and --tls-key must be used together (use both)'],
    ['serve --store nowhere --tls-key x', '--tls-cert and --tls-key must be used together (use both)'],
    ['serve --store nowhere --workers 257', '--workers: the number of workers must be 1 to 256'],
    [
      'agent run --address http://127.0.0.1:1 --idle 5m',
      '--idle cannot be used with a server (--address or COFFER_ADDR) (omit this option: the server writes the audit log, and limits the lifetime of the token)',
    ],
    ['secrets check --staged report.txt', 'FILE cannot be used with --staged (use only one of them)'],
    [
      'transit keys public releases --format pgp',
      '--format: invalid format "pgp" (use one of pem, der, jwk, ssh, allowed-signers, minisign, age)',
    ],
    [
      ['transit', 'keys', 'public', 'releases', '--format', 'allowed-signers', '--identity', 'a b'],
      '--identity: the identity cannot contain spaces or quotation marks',
    ],
    [
      ['transit', 'keys', 'public', 'releases', '--format', 'allowed-signers', '--identity', 'a"b'],
      '--identity: the identity cannot contain spaces or quotation marks',
    ],
    ['transit envelope encrypt orders --armor --in report.txt', '--armor needs --recipient or --passphrase'],
    [
      'transit envelope encrypt --recipient age1xyz --passphrase --in report.txt',
      '--recipient: --passphrase cannot be combined with recipients',
    ],
    [
      'transit envelope encrypt --passphrase --metadata a=b --in report.txt',
      '--metadata: files in the age format have no metadata',
    ],
    ['transit envelope rewrap orders', '--in: no file to rewrap (name the files with --in)'],
    [
      'transit envelope rewrap orders --in report.txt --recipient age1x',
      '--recipient: report.txt is not an age file, and only those have recipients',
    ],
    [
      'login jwt --method kubernetes --address http://127.0.0.1:1',
      'METHOD jwt contradicts --method kubernetes (use only one of them)',
    ],
    [
      'login userpass username=a/b --address http://127.0.0.1:1',
      'username: the user name must not contain "/"',
    ],
    ['tags export --format xml', '--format: invalid value "xml" (use one of csv, json, yaml)'],
    ['tags import tags.csv --format xml', '--format: invalid value "xml" (use one of csv, json, yaml)'],
    [
      'tags attach a b --workspace w --out x',
      '--out cannot be used with several tags (omit it, or use one tag)',
    ],
    ['agent offer orders', 'no protocol given (use --ssh'],
    [
      'policy who create transit/keys/x --key orders',
      'give either CAPABILITY and PATH, or --key and --operation',
    ],
  ])('is refused: %j', async (line, message) => {
    const before = files();
    expect(await here.refused(line, 2)).toContain(`coffer: ${message}`);
    expect(files()).toEqual(before);
  });

  it('is refused in a keyring as well', async () => {
    const as = (line: string) => `${line} --identity ed25519`;
    expect(await here.refused('team init --key Up/per --identity ed25519', 2)).toContain(
      'coffer: --key: invalid key name "Up/per" (use at most 64 letters, digits, "_" or "-"; ',
    );
    expect(existsSync(bare.file('.coffer'))).toBe(false);
    await here.ok(as('team init'));
    const keyring = () =>
      readdirSync(bare.directory, { recursive: true }).filter((name) => /\.coffer/.test(String(name)));
    const before = keyring();
    const lines: readonly (readonly [string, number, string])[] = [
      [as('team init'), 6, '.coffer already exists (run "coffer team" to show it)'],
      [as('team add Bob ed25519.pub'), 2, 'NAME: invalid member name "Bob"'],
      [as('team add con ed25519.pub'), 2, 'or be reserved on Windows, such as "con")'],
      ...['', ' Bob', ' --new'].map((rest): [string, number, string] => [
        as(`team add rsa.pub${rest}`),
        2,
        'NAME: the name of the member comes before the public key (run "coffer team add rsa rsa.pub")',
      ]),
      [as('team add ed25519.pub bob'), 2, '(run "coffer team add bob ed25519.pub")'],
      [as('team add bob'), 2, 'RECIPIENT: no key given for the new member'],
      [as('team add bob rsa.pub --new'), 2, 'RECIPIENT cannot be used with --new (use only one of them)'],
      [
        as('team add bob rsa.pub --admin'),
        2,
        'RECIPIENT: only a member with an ssh-ed25519 key can be added as an admin',
      ],
      [as('team key add a/b'), 2, 'KEY: invalid key name "a/b"'],
      [
        as('team key add app'),
        6,
        'key app already exists (run "coffer team key rotate app" to add a version)',
      ],
      [as('team key rotate mail'), 3, 'no key "mail" in this keyring'],
    ];
    for (const [line, code, message] of lines) expect(await here.refused(line, code)).toContain(message);
    expect(keyring()).toEqual(before);
    await here.ok(as('team add bob rsa.pub'));
    expect(await here.refused(as('team add bob rsa.pub'), 6)).toContain('bob already has this key');
    expect(await here.refused(as('team add bob ed25519.pub'), 6)).toMatch(
      /^coffer: \S+ already has this key/,
    );
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', bare.file('third')]);
    expect(await here.refused(as('team add bob third.pub'), 6)).toContain('bob is already a member');
  });
});

describe('ssh-keygen for git', () => {
  const keygen = (action: string, ...words: readonly string[]) => ['ssh-keygen', '-Y', action, ...words];

  beforeAll(async () => {
    const line = await here.ok('transit keys public releases --format ssh');
    writeFileSync(bare.file('releases.pub'), line);
    writeFileSync(bare.file('swapped.pub'), line.replace(/releases:v1/, 'others:v1'));
    writeFileSync(bare.file('signers'), `ada ${line}`);
    await here.ok(keygen('sign', '-n', 'git', '-f', 'releases.pub', 'report.txt'));
  });

  it('finds a signature good for its text, its namespace and its signer, and for no other', async () => {
    const verify = (namespace: string, identity: string, input: string) =>
      here.run(keygen('verify', '-n', namespace, '-f', 'signers', '-I', identity, '-s', 'report.txt.sig'), {
        input,
      });
    const check = (namespace: string, input: string) =>
      here.run(keygen('check-novalidate', '-n', namespace, '-s', 'report.txt.sig'), { input });
    expect((await verify('git', 'ada', 'hello\n')).stdout).toMatch(
      /^Good "git" signature for ada with ED25519/,
    );
    expect((await check('git', 'hello\n')).stdout).toMatch(/^Good "git" signature with ED25519/);
    for (const refused of [
      await verify('git', 'ada', 'hello'),
      await verify('file', 'ada', 'hello\n'),
      await verify('git', 'eve', 'hello\n'),
      await check('git', 'hello'),
      await check('file', 'hello\n'),
    ]) {
      expect(refused.exitCode).not.toBe(0);
      expect([refused.stdout, refused.stderr]).toEqual(['', 'Could not verify signature.\n']);
    }
  });

  it.each<[readonly string[], string]>([
    [keygen('match-principals', '-f', 'x'), 'ssh-keygen -Y match-principals is not supported'],
    [keygen('sign', '-n', 'git', '-f', 'releases.pub'), 'FILE: no file to sign'],
    [
      keygen('sign', '-n', 'git', '-f', 'ed25519.pub', 'report.txt'),
      '--file: this is not the public key of a named key',
    ],
    [
      keygen('sign', '-n', 'git', '-f', 'swapped.pub', 'report.txt'),
      '--file: the public key does not match version 1 of others',
    ],
    [keygen('sign', '-f', 'releases.pub', 'report.txt'), 'missing required option --namespace'],
    [
      keygen('verify', '-n', 'git', '-f', 'signers', '-s', 'report.txt.sig'),
      'missing required option --identity',
    ],
    [keygen('find-principals', '-f', 'signers'), 'missing required option --signature'],
    [
      keygen('find-principals', '-f', 'signers', '-s', 'report.txt.sig', '-O', 'verify-time=soon'),
      '-O: invalid option "verify-time=soon"',
    ],
  ])('refuses what it cannot do: %j', async (line, message) => {
    const before = readFileSync(bare.file('report.txt.sig'), 'utf8');
    expect(await here.refused(line, 2)).toContain(message);
    expect(readFileSync(bare.file('report.txt.sig'), 'utf8')).toBe(before);
  });
});
