import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseManifest, printManifest } from '../../src/signatures/manifest.ts';
import { anyText } from '../any-text.ts';

const SUM = 'a'.repeat(64);

describe('a list of sums', () => {
  it('is read as sha256sum wrote it, odd names included', () => {
    const directory = mkdtempSync(join(tmpdir(), 'coffer-sums-'));
    try {
      const names = [
        'plain',
        'two words',
        'back\\slash',
        'line\nbreak',
        ' blank in front',
        'Unicode\u2028break\u2029',
      ];
      for (const name of names) writeFileSync(join(directory, name), name);
      const text = execFileSync('sha256sum', ['--', ...names], { cwd: directory, encoding: 'utf8' });
      const sums = parseManifest(text);
      expect(sums.map(({ name }) => name)).toEqual(names);
      expect(printManifest(sums)).toBe(text);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('is read back as it was printed', () => {
    const name = anyText({ minLength: 1, maxLength: 20 }).filter(
      (text) => !/^([/\\]|[A-Za-z]:)|\0/.test(text) && !text.split(/[/\\]/).includes('..'),
    );
    fc.assert(
      fc.property(fc.uniqueArray(name, { minLength: 1 }), (names) => {
        const sums = names.map((each) => ({ sha256: SUM, name: each }));
        expect(parseManifest(printManifest(sums))).toEqual(sums);
      }),
    );
  });

  it.each([
    ['../outside', 'outside of its directory'],
    ['a/../../outside', 'outside of its directory'],
    ['..', 'outside of its directory'],
    ['..\\outside', 'outside of its directory'],
    ['/etc/passwd', 'outside of its directory'],
    ['C:\\file', 'outside of its directory'],
    ['file\0.txt', 'outside of its directory'],
  ])('with the name %s is refused', (name, why) => {
    expect(() => parseManifest(`${SUM}  ${name}\n`)).toThrow(why);
  });

  it('has 100,000 lines at most', () => {
    const lines = (count: number) => Array.from({ length: count }, (_, i) => `${SUM}  f${i}\n`).join('');
    expect(parseManifest(lines(100_000))).toHaveLength(100_000);
    expect(() => parseManifest(lines(100_001))).toThrow('the manifest has more than 100000 lines');
  });

  it('with a name twice, or a line that is none, says which line', () => {
    expect(() => parseManifest(`${SUM}  a\n${SUM}  b\n${SUM}  a\n`)).toThrow(
      'manifest line 3 has a duplicate entry a',
    );
    expect(() => parseManifest(`${SUM}  a\nhello\n`)).toThrow('line 2');
    expect(() => parseManifest('')).toThrow('line 1');
  });
});
