import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nssPkcs8 } from '../reference/incoming-keys.ts';
import fixtures from '../vectors/go-backups/backups.json' with { type: 'json' };
import { emptyPlace, type Place, type Result, removePlace } from './harness.ts';

/** Keys in and out of a store. */

let place: Place;

const file = (name: string): string => place.file(name);
const coffer = (line: string, input = ''): Promise<Result> => place.run(line, { input });

/** What a command that succeeds prints, and nothing beside it. */
async function printed(line: string, input = ''): Promise<string> {
  const { exitCode, stdout, stderr } = await coffer(line, input);
  expect({ line, exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({ line, exitCode: 0, stderr: '' });
  return stdout.trim();
}

beforeAll(async () => {
  place = emptyPlace({ COFFER_MASTER_KEY: randomBytes(32).toString('base64') });
  await printed('init');
});
afterAll(() => removePlace(place));

describe('transit backup and restore', () => {
  it('carry a key to another name, where it decrypts what the first one encrypted', async () => {
    await printed('transit keys create orders --exportable --allow-plaintext-backup');
    const ciphertext = await printed('transit encrypt orders hello');
    await printed(`transit backup orders --out ${file('orders.backup')}`);
    expect(statSync(file('orders.backup')).mode & 0o777).toBe(0o600);
    await printed(`transit restore copy --in ${file('orders.backup')}`);
    expect(await printed(`transit decrypt copy ${ciphertext}`)).toBe('hello');
  });

  it('refuse to replace a key unless forced', async () => {
    const backup = readFileSync(file('orders.backup'), 'utf8');
    expect(await coffer('transit restore', backup)).toMatchObject({
      exitCode: 6,
      stdout: '',
      stderr: expect.stringContaining('key "orders" already exists'),
    });
    await printed('transit restore --force', backup);
  });

  it('use a key of OpenBao offline on what it encrypted', async () => {
    const fixture = fixtures.find(({ name }) => name === 'aes256-gcm96') ?? expect.fail('no fixture');
    await printed('transit restore openbao', fixture.backup);
    const { text, message } = fixture.checks[0] ?? expect.fail('no check');
    expect(await printed(`transit decrypt openbao ${text}`)).toBe(Buffer.from(message, 'base64').toString());
  });

  it('refuse what is no backup, and keep the store as it was', async () => {
    const before = await printed('transit keys list');
    for (const junk of ['', 'hello', 'eyJhIjoxfQ==', '{"policy":{}}']) {
      expect(await coffer('transit restore junk', junk)).toMatchObject({ exitCode: 2, stdout: '' });
    }
    writeFileSync(file('zeros'), '');
    truncateSync(file('zeros'), 1024 ** 3);
    expect(await coffer(`transit restore junk --in ${file('zeros')}`)).toMatchObject({ exitCode: 2 });
    expect(await printed('transit keys list')).toBe(before);
  });
});

describe('transit import', () => {
  it('takes the private key that openssl made, and its public key, and signs for openssl', async () => {
    execFileSync('openssl', ['genpkey', '-algorithm', 'ed25519', '-out', file('private.pem')], {
      stdio: 'pipe',
    });
    execFileSync('openssl', ['pkey', '-in', file('private.pem'), '-pubout', '-out', file('public.pem')]);
    await printed(`transit import releases --type ed25519 --in ${file('private.pem')}`);
    await printed('transit import upstream --type ed25519', readFileSync(file('public.pem'), 'utf8'));
    const signature = await printed('transit sign releases hello');
    expect(await printed(`transit verify upstream hello --signature ${signature}`)).toBe('true');
    writeFileSync(file('message'), 'hello');
    writeFileSync(file('signature'), Buffer.from(signature.split(':')[2] ?? '', 'base64'));
    const verify = [
      'pkeyutl',
      '-verify',
      '-pubin',
      '-inkey',
      file('public.pem'),
      '-rawin',
      '-in',
      file('message'),
    ];
    execFileSync('openssl', [...verify, '-sigfile', file('signature')], { stdio: 'pipe' });
  });

  it('verifies what openssl signed with a key that stays outside', async () => {
    const sign = ['pkeyutl', '-sign', '-inkey', file('private.pem'), '-rawin', '-in', file('message')];
    const theirs = execFileSync('openssl', sign).toString('base64');
    expect(await printed(`transit verify upstream hello --signature service:v1:${theirs}`)).toBe('true');
    expect(await coffer(`transit verify upstream other --signature service:v1:${theirs}`)).toMatchObject({
      exitCode: 5,
    });
  });

  it('takes the RSA key for PSS that openssl made, and an ed25519 key that NSS wrote', async () => {
    execFileSync('openssl', ['genpkey', '-algorithm', 'RSA-PSS', '-out', file('pss.pem')], { stdio: 'pipe' });
    await printed(`transit import pss --type rsa-2048 --in ${file('pss.pem')}`);
    const signature = await printed('transit sign pss hello');
    expect(await printed(`transit verify pss hello --signature ${signature}`)).toBe('true');
    const base64 = nssPkcs8(Buffer.alloc(32)).toString('base64');
    const nss = `-----BEGIN PRIVATE KEY-----\n${base64}\n-----END PRIVATE KEY-----\n`;
    await printed('transit import nss --type ed25519', nss);
    // The public key of the seed of zeros, as OpenSSL computes it.
    expect(await printed('transit keys read nss -o json')).toContain(
      'O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik=',
    );
  });

  it.each([
    ['ed25519', ['ed25519']],
    ['ecdsa-p256', ['ecdsa', '-b', '256']],
    ['ecdsa-p521', ['ecdsa', '-b', '521']],
    ['rsa-3072', ['rsa', '-b', '3072']],
  ])('takes the %s key that ssh-keygen made, and its public key', async (type, kind) => {
    const path = file(`ssh-${type}`);
    execFileSync('ssh-keygen', ['-q', '-N', '', '-C', 'ada', '-f', path, '-t', ...kind]);
    await printed(`transit import ${type} --type ${type} --in ${path}`);
    await printed(`transit import ${type}-public --type ${type} --in ${path}.pub`);
    await printed(`transit import ${type}-named --type ${type} --public-key @${path}.pub`);
    const signature = await printed(`transit sign ${type} hello`);
    for (const name of [`${type}-public`, `${type}-named`]) {
      expect(await printed(`transit verify ${name} hello --signature ${signature}`)).toBe('true');
    }
  });

  it('refuses a key of ssh-keygen with a passphrase, and says what takes it off a copy', async () => {
    const [path, copy] = [file('ssh-passphrase'), file('ssh-copy')];
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'five words', '-f', path]);
    expect(await coffer(`transit import ada --type ed25519 --in ${path}`)).toMatchObject({
      exitCode: 2,
      stderr:
        'coffer: the SSH private key is encrypted with a passphrase ' +
        "(use a copy without it: cp KEY COPY && ssh-keygen -p -N '' -f COPY)\n",
    });
    const taking = `cp ${path} ${copy} && ssh-keygen -p -P 'five words' -N '' -f ${copy}`;
    execFileSync('sh', ['-c', taking], { stdio: 'pipe' });
    await printed(`transit import ada --type ed25519 --in ${copy}`);
  });

  it('takes a symmetric key in base64, wrapped on the way', async () => {
    const key = Buffer.alloc(32, 7).toString('base64');
    await printed('transit import imported --exportable', key);
    expect(await printed('transit keys export imported --key-type encryption-key')).toBe(key);
  });

  it('refuses what is no key of the type', async () => {
    expect(
      await coffer('transit import bad --type ecdsa-p256', readFileSync(file('private.pem'), 'utf8')),
    ).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('invalid key type: expected ecdsa, got ed25519'),
    });
    expect(
      await coffer('transit import bad', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----'),
    ).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('the private key cannot be read'),
    });
  });
});

