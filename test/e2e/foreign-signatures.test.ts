import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTurn } from '../in-turn.ts';
import { rounds } from '../long.ts';
import { binary, local, type Place } from './harness.ts';
import { server } from './server.ts';
import { canUseTerminals, onTerminal } from './terminal.ts';

/*
 * Signatures, keys and lists come from strangers; and what others have written for theirs is read as their own programs read it.
 */

const GIBI = 2 ** 30;
const MAX_RESIDENT = 120 * 2 ** 20;

let here: Place;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ place: here, stop } = await local.start());
  await here.ok('transit keys create release --type ed25519');
  await here.ok('transit keys create curve --type ecdsa-p256');
  write('message', 'a message');
});
afterAll(() => stop());

const write = (name: string, content: string | Uint8Array): void => writeFileSync(here.file(name), content);
const read = (name: string): string => readFileSync(here.file(name), 'utf8');
const program = (file: string, words: readonly string[], input?: string) =>
  spawnSync(file, words, { cwd: here.directory, input, encoding: 'utf8' });

describe('a list of sums', () => {
  it('that names a pipe, a device or a directory is answered at once', async () => {
    mkdirSync(here.file('odd'));
    for (const name of ['pipe', 'device', 'folder', 'plain']) write(`odd/${name}`, name);
    await here.ok('sign odd/pipe odd/device odd/folder odd/plain --key release --manifest odd/SUMS');
    for (const name of ['pipe', 'device', 'folder']) rmSync(here.file(`odd/${name}`));
    execFileSync('mkfifo', [here.file('odd/pipe')]);
    symlinkSync('/dev/zero', here.file('odd/device'));
    mkdirSync(here.file('odd/folder'));
    const line = ['verify', 'odd/SUMS', '--manifest', '--key', 'release'];
    expect(await here.run(line)).toMatchObject({
      exitCode: 5,
      stdout: 'odd/SUMS: not valid: pipe is not a file, and 2 more\n',
    });
    expect(JSON.parse((await here.run([...line, '-o', 'json'])).stdout)).toMatchObject({
      valid: false,
      files: [
        { name: 'pipe', valid: false },
        { name: 'device', valid: false },
        { name: 'folder', valid: false },
        { name: 'plain', valid: true },
      ],
    });
  });

  it('is not on itself when the same line is typed again, and has each file once', async () => {
    mkdirSync(here.file('dist'));
    for (const name of ['one', 'two']) write(`dist/${name}`, name);
    const sign = 'coffer sign dist/* ./dist/one --key release --manifest dist/SHA256SUMS --force';
    for (const turn of [1, 2]) {
      expect({ turn, ...(await here.shell(sign)) }).toMatchObject({ turn, exitCode: 0 });
      expect(read('dist/SHA256SUMS').trimEnd().split('\n')).toHaveLength(2);
      expect((await here.run('verify dist/SHA256SUMS --manifest --key release')).exitCode).toBe(0);
    }
    expect(await here.refused('sign dist/SHA256SUMS --key release --manifest dist/SHA256SUMS', 2)).toContain(
      'cannot list itself',
    );
  });

  it.skipIf(!canUseTerminals)('can do nothing to a terminal with a name', async () => {
    mkdirSync(here.file('names'));
    write('names/evil\u001b[2J\u009b5n', 'x');
    await here.shell('coffer sign names/evil* --key release --manifest names/SUMS');
    rmSync(here.file('names/evil\u001b[2J\u009b5n'));
    const { screen, exitCode } = onTerminal(here, 'coffer verify names/SUMS --manifest --key release');
    expect(exitCode).toBe(5);
    expect(screen).toContain('is missing');
    expect(screen).not.toContain('\u001b[2J');
    expect(screen).not.toContain('\u009b');
  });
});

