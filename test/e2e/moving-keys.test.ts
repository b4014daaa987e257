import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtCommand } from '../built.ts';
import { nssPkcs8 } from '../reference/incoming-keys.ts';
import fixtures from '../vectors/go-backups/backups.json' with { type: 'json' };

/** Keys in and out of a store, by the command that is shipped. */

const command = builtCommand();
let directory: string;
let environment: NodeJS.ProcessEnv;

const file = (name: string): string => join(directory, name);

function coffer(args: string, input = ''): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args.split(' ')], {
    env: environment,
    input,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

/** What a command that succeeds prints. */
function printed(args: string, input = ''): string {
  const { status, stdout, stderr } = coffer(args, input);
  expect({ args, status, stderr: status === 0 ? '' : stderr }).toEqual({ args, status: 0, stderr: '' });
  return stdout.trim();
}

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'coffer-moving-'));
  environment = {
    PATH: process.env['PATH'],
    HOME: directory,
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    COFFER_STORE: file('store'),
    COFFER_MASTER_KEY: randomBytes(32).toString('base64'),
  };
  printed('init');
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('transit backup and restore', () => {
  it('carry a key to another name, where it decrypts what the first one encrypted', () => {
    printed('transit keys create orders --exportable --allow-plaintext-backup');
    const ciphertext = printed('transit encrypt orders hello');
    printed(`transit backup orders --out ${file('orders.backup')}`);
    expect(statSync(file('orders.backup')).mode & 0o777).toBe(0o600);
    printed(`transit restore copy --in ${file('orders.backup')}`);
    expect(printed(`transit decrypt copy ${ciphertext}`)).toBe('hello');
  });

  it('refuse to replace a key unless forced', () => {
    const backup = readFileSync(file('orders.backup'), 'utf8');
    expect(coffer('transit restore', backup)).toMatchObject({
      status: 6,
      stdout: '',
      stderr: expect.stringContaining('key "orders" already exists'),
    });
    printed('transit restore --force', backup);
  });

  it('use a key of OpenBao offline on what it encrypted', () => {
    const fixture = fixtures.find(({ name }) => name === 'aes256-gcm96') ?? expect.fail('no fixture');
    printed('transit restore openbao', fixture.backup);
    const { text, message } = fixture.checks[0] ?? expect.fail('no check');
    expect(printed(`transit decrypt openbao ${text}`)).toBe(Buffer.from(message, 'base64').toString());
  });

  it('refuse what is no backup, and keep the store as it was', () => {
    const before = printed('transit keys list');
    for (const junk of ['', 'hello', 'eyJhIjoxfQ==', '{"policy":{}}']) {
      expect(coffer('transit restore junk', junk)).toMatchObject({ status: 2, stdout: '' });
    }
    writeFileSync(file('zeros'), '');
    truncateSync(file('zeros'), 1024 ** 3);
    expect(coffer(`transit restore junk --in ${file('zeros')}`).status).toBe(2);
    expect(printed('transit keys list')).toBe(before);
  });
});

describe('transit import', () => {
  it('takes the private key that openssl made, and its public key, and signs for openssl', () => {
    execFileSync('openssl', ['genpkey', '-algorithm', 'ed25519', '-out', file('private.pem')], {
      stdio: 'pipe',
    });
    execFileSync('openssl', ['pkey', '-in', file('private.pem'), '-pubout', '-out', file('public.pem')]);
    printed(`transit import releases --type ed25519 --in ${file('private.pem')}`);
    printed('transit import upstream --type ed25519', readFileSync(file('public.pem'), 'utf8'));
    const signature = printed('transit sign releases hello');
    expect(printed(`transit verify upstream hello --signature ${signature}`)).toBe('true');
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

  it('verifies what openssl signed with a key that stays outside', () => {
    const sign = ['pkeyutl', '-sign', '-inkey', file('private.pem'), '-rawin', '-in', file('message')];
    const theirs = execFileSync('openssl', sign).toString('base64');
    expect(printed(`transit verify upstream hello --signature service:v1:${theirs}`)).toBe('true');
    expect(coffer(`transit verify upstream other --signature service:v1:${theirs}`).status).toBe(5);
  });

  it('takes the RSA key for PSS that openssl made, and an ed25519 key that NSS wrote', () => {
    execFileSync('openssl', ['genpkey', '-algorithm', 'RSA-PSS', '-out', file('pss.pem')], { stdio: 'pipe' });
    printed(`transit import pss --type rsa-2048 --in ${file('pss.pem')}`);
    const signature = printed('transit sign pss hello');
    expect(printed(`transit verify pss hello --signature ${signature}`)).toBe('true');
    const base64 = nssPkcs8(Buffer.alloc(32)).toString('base64');
    const nss = `-----BEGIN PRIVATE KEY-----\n${base64}\n-----END PRIVATE KEY-----\n`;
    printed('transit import nss --type ed25519', nss);
    // The public key of the seed of zeros, as OpenSSL computes it.
    expect(printed('transit keys read nss -o json')).toContain(
      'O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik=',
    );
  });

  it('takes a symmetric key in base64, wrapped on the way', () => {
    const key = Buffer.alloc(32, 7).toString('base64');
    printed('transit import imported --exportable', key);
    expect(printed('transit keys export imported --key-type encryption-key')).toBe(key);
  });

  it('refuses what is no key of the type', () => {
    expect(
      coffer('transit import bad --type ecdsa-p256', readFileSync(file('private.pem'), 'utf8')),
    ).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('invalid key type: expected ecdsa, got ed25519'),
    });
    expect(
      coffer('transit import bad', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----'),
    ).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('the private key cannot be read'),
    });
  });
});

describe('transit byok-export', () => {
  it('gives what another store imports, without showing the key', () => {
    const other = { ...environment, COFFER_STORE: file('other') };
    const here = environment;
    environment = other;
    printed('init');
    const wrapping = printed('transit wrapping-key');
    environment = here;
    printed('transit import other-store --type rsa-4096', wrapping);
    const wrapped = printed('transit byok-export other-store imported --version latest');
    environment = other;
    printed('transit import arrived --exportable', wrapped);
    expect(printed('transit keys export arrived --key-type encryption-key')).toBe(
      Buffer.alloc(32, 7).toString('base64'),
    );
    environment = here;
  });
});
