import { execFileSync } from 'node:child_process';
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sshBlob, sshLine } from '../../src/signatures/ssh-key.ts';
import {
  ALL_READERS,
  parseEncryptedSshKey,
  parseSshPrivateKey,
} from '../../src/signatures/ssh-private-key.ts';
import { mpint, string, uint32 } from '../../src/signatures/ssh-wire.ts';
import { thrownBy } from '../reference/thrown.ts';

const PASSPHRASE = 'five words of a poem';
let directory = '';
let count = 0;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'coffer-ssh-key-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface Made {
  readonly text: string;
  /** The line of the public key, without its comment. */
  readonly line: string;
}

/** Has `ssh-keygen` make a private key with a passphrase. */
function made(options: readonly string[] = [], kind = 'ed25519', passphrase = PASSPHRASE): Made {
  const path = join(directory, `key-${count++}`);
  const bits = kind === 'rsa' ? ['-b', '2048'] : [];
  const words = ['-q', '-t', kind, ...bits, ...options, '-C', '', '-N', passphrase, '-f', path];
  execFileSync('ssh-keygen', words, { stdio: 'pipe' });
  return { text: readFileSync(path, 'utf8'), line: readFileSync(`${path}.pub`, 'utf8').trim() };
}

const decrypted = async (text: string, passphrase: string): Promise<KeyObject | undefined> =>
  parseEncryptedSshKey(text)?.decrypt(passphrase);
const lineOf = (key: KeyObject | undefined): string | undefined =>
  key && sshLine(createPublicKey(key), '').trim();

const BEGIN = '-----BEGIN OPENSSH PRIVATE KEY-----\n';
const END = '\n-----END OPENSSH PRIVATE KEY-----\n';
const bytesOf = (text: string): Buffer => Buffer.from(text.replace(/-----.*-----/g, ''), 'base64');
const textOf = (bytes: Buffer): string => `${BEGIN}${bytes.toString('base64')}${END}`;

/** Ciphers of `ssh-keygen -Z` that are read. */
const CIPHERS = [
  'aes256-ctr',
  'aes256-cbc',
  'aes256-gcm@openssh.com',
  'aes192-ctr',
  'aes192-cbc',
  'aes128-ctr',
  'aes128-cbc',
  'aes128-gcm@openssh.com',
  '3des-cbc',
] as const;

describe('an SSH private key with a passphrase', () => {
  it.each(CIPHERS)('is decrypted with the cipher %s, and not with another passphrase', async (cipher) => {
    const { text, line } = made(['-Z', cipher, '-a', '1']);
    expect(lineOf(await decrypted(text, PASSPHRASE))).toBe(line);
    expect(await decrypted(text, `${PASSPHRASE} `)).toBeUndefined();
    expect(await decrypted(text, '')).toBeUndefined();
    expect(() => parseSshPrivateKey(text)).toThrow('is encrypted with a passphrase');
  });

  it.each([
    ['ed25519', 'the default', []],
    ['ed25519', '2', ['-a', '2']],
    ['ed25519', '33', ['-a', '33']],
    ['rsa', '3', ['-a', '3']],
  ] as const)('of the kind %s is decrypted with %s rounds', async (kind, _, options) => {
    const { text, line } = made(options, kind);
    expect(lineOf(await decrypted(text, PASSPHRASE))).toBe(line);
  });

  it.each([
    ['of other scripts', 'пять слов 五個字 🔑'],
    ['of 200 characters', 'x'.repeat(200)],
    ['with white space at its ends', ' a b '],
  ])('is decrypted with one %s', async (_, passphrase) => {
    const { text, line } = made(['-a', '1'], 'ed25519', passphrase);
    expect(lineOf(await decrypted(text, passphrase))).toBe(line);
  });

  it('is refused with what converts a copy if its cipher or its number of rounds is none that we do', () => {
    const chacha = made(['-Z', 'chacha20-poly1305@openssh.com', '-a', '1']).text;
    const bytes = bytesOf(made(['-a', '1']).text);
    const rounds = bytes.indexOf(Buffer.concat([uint32(1), uint32(1)]));
    expect(rounds).toBeGreaterThan(0);
    uint32(4096).copy(bytes, rounds);
    expect(() => parseEncryptedSshKey(textOf(bytes))).not.toThrow();
    uint32(4097).copy(bytes, rounds);
    const kdf = Buffer.from(bytes.toString('latin1').replace('bcrypt', 'scrypt'), 'latin1');
    for (const [text, what] of [
      [chacha, 'unsupported cipher "chacha20-poly1305@openssh.com"'],
      [textOf(bytes), '4097 rounds of bcrypt, and at most 4096'],
      [textOf(kdf), 'unsupported key derivation function'],
    ] as const) {
      expect(thrownBy(() => parseEncryptedSshKey(text))).toMatchObject({
        kind: 'unsupported',
        message: expect.stringContaining(what),
        hint: 'convert a copy: cp KEY COPY && ssh-keygen -p -Z aes256-ctr -a 16 -f COPY',
      });
    }
  });

  it('is refused wherever a byte of it is altered, and with no rounds at all', async () => {
    const { text } = made(['-a', '1', '-Z', 'aes128-gcm@openssh.com']);
    const bytes = bytesOf(text);
    for (let at = 0; at < bytes.length; at += 31) {
      const altered = Buffer.from(bytes);
      altered[at] = (altered[at] ?? 0) ^ 1;
      const outcome = await Promise.resolve()
        .then(() => decrypted(textOf(altered), PASSPHRASE))
        .catch((error: unknown) => error);
      expect(outcome === undefined || outcome instanceof Error).toBe(true);
    }
    expect(thrownBy(() => parseEncryptedSshKey(textOf(bytes.subarray(0, -1))))).toMatchObject({
      kind: 'invalid',
    });
    const options = Buffer.concat([string(Buffer.alloc(16)), uint32(0)]);
    const none = bytesOf(made(['-a', '1']).text);
    const at = none.indexOf(Buffer.concat([uint32(24), uint32(16)]));
    options.copy(none, at + 4);
    expect(await decrypted(textOf(none), PASSPHRASE)).toBeUndefined();
  });

  it('is refused if its private half is that of another public key', async () => {
    const [one, other] = [made(['-a', '1']), made(['-a', '1'])];
    const blob = (line: string): Buffer => Buffer.from(line.split(' ')[1] ?? '', 'base64');
    const bytes = bytesOf(one.text);
    blob(other.line).copy(bytes, bytes.indexOf(blob(one.line)));
    await expect(decrypted(textOf(bytes), PASSPHRASE)).rejects.toThrow('is damaged');
  });

  it('is no key with a passphrase once it was taken off, and is read as before', () => {
    const { text, line } = made([], 'ed25519', '');
    expect(parseEncryptedSshKey(text)).toBeUndefined();
    expect(lineOf(parseSshPrivateKey(text))).toBe(line);
  });

  it('of PKCS #8 is left to Node', () => {
    const { text } = made(['-m', 'PKCS8'], 'rsa');
    expect(text).toMatch(/^-----BEGIN ENCRYPTED PRIVATE KEY-----/);
    expect([parseEncryptedSshKey(text), parseSshPrivateKey(text)]).toEqual([undefined, undefined]);
  });
});

