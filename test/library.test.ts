import { expect, it } from 'vitest';
import { type OpenOptions, openStore } from '../src/library.ts';

it('a program of release 0.1 is told what its option is called now', async () => {
  // As JavaScript, which no compiler has read.
  const older: object = { directory: '/nowhere', masterKey: 'x' };
  await expect(openStore(older as OpenOptions)).rejects.toMatchObject({
    kind: 'invalid',
    field: 'location',
    hint: 'write "location" for "directory"',
  });
});
