import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseSshPrivateKey } from '../../src/signatures/ssh-private-key.ts';
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
