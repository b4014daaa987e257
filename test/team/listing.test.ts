import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listingOf } from '../../src/team/listing.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'coffer-listing-'));
  mkdirSync(join(directory, 'members'));
  writeFileSync(join(directory, 'members/ada'), 'one');
});
afterEach(() => rmSync(directory, { recursive: true }));

const ada = (): string => join(directory, 'members/ada');
const text = (): string | undefined => listingOf(directory)?.text;

describe('the listing of a keyring', () => {
  it('is the same as long as nothing changed, and counts files and directories', () => {
    expect(text()).toBe(text());
    expect(listingOf(directory)).toMatchObject({ count: 2 });
  });

  it.each<[string, () => void]>([
    ['is written anew', () => writeFileSync(ada(), 'two')],
    ['goes', () => rmSync(ada())],
    ['is called something else', () => renameSync(ada(), join(directory, 'members/bob'))],
    ['comes beside it', () => writeFileSync(join(directory, 'members/bob'), 'one')],
    [
      'is another one with its name',
      () => {
        writeFileSync(join(directory, 'other'), 'two');
        renameSync(join(directory, 'other'), ada());
      },
    ],
  ])('changes when a file %s, also with the size and the time of before', (_, change) => {
    // Times of whole seconds can be put back to the letter.
    const places = [ada(), join(directory, 'members')];
    const putBack = (): void => {
      for (const path of places)
        if (statSync(path, { throwIfNoEntry: false }) !== undefined) utimesSync(path, 1e9, 1e9);
    };
    putBack();
    const before = text();
    change();
    putBack();
    expect(text()).not.toBe(before);
  });

  it('is none of what is no directory', () => {
    expect(listingOf(join(directory, 'nowhere'))).toBeUndefined();
    expect(listingOf(ada())).toBeUndefined();
  });

  it('has what is up to five directories deep, which is deeper than what is read', () => {
    const deep = join(directory, 'a/b/c/d/e/f/g');
    mkdirSync(deep, { recursive: true });
    const names = (text() ?? '').split('\n').map((line) => line.split('\0')[0]);
    expect(names).toContain('a/b/c/d/e/f');
    expect(names).not.toContain('a/b/c/d/e/f/g');
  });
});
