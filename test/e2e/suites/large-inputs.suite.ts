import { createHash, createVerify, randomBytes } from 'node:crypto';
import { closeSync, openSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Suite } from './index.ts';

const MEBI = 2 ** 20;

export const largeInputsSuite: Suite = (here) => {
  /** A file of that many bytes, of zeros but for its last ones. */
  function sparse(name: string, bytes: number, end: Uint8Array): string {
    const path = here().file(name);
    writeFileSync(path, '');
    truncateSync(path, bytes);
    const descriptor = openSync(path, 'r+');
    writeSync(descriptor, end, 0, end.length, bytes - end.length);
    closeSync(descriptor);
    return path;
  }

  it.each([
    ['rsa-2048', ['--signature-algorithm', 'pkcs1v15', '--hash-algorithm', 'sha3-256']],
    ['rsa-2048', ['--hash-algorithm', 'sha2-512']],
    ['rsa-2048', ['--salt-length', 'hash']],
    ['ecdsa-p256', ['--hash-algorithm', 'sha2-512']],
    ['ecdsa-p521', ['--marshaling-algorithm', 'jws']],
    ['ed25519', []],
  ])('signs two mebibytes with %s and %j as it does in one piece', (type, options) => {
    const name = `large-${type}`;
    here().ok(`transit keys create ${name} --type ${type}`);
    const input = randomBytes(2 * MEBI);
    writeFileSync(here().file('two'), input);
    writeFileSync(here().file('two.base64'), input.toString('base64'));
    writeFileSync(here().file('other'), Buffer.concat([input.subarray(1), Buffer.alloc(1)]));
    // Base64 is always taken whole.
    const whole = ['--in', 'two.base64', '--base64', ...options];
    const sign = (from: readonly string[]) => here().ok(['transit', 'sign', name, ...from]);
    const verify = (signature: string, from: readonly string[]) =>
      here().run(['transit', 'verify', name, '--signature', signature, ...from]).stdout;
    const large = ['--in', 'two', ...options];
    const signature = sign(large);
    expect(verify(signature, whole)).toBe('true\n');
    expect(verify(sign(whole), large)).toBe('true\n');
    expect(verify(signature, ['--in', 'other', ...options])).toBe('false\n');
    if (type === 'ed25519' || options.includes('pkcs1v15')) expect(sign(whole)).toBe(signature);
  });

  it('signs and verifies a file larger than any request, from a file and from a pipe', () => {
    here().ok('transit keys create release --type ecdsa-p384');
    sparse('tarball', 300 * MEBI, randomBytes(64));
    const signature = here().ok('transit sign release --in tarball --hash-algorithm sha2-384');
    const verify = `transit verify release --hash-algorithm sha2-384 --signature ${signature}`;
    expect(here().ok(`${verify} --in tarball`)).toBe('true');
    expect(here().shell(`cat tarball | coffer ${verify}`).stdout).toBe('true\n');
    const others = createVerify('sha384');
    const publicKey = here().ok(
      'transit keys export release --key-type public-key --version 1 --output json',
    );
    const { keys } = JSON.parse(publicKey) as { keys: Record<string, string> };
    const bytes = Buffer.alloc(MEBI);
    for (let part = 0; part < 299; part++) others.update(bytes);
    others.update(here().shell('tail -c 1M tarball').bytes);
    expect(others.verify(keys['1'] ?? '', signature.replace('service:v1:', ''), 'base64')).toBe(true);
    sparse('tarball', 300 * MEBI, randomBytes(64));
    expect(here().run(`${verify} --in tarball`)).toMatchObject({ exitCode: 5, stdout: 'false\n' });
  });

  it('says what signs a file that the key has to see whole, and what makes an HMAC of it', () => {
    here().ok('transit keys create pure --type ed25519');
    sparse('image', 300 * MEBI, Buffer.from('end'));
    expect(here().refused('transit sign pure --in image', 2)).toContain('coffer sign');
    expect(here().refused('transit verify pure --in image --signature service:v1:AAAA', 2)).toContain(
      'coffer sign',
    );
    expect(here().refused('transit hmac pure --in image', 2)).toContain('coffer transit hash');
  });

  it('hashes a file of any size with neither a store nor a server', () => {
    const path = sparse('disk', 300 * MEBI, Buffer.from('end'));
    const alone = here().with({
      COFFER_ADDR: undefined,
      COFFER_TOKEN: undefined,
      COFFER_MASTER_KEY: undefined,
      COFFER_STORE: here().file('no-store'),
    });
    const sum = here().shell(`sha256sum < ${path}`).stdout.split(' ')[0];
    expect(alone.ok('transit hash --in disk')).toBe(sum);
    expect(alone.shell('cat disk | coffer transit hash').stdout).toBe(`${sum}\n`);
    const expected = createHash('sha3-512').update('abc').digest('base64');
    for (const value of ['abc', '--base64 YWJj']) {
      expect(alone.ok(`transit hash ${value} --algorithm sha3-512 --format base64`)).toBe(expected);
    }
    expect(alone.refused('transit hash --base64 YWJ', 2)).toContain('base64');
  });
};
