import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isSettled, stampOf } from '../../../src/cli/team/memory.ts';
import { temporaryDirectory } from '../../store/temporary-store.ts';

it('a keyring of 24 files has a stamp of its content, and a smaller one is read each time', () => {
  const directory = temporaryDirectory();
  for (let count = 0; count < 23; count++) writeFileSync(join(directory, `${count}`), '');
  expect(stampOf(directory, [])).toBeUndefined();
  writeFileSync(join(directory, 'last'), '');
  const stamp = stampOf(directory, []);
  expect(stamp?.text).toMatch(/^[\w-]{43}$/);
  // Another change would not surely change the listing yet.
  expect(stamp?.isSettled).toBe(false);
  expect(stampOf(directory, ['1'.repeat(32)])?.text).not.toBe(stamp?.text);
  expect(stampOf(join(directory, 'none'), [])).toBeUndefined();
});

it('a listing counts as settled more than two seconds after the last change', () => {
  const listing = { text: '', count: 1 };
  const now = Date.now();
  expect(isSettled({ ...listing, newest: now - 2_000 - 60_000 })).toBe(true);
  expect(isSettled({ ...listing, newest: now + 60_000 - 2_000 })).toBe(false);
});
