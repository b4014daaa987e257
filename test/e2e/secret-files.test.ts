import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, statSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Certificates } from '../store/postgres/certificates.ts';
import { emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';

const isRoot = process.geteuid?.() === 0;
const SOMEBODY = 12_345;
const PASSPHRASE = 'correct horse battery staple';

const MODES: readonly (readonly [mode: number, whatOthersMay: string])[] = [
  [0o604, 'read'],
  [0o602, 'written'],
  [0o660, 'written'],
  // Root's files may be read by a group, as those in /run/credentials are.
  ...(isRoot ? [] : [[0o640, 'read'] as const]),
];

let here: Place;
let owner: Place;
let certificateFile = '';
const contents: Record<string, string> = {};

beforeAll(async () => {
  here = emptyPlace();
  owner = here.with({ COFFER_MASTER_KEY: MASTER_KEY });
  await owner.ok('init');
  await owner.with({ COFFER_NEW_PASSPHRASE: PASSPHRASE }).ok('slots add --passphrase');
  const certified = new Certificates(here.directory).authority('own');
  certificateFile = certified.certificateFile;
  contents['certificate'] = certified.key;
  contents['shares'] = await owner.ok('slots add --shares 2 --threshold 2');
  contents['passphrase'] = PASSPHRASE;
});
afterAll(() => removePlace(here));

const database = 'status --store postgres://me@127.0.0.1:1/d';

describe.skipIf(process.platform === 'win32')('a file with a secret', () => {
  it.each([
    ['key', 'a master key', 'doctor', 'COFFER_MASTER_KEY_FILE'],
    ['passphrase', 'a passphrase', 'doctor', 'COFFER_PASSPHRASE_FILE'],
    ['shares', 'recovery shares', 'doctor', 'COFFER_SHARES_FILE'],
    ['key', 'the key file of a new slot', 'slots add --key-file FILE', undefined],
    ['key', 'the passphrase of a new slot', 'slots add --passphrase-file FILE', undefined],
    ['key', 'a token', 'transit keys list --address http://127.0.0.1:1 --token-file FILE', undefined],
    [
      'certificate',
      'our key for a database',
      `${database}?sslmode=require&sslcert=CERTIFICATE&sslkey=FILE`,
      undefined,
    ],
    [
      'certificate',
      'the key of a server',
      'serve --listen 192.0.2.1:1 --tls-cert CERTIFICATE --tls-key FILE',
      undefined,
    ],
  ])(
    'is refused while others have rights to it, until its hint was followed (%s: %s)',
    async (content, _, line, variable) => {
      const file = here.file(`secret-${content}`);
      writeFileSync(file, contents[content] ?? MASTER_KEY);
      const words = line.replace('FILE', file).replace('CERTIFICATE', certificateFile);
      const place = variable === undefined ? owner : here.with({ [variable]: file });
      for (const [mode, how] of MODES) {
        chmodSync(file, mode);
        const { exitCode, stderr } = await place.run(words);
        expect({ exitCode, stderr }).toEqual({
          exitCode: 1,
          stderr: expect.stringContaining(`${file} can be ${how} by others (run "chmod 600 ${file}")\n`),
        });
        execFileSync('sh', ['-c', / \(run "(.*)"\)\n$/.exec(stderr)?.[1] ?? 'false']);
        expect((await place.run(words)).stderr).not.toContain('by others');
      }
    },
  );

  it.runIf(isRoot)('is refused when it is of another user than us and root', async () => {
    const file = here.file('foreign');
    writeFileSync(file, MASTER_KEY, { mode: 0o600 });
    chownSync(file, SOMEBODY, 0);
    const place = here.with({ COFFER_MASTER_KEY_FILE: file });
    const line = await place.refused('doctor', 1);
    expect(line).toContain(
      `${file} belongs to user ${SOMEBODY}, you are user 0 (run "chown 0 ${file} && chmod 600 ${file}" as root)`,
    );
    execFileSync('sh', ['-c', /run "(.*)" as root\)$/.exec(line)?.[1] ?? 'false']);
    await place.ok('doctor');
  });

  it('comes from a pipe, a descriptor or standard input as before', async () => {
    writeFileSync(here.file('open'), MASTER_KEY);
    chmodSync(here.file('open'), 0o644);
    const { stdout, stderr, exitCode } = await here.shell(
      [
        `mkfifo -m 666 pipe; echo ${MASTER_KEY} > pipe & COFFER_MASTER_KEY_FILE=pipe coffer doctor`,
        `COFFER_MASTER_KEY_FILE=<(echo ${MASTER_KEY}) coffer doctor`,
        'COFFER_MASTER_KEY_FILE=/dev/fd/3 coffer doctor 3< open',
        'COFFER_MASTER_KEY_FILE=/proc/self/fd/3 coffer doctor 3< open',
        'COFFER_MASTER_KEY_FILE=/dev/stdin coffer doctor < open',
        `echo ${MASTER_KEY} | COFFER_MASTER_KEY_FILE=/dev/stdin coffer doctor`,
        `COFFER_MASTER_KEY_FILE=/dev/stdin coffer doctor <<< ${MASTER_KEY}`,
      ].join(' && '),
    );
    expect({ exitCode, stdout: stdout.split('\n').length > 7, stderr }).toMatchObject({ exitCode: 0 });
  });

  it('is no certificate of an authority, which everybody may read', async () => {
    const authority = { COFFER_CACERT: certificateFile, COFFER_TOKEN: 'x' };
    chmodSync(certificateFile, 0o644);
    expect(
      (await owner.with(authority).run('transit keys list --address https://127.0.0.1:1')).stderr,
    ).toContain('connection refused');
  });
});

describe.skipIf(process.platform === 'win32')('an audit log', () => {
  it('that others may write to is refused, and one that they may only read is taken', async () => {
    const file = here.file('audit.log');
    writeFileSync(file, '');
    const serve = `serve --listen 127.0.0.1:0 --socket ${here.file('no/such/place')} --audit-log ${file}`;
    chmodSync(file, 0o664);
    expect(await owner.refused(serve, 1)).toContain(
      `${file} can be written by others (run "chmod go-w ${file}")`,
    );
    execFileSync('chmod', ['go-w', file]);
    expect(statSync(file).mode & 0o777).toBe(0o644);
    expect((await owner.run(serve)).stderr).not.toContain('by others');
    if (!isRoot) return;
    chownSync(file, SOMEBODY, 0);
    expect(await owner.refused(serve, 1)).toContain(`${file} belongs to user ${SOMEBODY}, you are user 0`);
  });
});

describe.runIf(isRoot)('the socket of a server', () => {
  it('that belongs to another user is used with a warning', async () => {
    const path = here.file('left.sock');
    // What a killed server leaves behind.
    const script = `require('net').createServer().listen('${path}', () => process.kill(process.pid, 'SIGKILL'))`;
    spawnSync(process.execPath, ['-e', script]);
    const list = `transit keys list --address unix:${path} --token x`;
    expect((await here.run(list)).stderr).not.toContain('warning');
    chownSync(path, SOMEBODY, 0);
    expect((await here.run(list)).stderr).toContain(
      `coffer: warning: ${path} belongs to another user (uid ${SOMEBODY}): that user can read the token and data\n`,
    );
  });
});
