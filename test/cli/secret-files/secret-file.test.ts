import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  openOrNewFile,
  openSecretFile,
  replaceSecretFile,
  textOf,
} from '../../../src/cli/secret-files/secret-file.ts';
import { rejectionOf, thrownBy } from '../../reference/thrown.ts';
import { temporaryDirectory } from '../../store/temporary-store.ts';

const MOST_BYTES = 2 ** 20;
const tooLarge = (path: string) => ({
  kind: 'too-large',
  message: `${path} is larger than 1 MiB`,
  hint: 'encrypt the whole file with "coffer transit envelope encrypt"',
});

it('a file with values has up to 1 MiB, and not a byte more', async () => {
  const path = join(temporaryDirectory(), 'f.env');
  writeFileSync(path, `${'#'.repeat(MOST_BYTES - 1)}\n`);
  expect((await openSecretFile(path)).bytes).toHaveLength(MOST_BYTES);
  writeFileSync(path, `${'#'.repeat(MOST_BYTES)}\n`);
  expect(await rejectionOf(openSecretFile(path))).toMatchObject(tooLarge(path));
});

it('a new file that another process has created meanwhile stays, and the command is to be run again', async () => {
  const path = join(temporaryDirectory(), 'new.env');
  const read = await openOrNewFile(path);
  writeFileSync(path, 'THEIRS=1\n');
  expect(await rejectionOf(replaceSecretFile(read, 'MINE=1\n'))).toMatchObject({
    kind: 'exists',
    message: `${path} was created by another process; nothing was written`,
    hint: 'run the command again',
  });
  expect(readFileSync(path, 'utf8')).toBe('THEIRS=1\n');
});

it('a text that was read elsewhere, as from a commit, has up to 1 MiB as well', () => {
  expect(textOf('f.env', Buffer.alloc(MOST_BYTES, 'x'))).toHaveLength(MOST_BYTES);
  expect(thrownBy(() => textOf('f.env', Buffer.alloc(MOST_BYTES + 1, 'x')))).toMatchObject(tooLarge('f.env'));
});
