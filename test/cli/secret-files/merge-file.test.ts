import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { mergeFile } from '../../../src/cli/secret-files/merge-file.ts';
import { thrownBy } from '../../reference/thrown.ts';
import { temporaryDirectory } from '../../store/temporary-store.ts';

const labels = ['ours', 'theirs'] as const;

it('more conflicts than an exit code counts are conflicts, and what git cannot merge is refused', () => {
  const directory = temporaryDirectory();
  const lines = (what: string): string =>
    Array.from({ length: 130 }, (_, at) => `${what}${at}\n${'same\n'.repeat(5)}`).join('');
  const many = { ours: lines('a'), base: lines('b'), theirs: lines('c'), labels };
  const { isClean, onlyInsertions, bytes } = mergeFile(many, directory);
  expect({ isClean, onlyInsertions, conflicts: bytes.toString().split('<<<<<<<').length - 1 }).toEqual({
    isClean: false,
    onlyInsertions: false,
    conflicts: 130,
  });
  const binary = { ours: 'a\0', base: 'b\0', theirs: 'c\0', labels };
  expect(thrownBy(() => mergeFile(binary, directory))).toMatchObject({
    kind: 'unavailable',
    message: 'git merge-file failed: cannot merge the changes',
  });
  expect(readdirSync(directory)).toEqual([]);
});
