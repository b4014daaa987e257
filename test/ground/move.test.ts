import fs, { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { isSurely, move } from '../../src/ground/directories.ts';

function directory(): string {
  const made = mkdtempSync(join(tmpdir(), 'coffer-move-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** Has renaming do this, and then report this failure. */
function renamingFails(code: string, work: (from: fs.PathLike, to: fs.PathLike) => void): void {
  const spy = vi.spyOn(fs, 'renameSync').mockImplementation((from, to) => {
    work(from, to);
    throw Object.assign(new Error('the network is down'), { code });
  });
  onTestFinished(syncBuiltinESMExports);
  onTestFinished(() => spy.mockRestore());
  syncBuiltinESMExports();
}

describe('a move', () => {
  const { renameSync: renamed } = fs;
  it.each([
    ['that was done', 'EIO', renamed, undefined],
    ['that was not done', 'EIO', () => {}, 'EIO'],
    ['that left the file at both places', 'EIO', fs.copyFileSync, 'EIO'],
    ['that left the file nowhere', 'EIO', (from: fs.PathLike) => rmSync(from), 'EIO'],
    ['that says that there was no such file', 'ENOENT', renamed, 'ENOENT'],
  ])('%s fails with %s, if a failure is reported, only if it may not be done', (_, code, work, failure) => {
    const made = directory();
    const [from, to] = [join(made, 'from'), join(made, 'to')];
    writeFileSync(from, 'content');
    renamingFails(code, work);
    const moved = () => move(from, to);
    if (failure === undefined) moved();
    else expect(moved).toThrow(expect.objectContaining({ code: failure }));
  });
});

describe('what is certain of a path', () => {
  it('is that it exists, or does not, but neither where the system cannot look', () => {
    const made = directory();
    const places = [made, join(made, 'missing'), join(made, 'x'.repeat(300))];
    expect(places.map((path) => [isSurely(path, true), isSurely(path, false)])).toEqual([
      [true, false],
      [false, true],
      [false, false],
    ]);
  });
});
