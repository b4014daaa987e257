import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DraftFile } from '../../../src/cli/editing/draft.ts';

const FILE = '/home/ann/app.env';
const ABOUT = '.coffer-edit.json';

/** What an edit that was killed has left in memory. */
function leftBehind(about: unknown) {
  const runtime = mkdtempSync('/dev/shm/coffer-draft-');
  onTestFinished(() => rmSync(runtime, { recursive: true, force: true }));
  const environment = { XDG_RUNTIME_DIR: runtime };
  const own = DraftFile.make(environment, FILE, false).directory;
  // The same name, of a process that has ended.
  const [purpose, , , ...rest] = basename(own).split('-');
  const directory = join(dirname(own), [purpose, 999999999, 1, ...rest].join('-'));
  mkdirSync(directory);
  writeFileSync(join(directory, 'app.env'), 'A=mine\n');
  writeFileSync(join(directory, ABOUT), JSON.stringify(about));
  return { environment, directory };
}

describe.runIf(process.platform === 'linux')('the text of an edit that was killed', () => {
  it('is found by the file, and kept as long as it was changed', () => {
    const { environment, directory } = leftBehind({ file: FILE, shown: 'digest' });
    expect(DraftFile.kept(environment, '/home/ann/other.env')).toBeUndefined();
    const found = DraftFile.kept(environment, FILE);
    expect({ directory: found?.directory, text: found?.read().toString(), base: found?.base }).toEqual({
      directory,
      text: 'A=mine\n',
      base: undefined,
    });
  });

  it.each<[unknown]>([
    [null],
    [[]],
    ['text'],
    [{ file: FILE }],
    [{ shown: 'digest' }],
    [{ file: 7, shown: 'digest' }],
    [{ file: FILE, shown: 7 }],
  ])('is removed where nothing says which file it is of: %j', (about) => {
    const { environment, directory } = leftBehind(about);
    expect(DraftFile.kept(environment, FILE)).toBeUndefined();
    expect(existsSync(directory)).toBe(false);
  });
});