describe('a private key where only what is public belongs', () => {
  it.each([
    ['transit import new --type ed25519 --public-key @both.pem', '--public-key contains', 'the public key'],
    ['transit derive-key shared --base-key-name base --in both.pem', 'PEM: this contains', 'the public key'],
    ['transit keys set-certificate releases --in both.pem', 'CHAIN: this contains', 'the certificates'],
    ['auth cert write ci --certificate @both.pem', '--certificate: this contains', 'the certificates'],
    [
      'auth jwt configure --jwt-validation-pubkeys @both.pem',
      '--jwt-validation-pubkeys: this contains',
      'the public keys or certificates',
    ],
  ])('is refused before anything is sent: %s', async (line, what, expected) => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const shown = publicKey.export({ format: 'pem', type: 'spki' });
    writeFileSync(file('both.pem'), `${shown}${privateKey.export({ format: 'pem', type: 'pkcs8' })}`);
    const offline = place.with({ COFFER_ADDR: 'http://127.0.0.1:1', COFFER_TOKEN: 'unused' });
    expect(await offline.run(line.replace('both.pem', file('both.pem')))).toMatchObject({
      exitCode: 2,
      stderr: `coffer: ${what} a private key (use only ${expected})\n`,
    });
  });
});

describe('transit byok-export', () => {
  it('gives what another store imports, without showing the key', async () => {
    const other = place.with({ COFFER_STORE: file('other') });
    await other.ok('init');
    await printed('transit import other-store --type rsa-4096', await other.ok('transit wrapping-key'));
    const wrapped = await printed('transit byok-export other-store imported --version latest');
    await other.ok('transit import arrived --exportable', { input: wrapped });
    expect(await other.ok('transit keys export arrived --key-type encryption-key')).toBe(
      Buffer.alloc(32, 7).toString('base64'),
    );
  });
});
