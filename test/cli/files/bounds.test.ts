import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FileHasher, readRest } from '../../../src/cli/files/hashing.ts';
import { MAX_INPUT_BYTES } from '../../../src/cli/files/input.ts';
import type { Input } from '../../../src/cli/terminal/streams.ts';
import { temporaryDirectory } from '../../store/temporary-store.ts';
import { answeredSession } from '../answering.ts';

it('files of up to 16 MiB in all are hashed without a question before, and a byte more takes long', () => {
  const directory = temporaryDirectory();
  const file = (name: string, bytes: number): string => {
    const path = join(directory, name);
    writeFileSync(path, '');
    truncateSync(path, bytes);
    return path;
  };
  const takesLong = (...paths: readonly string[]): boolean =>
    new FileHasher(answeredSession(() => undefined).session, paths, 'FILE').takesLong;
  const [large, one] = [file('large', 2 ** 24 - 1), file('one', 1)];
  expect([takesLong(large), takesLong(large, one), takesLong(large, one, one)]).toEqual([false, false, true]);
});

it('the rest of an input is read up to the limit in all, and nothing of one that is known to be larger', () => {
  const limits: number[] = [];
  const rest = (bytes: number | undefined): void => {
    const input = {
      bytes,
      readAll(limit: number) {
        limits.push(limit);
        return Buffer.alloc(0);
      },
    } as Partial<Input> as Input;
    readRest(input, Buffer.alloc(10));
  };
  for (const bytes of [undefined, 10, MAX_INPUT_BYTES, MAX_INPUT_BYTES + 1]) rest(bytes);
  expect(limits).toEqual([MAX_INPUT_BYTES - 10, MAX_INPUT_BYTES - 10, MAX_INPUT_BYTES - 10, 0]);
});
