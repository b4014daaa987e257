import { chownSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { leftovers, makeMemoryDirectory } from '../../../src/cli/memory/memory-directory.ts';

const STRANGER = 4321;
const uid = process.getuid?.() ?? 0;

/** A directory in memory that stands for one where everybody may make directories. */
function sharedPlace(): string {
  const path = mkdtempSync('/dev/shm/coffer-shared-');
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

describe.runIf(process.platform === 'linux' && uid === 0)('a directory in memory', () => {
  it.each([
    'another user has made a directory of the usual name',
    'it can be read by others',
    'it is a file',
  ])('gets a name that nobody foresees when %s, and is found again', (how) => {
    const base = sharedPlace();
    const usual = join(base, `coffer-${uid}`);
    if (how === 'it is a file') writeFileSync(usual, '');
    else mkdirSync(usual, { mode: how.startsWith('another') ? 0o700 : 0o755 });
    if (how.startsWith('another')) chownSync(usual, STRANGER, STRANGER);
    const environment = { XDG_RUNTIME_DIR: base };
    const first = makeMemoryDirectory(environment, 'edit', false);
    expect(dirname(first.path)).toMatch(new RegExp(`/coffer-${uid}-[0-9a-f]{16}$`));
    expect(statSync(dirname(first.path))).toMatchObject({ uid, mode: 0o40700 });
    // The next one takes the same, and what a process that ended left is found there.
    expect(dirname(makeMemoryDirectory(environment, 'exec', false).path)).toBe(dirname(first.path));
    const [kind, , , namespace, chance] = basename(first.path).split('-');
    const left = join(dirname(first.path), `${kind}-999999999-1-${namespace}-${chance}`);
    // Of another container, where that process may well be running.
    const elsewhere = join(dirname(first.path), `${kind}-999999999-1-1${namespace}-${chance}`);
    for (const path of [left, elsewhere]) mkdirSync(path);
    expect(leftovers(environment).map(({ path }) => path)).toEqual([left]);
  });

  it('has the usual name where that is free or ours', () => {
    const base = sharedPlace();
    for (let time = 0; time < 2; time++) {
      const { path } = makeMemoryDirectory({ XDG_RUNTIME_DIR: base }, 'edit', false);
      expect(dirname(path)).toBe(join(base, `coffer-${uid}`));
    }
  });
});
