import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { liesBelow, refuseWayOut } from '../../../src/cli/repository/git.ts';
import { refusal } from '../../refusal.ts';
import { temporaryDirectory } from '../../store/temporary-store.ts';

it.each([
  ['', true],
  ['inside/file', true],
  ['..inside', true],
  ['inside/../file', true],
  ['..', false],
  ['../beside', false],
  ['../top-and-more', false],
  ['out/file', false],
])('a path lies below a directory or not, links and missing files included: %s %j', (path, isBelow) => {
  const top = join(temporaryDirectory(), 'top');
  for (const name of ['top/inside', 'elsewhere']) mkdirSync(join(top, '..', name), { recursive: true });
  symlinkSync('../elsewhere', join(top, 'out'));
  expect(liesBelow(top, join(top, path))).toBe(isBelow);
});

it('a link may lead within its own repository, and out of none of those around it', () => {
  const outer = join(temporaryDirectory(), 'outer');
  for (const name of ['.git', 'inner/.git', 'inner/deep', 'other'])
    mkdirSync(join(outer, name), { recursive: true });
  symlinkSync('deep', join(outer, 'inner/within'));
  symlinkSync('../other', join(outer, 'inner/beside'));
  symlinkSync('../..', join(outer, 'inner/out'));
  expect(refuseWayOut(join(outer, 'inner/within/file'), 'file')).toBeUndefined();
  expect(refuseWayOut(join(outer, 'inner/file'), 'file')).toBeUndefined();
  for (const name of ['beside', 'out'])
    expect(refusal(() => refuseWayOut(join(outer, 'inner', name, 'file'), 'shown'))).toMatchObject({
      kind: 'invalid',
      message: expect.stringMatching(/^shown links to a file outside the repository, /) as string,
    });
});
