import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sshBlob } from '../../src/signatures/ssh-key.ts';
import { parseSshPrivateKey } from '../../src/signatures/ssh-private-key.ts';
import { string, uint32 } from '../../src/signatures/ssh-wire.ts';
import { thrownBy } from '../reference/thrown.ts';

const PASSPHRASE = 'five words of a poem';
let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'coffer-ssh-key-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const keygen = (...words: string[]) => execFileSync('ssh-keygen', ['-q', ...words], { stdio: 'pipe' });
const read = (name: string): string => readFileSync(join(directory, name), 'utf8');

describe('an SSH private key with a passphrase', () => {
  it.each([
    ['ed25519', "-p -N '' -f COPY"],
    ['rsa', '-p -m PKCS8 -f COPY'],
  ])('of the kind %s is refused with what makes a copy that is read', (kind, way) => {
    keygen(
      '-t',
      kind,
      ...(kind === 'rsa' ? ['-b', '2048'] : []),
      '-N',
      PASSPHRASE,
      '-f',
      join(directory, kind),
    );
    const refusal = thrownBy(() => parseSshPrivateKey(read(kind)));
    expect(refusal).toMatchObject({
      kind: 'unsupported',
      message: 'the SSH private key is encrypted with a passphrase',
      hint: expect.stringContaining(`cp KEY COPY && ssh-keygen ${way}`),
    });
  });

  it('of the kind ed25519 is read when it was taken off', () => {
    keygen('-t', 'ed25519', '-N', PASSPHRASE, '-f', join(directory, 'copy'));
    keygen('-p', '-P', PASSPHRASE, '-N', '', '-f', join(directory, 'copy'));
    expect(parseSshPrivateKey(read('copy'))?.asymmetricKeyType).toBe('ed25519');
  });

  it('of the kind rsa becomes PEM, for which we ask', () => {
    keygen('-t', 'rsa', '-b', '2048', '-N', PASSPHRASE, '-f', join(directory, 'pem'));
    keygen('-p', '-m', 'PKCS8', '-P', PASSPHRASE, '-N', PASSPHRASE, '-f', join(directory, 'pem'));
    expect(read('pem')).toMatch(/^-----BEGIN ENCRYPTED PRIVATE KEY-----/);
    expect(parseSshPrivateKey(read('pem'))).toBeUndefined();
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
});
