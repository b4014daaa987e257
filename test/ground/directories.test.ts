import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makeWithParents } from '../../src/ground/directories.ts';

const base = mkdtempSync(join(tmpdir(), 'coffer-directories-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const codeOf = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
  return undefined;
};

describe('makeWithParents', () => {
  it('makes what is missing, each with the mode, and tells where that began', () => {
    const first = join(base, 'one');
    expect(makeWithParents(join(first, 'two', 'three'), 0o700)).toBe(first);
    for (const path of ['one', 'one/two', 'one/two/three']) {
      expect(statSync(join(base, path)).mode & 0o777).toBe(0o700);
    }
  });

  it('does nothing when all is there', () => {
    expect(makeWithParents(base, 0o700)).toBeUndefined();
  });

  it('makes nothing below a file', () => {
    writeFileSync(join(base, 'file'), '');
    expect(codeOf(() => makeWithParents(join(base, 'file', 'below'), 0o700))).toBe('ENOTDIR');
  });

  it.skipIf(!existsSync('/proc/self'))('ends where the system makes no directories', () => {
    expect(codeOf(() => makeWithParents('/proc/coffer/below', 0o700))).toBe('ENOENT');
  });
});