describe('an SSH private key', () => {
  const MAGIC = 'openssh-key-v1\0';
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const { x = '', d = '' } = privateKey.export({ format: 'jwk' });
  const point = Buffer.from(x, 'base64url');
  const seed = Buffer.from(d, 'base64url');

  /** The file as OpenSSH writes it, except for what is given. */
  function file({ magic = MAGIC, count = 1, checks = [7, 7], kind = 'ssh-ed25519' } = {}): string {
    const [one = 0, two = 0] = checks;
    const pair = [string(kind), string(point), string(Buffer.concat([seed, point])), string('ada')];
    const secret = Buffer.concat([uint32(one), uint32(two), ...pair, Buffer.from([1, 2, 3])]);
    const head = [Buffer.from(magic, 'latin1'), string('none'), string('none'), string(''), uint32(count)];
    const bytes = Buffer.concat([...head, string(sshBlob(publicKey)), string(secret)]);
    return `-----BEGIN OPENSSH PRIVATE KEY-----\n${bytes.toString('base64')}\n-----END OPENSSH PRIVATE KEY-----\n`;
  }

  it('is read as it is written', () => {
    expect(parseSshPrivateKey(file())?.equals(privateKey)).toBe(true);
  });

  it.each([
    ['of another format', { magic: 'openssh-key-v2\0' }, 'not an SSH private key'],
    ['beside others in its file', { count: 2 }, 'the file contains more than one SSH private key'],
    ['that was not decrypted', { checks: [7, 8] }, 'the SSH private key is damaged'],
    ['of another kind', { kind: 'ssh-dss' }, 'unsupported private key type "ssh-dss"'],
    [
      'of a kind that an object has by nature',
      { kind: 'toString' },
      'unsupported private key type "toString"',
    ],
  ])('%s is refused', (_, change, message) => {
    expect(() => parseSshPrivateKey(file(change))).toThrow(message);
  });

  it.each(['256', '384', '521'])('of ECDSA of %s bits is read where that is asked for', (bits) => {
    const { text, line } = made(['-b', bits], 'ecdsa', '');
    expect(lineOf(parseSshPrivateKey(text, ALL_READERS))).toBe(line);
    expect(() => parseSshPrivateKey(text)).toThrow('unsupported private key type "ecdsa-sha2-');
  });

  it('of ECDSA is refused if its number is that of another public key, or of none', () => {
    const { text } = made(['-b', '256'], 'ecdsa', '');
    const { d = '' } = parseSshPrivateKey(text, ALL_READERS)?.export({ format: 'jwk' }) ?? {};
    const scalar = Buffer.from(d, 'base64url');
    const at = bytesOf(text).lastIndexOf(scalar);
    expect(at).toBeGreaterThan(0);
    for (const other of [Buffer.alloc(32, 1), Buffer.alloc(32, 0x7f), Buffer.alloc(32)]) {
      const bytes = bytesOf(text);
      other.copy(bytes, at);
      expect(thrownBy(() => parseSshPrivateKey(textOf(bytes), ALL_READERS))).toMatchObject({
        kind: 'invalid',
        message: 'the SSH private key is damaged',
      });
    }
  });

  it('of RSA is refused if its numbers make no key', () => {
    const rsa = (numbers: readonly number[]): string => {
      const pair = [
        string('ssh-rsa'),
        ...numbers.map((number) => mpint(Buffer.from([number]))),
        string('ada'),
      ];
      const secret = Buffer.concat([uint32(7), uint32(7), ...pair]);
      const head = [Buffer.from(MAGIC, 'latin1'), string('none'), string('none'), string(''), uint32(1)];
      return textOf(Buffer.concat([...head, string(sshBlob(publicKey)), string(secret)]));
    };
    // n, e, d, qi, p and q: a prime of one would divide by zero, and numbers may be absent.
    for (const numbers of [
      [15, 3, 3, 2, 1, 5],
      [15, 3, 3, 2, 5, 1],
      [0, 0, 0, 0, 0, 0],
      [15, 3],
    ]) {
      expect(thrownBy(() => parseSshPrivateKey(rsa(numbers)))).toMatchObject({
        kind: 'invalid',
        message: 'the SSH private key is damaged',
      });
    }
  });
});
