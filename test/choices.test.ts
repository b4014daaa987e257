import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../src/ground/random.ts';
import { keyTypeNamed } from '../src/transit/key-types/index.ts';
import { Chance, streamOf } from './chance.ts';
import { isLong } from './long.ts';
import { SEED } from './seed.ts';
import prepared from './vectors/rsa-keys.json' with { type: 'json' };

const first = randomBytes(16);

describe('what the code under test draws in this process', () => {
  it('is the same each time for the same seed and file', () => {
    const stream = (file: string) => new Chance(Number(SEED), streamOf(file), streamOf('bytes')).bytes(16);
    expect(first).toEqual(stream('test/choices.test.ts'));
    expect(first).not.toEqual(stream('test/other.test.ts'));
  });

  it('is never the same twice, and has the form of its kind', () => {
    expect(randomBytes(16)).not.toEqual(randomBytes(16));
    expect(randomUUID()).not.toBe(randomUUID());
    expect(randomUUID()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(crypto.getRandomValues(new Uint8Array(16))).not.toEqual(
      crypto.getRandomValues(new Uint8Array(16)),
    );
  });

  it.skipIf(isLong)('is an RSA key that was made before, as a key type asks for it', async () => {
    const material = await keyTypeNamed('rsa-4096')?.generate(systemRandom, 0);
    expect(prepared['4096']).toContain(material?.secret);
  });

  it('makes temporary directories whose names take as much room in other names each time', async () => {
    const made = [mkdtempSync(join(tmpdir(), 'coffer-')), await mkdtemp(join(tmpdir(), 'coffer-'))];
    for (const directory of made) rmSync(directory, { recursive: true });
    for (const directory of made) expect(basename(directory)).toMatch(/^coffer-[a-z]{6}$/);
    expect(made[0]).not.toBe(made[1]);
  });
});
