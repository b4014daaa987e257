import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { HeldOutput } from '../../src/cli/files/batch.ts';

/** What is printed in the end. */
function released(held: HeldOutput): string {
  const parts: Buffer[] = [];
  // Whoever prints a piece is done with it: the next one comes in the same memory.
  held.release((bytes) => parts.push(Buffer.from(bytes)));
  return Buffer.concat(parts).toString();
}

describe('output that waits for its end', () => {
  it.each([0, 1, 40_000, 150_000])('comes out as it was written: %i lines', (lines) => {
    const held = new HeldOutput();
    const written = Array.from({ length: lines }, (_, index) => `{"valid":true,"reference":"${index}"}\n`);
    for (const line of written) held.write(line);
    expect(released(held) === written.join('')).toBe(true);
    expect(released(held)).toBe('');
  });

  it('leaves nothing on the disk that has a name', () => {
    const directory = mkdtempSync(join(tmpdir(), 'coffer-test-'));
    vi.stubEnv('TMPDIR', directory);
    try {
      const held = new HeldOutput();
      held.write('x'.repeat(3 << 20));
      expect(readdirSync(directory)).toEqual([]);
      held.close();
    } finally {
      vi.unstubAllEnvs();
      rmSync(directory, { recursive: true });
    }
  });

  it('says what to do where there is no room for it', () => {
    vi.stubEnv('TMPDIR', join(tmpdir(), 'coffer-nowhere', 'at-all'));
    try {
      expect(() => new HeldOutput().write('x'.repeat(3 << 20))).toThrowError(
        expect.objectContaining({ kind: 'unavailable', hint: 'write the results to a file with --out' }),
      );
    } finally {
      vi.unstubAllEnvs();
    }
  });
});
