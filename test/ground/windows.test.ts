import { describe, expect, it } from 'vitest';
import { patiently } from '../../src/ground/directories.ts';

/** Fails with an error of that code so many times, and counts. */
function failing(times: number, code: string) {
  const counted = { tries: 0 };
  const work = (): string => {
    counted.tries += 1;
    if (counted.tries <= times) throw Object.assign(new Error(code), { code });
    return 'done';
  };
  return { counted, work };
}

describe('a change of a file that somebody has open', () => {
  it.each(['EPERM', 'EACCES', 'EBUSY'])('is tried again on Windows after %s', (code) => {
    const { counted, work } = failing(3, code);
    expect(patiently(work, 'win32')).toBe('done');
    expect(counted.tries).toBe(4);
  });

  it('is given up after a while, with its own error', () => {
    const { counted, work } = failing(100, 'EBUSY');
    expect(() => patiently(work, 'win32')).toThrow('EBUSY');
    expect(counted.tries).toBeGreaterThan(5);
  });

  it.each([
    ['linux', 'EPERM'],
    ['darwin', 'EBUSY'],
    ['win32', 'ENOENT'],
  ])('fails at once on %s with %s', (platform, code) => {
    const { counted, work } = failing(1, code);
    expect(() => patiently(work, platform)).toThrow(code);
    expect(counted.tries).toBe(1);
  });
});
