import { createHash, createVerify, randomBytes } from 'node:crypto';
import { closeSync, openSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isLong } from '../../long.ts';
import type { Suite } from './index.ts';

const MEBI = 2 ** 20;
/** Bytes, more than any input that is taken whole. */
const LARGER = (isLong ? 300 : 257) * MEBI;

/** Files larger than what is taken at once: all but a digest of them stays with the command. */
export const largestInputsSuite: Suite = (here) => {
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

  it('signs and verifies a file larger than any request, from a file and from a pipe', async () => {
    await here().ok('transit keys create release --type ecdsa-p256');
    sparse('tarball', LARGER, randomBytes(64));
    const signature = await here().ok('transit sign release --in tarball --hash-algorithm sha2-256');
    const verify = `transit verify release --hash-algorithm sha2-256 --signature ${signature}`;
    expect(await here().ok(`${verify} --in tarball`)).toBe('true');
    expect((await here().shell(`cat tarball | coffer ${verify}`)).stdout).toBe('true\n');
    const others = createVerify('sha256');
    const publicKey = await here().ok(
      'transit keys export release --key-type public-key --version 1 --output json',
    );
    const { keys } = JSON.parse(publicKey) as { keys: Record<string, string> };
    const bytes = Buffer.alloc(MEBI);
    for (let part = 1; part < LARGER / MEBI; part++) others.update(bytes);
    others.update((await here().shell('tail -c 1M tarball')).bytes);
    expect(others.verify(keys['1'] ?? '', signature.replace('service:v1:', ''), 'base64')).toBe(true);
    sparse('tarball', LARGER, randomBytes(64));
    expect(await here().run(`${verify} --in tarball`)).toMatchObject({ exitCode: 5, stdout: 'false\n' });
  });

  it('says what signs a file that the key has to see whole, and what makes an HMAC of it', async () => {
    await here().ok('transit keys create pure --type ed25519');
    sparse('image', LARGER, Buffer.from('end'));
    expect(await here().refused('transit sign pure --in image', 2)).toContain('coffer sign');
    expect(await here().refused('transit verify pure --in image --signature service:v1:AAAA', 2)).toContain(
      'coffer sign',
    );
    expect(await here().refused('transit hmac pure --in image', 2)).toContain('coffer transit hash');
  });

  it('hashes a file of any size with neither a store nor a server', async () => {
    const path = sparse('disk', (isLong ? 300 : 40) * MEBI, Buffer.from('end'));
    const alone = here().with({
      COFFER_ADDR: undefined,
      COFFER_TOKEN: undefined,
      COFFER_MASTER_KEY: undefined,
      COFFER_STORE: here().file('no-store'),
    });
    const sum = (await here().shell(`sha256sum < ${path}`)).stdout.split(' ')[0];
    expect(await alone.ok('transit hash --in disk')).toBe(sum);
    expect((await alone.shell('cat disk | coffer transit hash')).stdout).toBe(`${sum}\n`);
    const expected = createHash('sha3-512').update('abc').digest('base64');
    for (const value of ['abc', '--base64 YWJj']) {
      expect(await alone.ok(`transit hash ${value} --algorithm sha3-512 --format base64`)).toBe(expected);
    }
    expect(await alone.refused('transit hash --base64 YWJ', 2)).toContain('base64');
  });
};
