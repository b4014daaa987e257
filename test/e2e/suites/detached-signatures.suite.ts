import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isLong } from '../../long.ts';
import type { Suite } from './index.ts';

/** A key of the last type takes seconds to be found. */
const TYPES = [
  'ed25519',
  'ecdsa-p256',
  'ecdsa-p384',
  'ecdsa-p521',
  'rsa-2048',
  ...(isLong ? ['rsa-4096'] : []),
];

export const detachedSignaturesSuite: Suite = (here) => {
  const program = (file: string, words: readonly string[], input?: string) =>
    spawnSync(file, words, {
      cwd: here().directory,
      input: input && readFileSync(here().file(input)),
      encoding: 'utf8',
    });
  const file = (name: string, content: string | Uint8Array): void =>
    writeFileSync(here().file(name), content);

  it.each(TYPES)('signs with %s what ssh-keygen verifies', async (type) => {
    const name = `ssh-${type}`;
    await here().ok(`transit keys create ${name} --type ${type}`);
    file('artifact', randomBytes(100_000));
    rmSync(here().file('artifact.sig'), { force: true });
    await here().ok(`sign artifact --key ${name}`);
    const lines = await here().ok(`transit keys public ${name} --format allowed-signers --identity release`);
    file('signers', `${lines}\n`);
    const verify = ['-Y', 'verify', '-n', 'file', '-f', 'signers', '-I', 'release', '-s', 'artifact.sig'];
    expect(program('ssh-keygen', verify, 'artifact').stdout).toContain('Good "file" signature for release');
    file('another', 'something else');
    expect(program('ssh-keygen', verify, 'another').status).not.toBe(0);
    for (const trust of ['--allowed-signers signers --identity release', `--key ${name}`]) {
      expect(await here().ok(`verify artifact ${trust}`)).toMatch(/^artifact: valid \(ssh, SHA256:/);
      expect(await here().run(`verify another artifact.sig ${trust}`)).toMatchObject({
        exitCode: 5,
        stdout: expect.stringContaining('not valid: the file or the signature was modified') as string,
      });
    }
  });

  it("signs in minisign's format, with a comment that is signed, too", async () => {
    await here().ok('transit keys create mini --type ed25519');
    file('package', randomBytes(5_000));
    await here().ok([
      'sign',
      'package',
      '--key',
      'mini',
      '--format',
      'minisign',
      '--comment',
      'version 1.2.3',
    ]);
    file('mini.pub', await here().ok('transit keys public mini --format minisign'));
    expect(await here().json('verify package --public-key mini.pub')).toMatchObject({
      valid: true,
      format: 'minisign',
      comment: 'version 1.2.3',
    });
    expect(await here().json('verify package --key mini')).toMatchObject({ valid: true });
    const text = readFileSync(here().file('package.minisig'), 'utf8');
    file('package.minisig', text.replace('1.2.3', '6.6.6'));
    expect(await here().run('verify package --public-key mini.pub')).toMatchObject({
      exitCode: 5,
      stdout: 'package: not valid: the comment of the signature was modified\n',
    });
    await here().ok('transit keys create not-mini --type ecdsa-p256');
    expect(await here().refused('sign package --key not-mini --format minisign --force', 2)).toContain(
      'Ed25519',
    );
  });

  it('signs a list of sums that sha256sum checks, and verifies the list with its files', async () => {
    await here().ok('transit keys create lists --type ed25519');
    mkdirSync(here().file('dist/deep'), { recursive: true });
    for (const name of ['a', 'b', 'deep/c']) file(`dist/${name}`, name);
    await here().ok('sign dist/a dist/b dist/deep/c --key lists --manifest dist/SHA256SUMS');
    const list = readFileSync(here().file('dist/SHA256SUMS'), 'utf8');
    expect(list.split('\n').map((line) => line.slice(66))).toEqual(['a', 'b', 'deep/c', '']);
    execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], {
      cwd: here().file('dist'),
      stdio: 'ignore',
    });
    const verify = () => here().run('verify dist/SHA256SUMS --manifest --key lists');
    expect(await verify()).toMatchObject({ exitCode: 0 });
    file('dist/b', 'altered');
    expect(await verify()).toMatchObject({
      exitCode: 5,
      stdout: 'dist/SHA256SUMS: not valid: b does not match its checksum in the list\n',
    });
    rmSync(here().file('dist/deep/c'));
    expect((await verify()).stdout).toContain('b does not match its checksum in the list, and 1 more');
    file('dist/SHA256SUMS', list.replace('  a', '  ../a'));
    expect(await verify()).toMatchObject({ exitCode: 5 });
    await here().ok('sign dist/SHA256SUMS --key lists --force');
    expect(await here().refused('verify dist/SHA256SUMS --manifest --key lists', 2)).toContain(
      'outside of its directory',
    );
    expect(await here().refused('sign dist/a --key lists --manifest dist/deep/SUMS', 2)).toContain(
      'outside the directory',
    );
  });

  it('verifies signatures of the transit engine with a public key alone, after a rotation, too', async () => {
    file('text', 'what was signed');
    for (const [type, options] of [
      ['ed25519', []],
      ['ecdsa-p384', ['--hash-algorithm', 'sha2-384', '--marshaling-algorithm', 'jws']],
      ['rsa-2048', ['--signature-algorithm', 'pkcs1v15']],
      ['ml-dsa-65', []],
    ] as const) {
      const name = `plain-${type}`;
      await here().ok(`transit keys create ${name} --type ${type}`);
      const signature = await here().ok(['transit', 'sign', name, '--in', 'text', ...options]);
      file('text.transit', `${signature}\n`);
      file(`${name}.pem`, await here().ok(`transit keys public ${name}`));
      await here().ok(`transit keys rotate ${name} --force`);
      const alone = here().with({ COFFER_STORE: here().file('no-store'), COFFER_ADDR: undefined });
      for (const given of ['text.transit', signature]) {
        const words = ['verify', 'text', given, '--public-key', `${name}.pem`, ...options];
        expect(await alone.run(words)).toMatchObject({ exitCode: 0, stderr: '' });
      }
      expect((await here().run(['verify', 'text', 'text.transit', '--key', name, ...options])).exitCode).toBe(
        0,
      );
      const wrong = await here().run(['verify', 'text.transit', 'text.transit', '--key', name, ...options]);
      expect(wrong.exitCode).toBe(5);
    }
  });

  it('prints public keys in the forms of other programs', async () => {
    await here().ok('transit keys create shown --type ecdsa-p256');
    const pem = await here().ok('transit keys public shown');
    expect(pem).toMatch(/^-----BEGIN PUBLIC KEY-----/);
    const jwk = JSON.parse(await here().ok('transit keys public shown --format jwk')) as object;
    expect(jwk).toMatchObject({ kty: 'EC', crv: 'P-256', kid: 'shown-v1' });
    expect(jwk).not.toHaveProperty('d');
    await here().ok('transit keys public shown --format der --out shown.der');
    const openssl = program('openssl', ['pkey', '-pubin', '-inform', 'DER', '-in', 'shown.der']);
    expect(openssl.stdout.trim()).toBe(pem);
    file('shown.pub', await here().ok('transit keys public shown --format ssh'));
    expect(program('ssh-keygen', ['-l', '-f', 'shown.pub']).stdout).toContain('(ECDSA)');
    await here().ok('transit keys rotate shown --force');
    expect((await here().ok('transit keys public shown --format allowed-signers')).split('\n')).toHaveLength(
      2,
    );
    expect(await here().ok('transit keys public shown --version 1')).toBe(pem);
    await here().refused('transit keys public shown --version 7', 3);
    await here().ok('transit keys create secret --type aes256-gcm96');
    expect(await here().refused('transit keys public secret', 2)).toContain('has no public key');
  });

  it('verifies with no key that is soft-deleted, until it is restored', async () => {
    await here().ok('transit keys create retired --type ed25519');
    file('memo', 'kept');
    await here().ok('sign memo --key retired');
    await here().ok('transit keys soft-delete retired');
    expect(await here().refused('verify memo --key retired', 1)).toContain(
      'refusing to use soft-deleted key (restore it first with "coffer transit keys soft-delete-restore retired")',
    );
    await here().ok('transit keys soft-delete-restore retired');
    expect(await here().ok('verify memo --key retired')).toContain('memo: valid');
  });

  it('says of a signature by another key that a version may also have made it that verifies nothing any more', async () => {
    for (const [name, retire, which] of [
      ['dropped', 'transit keys revoke dropped 1 --force', 'revoked (1)'],
      [
        'moved',
        'transit keys config moved --min-decryption-version 2',
        'older than its min_decryption_version, 2',
      ],
    ] as const) {
      await here().ok(`transit keys create ${name} --type ed25519`);
      file(`by-${name}`, 'kept');
      await here().ok(`sign by-${name} --key ${name}`);
      await here().ok(`transit keys rotate ${name} --force`);
      expect(await here().ok(`verify by-${name} --key ${name}`)).toContain('valid');
      await here().ok(retire);
      const { exitCode, stdout } = await here().run(`verify by-${name} --key ${name}`);
      expect({ exitCode, stdout }).toMatchObject({
        exitCode: 5,
        stdout: expect.stringMatching(
          /not valid: the signature was created with another key, SHA256:\S+, or /,
        ),
      });
      expect(stdout).toContain(`, or a version of ${name} that is ${which}\n`);
    }
  });

  it('keeps a signature that is there, and leaves nothing behind a key that can not sign', async () => {
    await here().ok('transit keys create once --type ed25519');
    file('kept', 'kept');
    await here().ok('sign kept --key once');
    const before = readFileSync(here().file('kept.sig'), 'utf8');
    expect(await here().refused('sign kept --key once', 6)).toContain('kept.sig already exists');
    expect(readFileSync(here().file('kept.sig'), 'utf8')).toBe(before);
    await here().ok('sign kept --key once --force');
    expect(statSync(here().file('kept.sig')).mode & 0o777).toBe(0o666 & ~process.umask());
    renameSync(here().file('kept.sig'), here().file('signature'));
    await here().refused('sign kept --key nobody', 3);
    await here().refused('sign nowhere --key once', 2);
    await here().ok('transit keys create silent --type aes256-gcm96');
    await here().refused('sign kept --key silent', 2);
    expect(() => statSync(here().file('kept.sig'))).toThrow('ENOENT');
    expect(await here().refused('verify kept --key once', 3)).toContain('kept.sig');
    expect(await here().refused('verify kept signature', 2)).toContain('no public key given to verify with');
    file('piped', await here().ok('sign - --key once', { input: 'kept' }));
    await here().ok('verify kept piped --key once');
  });
};