describe('what is signed', () => {
  it('says where a signature could not be written, and which option said so, if one did', async () => {
    write('odd-one', 'one');
    mkdirSync(here.file('odd-one.sig'));
    expect(await here.refused('sign odd-one --key release', 2)).toBe('coffer: odd-one.sig is a directory');
    expect(await here.refused('sign odd-one --key release --manifest odd-one.sig', 2)).toBe(
      'coffer: --manifest: odd-one.sig is a directory',
    );
  });

  it('is never signed for no purpose at all, which ssh-keygen would not verify', async () => {
    const refusal = /^coffer: --namespace: the namespace must not be empty \(omit --namespace for "file"/;
    expect(await here.refused(['sign', 'message', '--key', 'release', '--namespace', ''], 2)).toMatch(
      refusal,
    );
    const verify = ['verify', 'message', 'message.sig', '--key', 'release', '--namespace', ''];
    expect(await here.refused(verify, 2)).toMatch(refusal);
  });

  it('may come through a named pipe, which is opened once', async () => {
    execFileSync('mkfifo', [here.file('stream')]);
    expect((await here.shell('cat message > stream & coffer sign stream --key release')).exitCode).toBe(0);
    expect(await here.run('verify message stream.sig --key release')).toMatchObject({ exitCode: 0 });
  });

  it('may be standard input for several keys, whatever they want of it', async () => {
    const keys = await inTurn(['curve', 'release'], (name) => here.ok(`transit keys public ${name}`));
    await here.ok('transit keys rotate curve --force');
    keys.unshift(await here.ok('transit keys public curve'));
    write('several.pem', keys.join('\n'));
    for (const [name, version] of [
      ['curve', 1],
      ['curve', 2],
      ['release', 1],
    ] as const) {
      write('signature', await here.ok(`transit sign ${name} --key-version ${version} --in message`));
      const verify = 'verify - signature --public-key several.pem';
      expect(await here.run(verify, { input: 'a message' })).toMatchObject({ exitCode: 0 });
      expect(await here.run(verify, { input: 'another' })).toMatchObject({ exitCode: 5 });
    }
  });

  it('takes little memory, and shows how far it is', () => {
    write('large', '');
    truncateSync(here.file('large'), GIBI / 2);
    const measured =
      'import resource,subprocess,sys\n' +
      'code=subprocess.call(sys.argv[1:])\n' +
      'print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)';
    const words = [process.execPath, binary, 'sign', 'large', '--key', 'release', '--force'];
    const { stdout } = spawnSync('python3', ['-c', measured, ...words], {
      cwd: here.directory,
      env: here.environment(),
      encoding: 'utf8',
    });
    const [exitCode, kibibytes] = stdout.split(' ').map(Number);
    expect(exitCode).toBe(0);
    expect((kibibytes ?? Number.POSITIVE_INFINITY) * 1024).toBeLessThan(MAX_RESIDENT);
    if (!canUseTerminals) return;
    const { text } = onTerminal(here, 'coffer verify large --key release');
    expect(text).toMatch(/\d+ % {2}[\d.]+ [MG]iB of 512\.0 MiB/);
    expect(text).toContain('large: valid (ssh, SHA256:');
  });
});

describe('a public key', () => {
  it('that signs nothing of the kind is another key, not a defect', async () => {
    await here.ok('transit keys create hashes --type slh-dsa-sha2-128f');
    write('hashes.pem', await here.ok('transit keys public hashes'));
    await here.ok('sign message --key release --format minisign --force');
    await here.ok('sign message --key release --force');
    for (const ending of ['sig', 'minisig']) {
      const verdict = await here.run(`verify message message.${ending} --public-key hashes.pem`);
      expect(verdict).toMatchObject({ exitCode: 5, stderr: '' });
      expect(verdict.stdout).toContain('another key');
    }
    expect(await here.refused('sign message --key hashes --format minisign --force', 2)).toContain(
      'Ed25519 keys',
    );
  });

  it('that is not there is told by its name, and its option', async () => {
    const refused = await here.refused('verify message message.sig --public-key nowhere.pub', 2);
    expect(refused).toMatch(
      /^coffer: --public-key: "nowhere\.pub" is neither a file nor a public key \(use /,
    );
  });

  it('that is too large, or begins and begins, is refused at once with its name', async () => {
    write('huge', Buffer.alloc(2 ** 20 + 1));
    expect(await here.refused('verify message message.sig --public-key huge', 2)).toContain(
      '--public-key: huge is larger than 1024 KiB',
    );
    expect(await here.refused('verify message huge --public-key hashes.pem', 2)).toContain(
      'huge is larger than',
    );
    write('begins', '-----BEGIN A-----\n'.repeat(50_000));
    expect(await here.refused('verify message message.sig --public-key begins', 2)).toContain(
      'not a public key',
    );
  });
});

describe('allowed signers', () => {
  it('with a line that nobody understands say so to whom it concerns', async () => {
    const line = await here.ok('transit keys public release --format ssh');
    write('signers', `me valid-befor="20200101" ${line}\nyou ${line}\n`);
    await here.ok('sign message --key release --force');
    expect((await here.run('verify message --allowed-signers signers --identity you')).exitCode).toBe(0);
    const { exitCode, stdout } = await here.run('verify message --allowed-signers signers --identity me');
    expect(exitCode).toBe(5);
    expect(stdout).toMatch(
      /does not allow SHA256:\S+ to sign as me; line 1 has the unknown option "valid-befor"\n$/,
    );
  });

  it('may be many', async () => {
    const line = (await here.ok('transit keys public release --format ssh')).split(' ').slice(0, 2).join(' ');
    write('signers', `a ${line}\n`.repeat(rounds(100_000)));
    await here.ok('sign message --key release --force');
    expect((await here.run('verify message --allowed-signers signers --identity a')).exitCode).toBe(0);
  });
});

describe('as ssh-keygen for git', () => {
  const keygen = (words: string) => here.run(`ssh-keygen -Y ${words} -s message.sig`, { input: 'a message' });

  it('names each who may have signed on a line of its own', async () => {
    const line = await here.ok('transit keys public release --format ssh');
    write('signers', `me@example.com,you@example.com ${line}\n`);
    await here.ok('sign message --key release --force');
    const theirs = program('ssh-keygen', ['-Y', 'find-principals', '-f', 'signers', '-s', 'message.sig']);
    const { stdout } = await keygen('find-principals -f signers');
    expect(stdout).toBe('me@example.com\nyou@example.com\n');
    expect(stdout).toBe(theirs.stdout);
    expect((await keygen('verify -n file -f signers -I you@example.com')).exitCode).toBe(0);
  });

  it('refuses keys that were revoked', async () => {
    const line = await here.ok('transit keys public release --format ssh');
    write('signers', `me ${line}\n`);
    await here.ok('sign message --key release --force');
    const verify = 'verify -n file -f signers -I me -r revoked';
    write('revoked', `# none\nsk-ssh-ed25519@openssh.com ${Buffer.from('\0\0\0\x01a').toString('base64')}\n`);
    expect((await keygen(verify)).exitCode).toBe(0);
    write('revoked', `${line}\n`);
    expect(await keygen(verify)).toMatchObject({ exitCode: 255, stderr: 'Could not verify signature.\n' });
    write('revoked', 'what\n');
    expect((await keygen(verify)).stderr).toContain('revoked keys, line 1');
    program('ssh-keygen', ['-q', '-k', '-f', 'revoked']);
    expect(await keygen(verify)).toMatchObject({ exitCode: 2 });
    expect((await keygen(verify)).stderr).toContain('binary key revocation lists');
  });
});

describe.skipIf(spawnSync('minisign', ['-v']).status !== 0)('minisign', () => {
  it('verifies what we sign, and we what it signs, hashed or not', async () => {
    write('release.pub', `${await here.ok('transit keys public release --format minisign')}\n`);
    await here.ok('sign message --key release --format minisign --comment hello --force');
    const theirs = program('minisign', ['-V', '-p', 'release.pub', '-m', 'message']);
    expect(theirs.stdout).toContain('Trusted comment: hello');
    write('altered', 'another message');
    expect(
      program('minisign', ['-V', '-p', 'release.pub', '-m', 'altered', '-x', 'message.minisig']).status,
    ).toBe(1);
    program('minisign', ['-G', '-W', '-f', '-p', 'theirs.pub', '-s', 'theirs.key']);
    for (const how of ['-H', '-l']) {
      program('minisign', [
        '-S',
        how,
        '-s',
        'theirs.key',
        '-m',
        'message',
        '-x',
        'theirs.minisig',
        '-t',
        'from them',
      ]);
      expect(await here.json('verify message theirs.minisig --public-key theirs.pub')).toMatchObject({
        comment: 'from them',
      });
      expect((await here.run('verify altered theirs.minisig --public-key theirs.pub')).exitCode).toBe(5);
    }
  });
});

describe('a token that may sign with one key and read it', () => {
  it.each(['ed25519', 'ecdsa-p384', 'rsa-2048'])('is enough to sign files with %s', async (type) => {
    const running = await server.start();
    try {
      const { place: owner } = running;
      await owner.ok(`transit keys create release --type ${type}`);
      writeFileSync(owner.file('policy.hcl'), POLICY);
      await owner.ok('policy write signer policy.hcl');
      const signer = owner.with({ COFFER_TOKEN: await owner.ok('token create --policy signer') });
      writeFileSync(signer.file('release.tar.gz'), 'a release');
      await signer.ok('sign release.tar.gz --key release');
      await signer.ok('verify release.tar.gz --key release');
      const blind = owner.with({ COFFER_TOKEN: await owner.ok('token create --policy default') });
      expect(await blind.refused('sign release.tar.gz --key release --force', 4)).toContain(
        '"read" on transit/keys/release',
      );
      // Nobody writes into the pipe: a token that may not sign is refused before anything is read.
      writeFileSync(owner.file('reader.hcl'), POLICY.split('\n', 2).join('\n'));
      await owner.ok('policy write reader reader.hcl');
      const reader = owner.with({ COFFER_TOKEN: await owner.ok('token create --policy reader') });
      execFileSync('mkfifo', [reader.file('pipe')]);
      expect(await reader.refused('sign pipe --key release', 4)).toContain(
        '"update" on transit/sign/release',
      );
    } finally {
      await running.stop();
    }
  });
});

/** As in docs/scripts-and-ci.md. */
const POLICY = `
path "transit/keys/release" { capabilities = ["read"] }
path "transit/sign/release" { capabilities = ["update"] }
`;
