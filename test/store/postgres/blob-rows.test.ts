import { expect, it } from 'vitest';
import { inBatches } from '../../../src/store/backends/postgres/schema.ts';

const MIB = 2 ** 20;

it.each([
  ['500 blobs', Array(500).fill(1), [500]],
  ['one more', Array(501).fill(1), [500, 1]],
  ['less than 4 MiB', [4 * MIB - 2, 1, 1], [3]],
  ['4 MiB, and more', [4 * MIB, 1, 1], [1, 2]],
  ['4 MiB with the second', [4 * MIB - 1, 1, 1], [2, 1]],
  ['one that is larger than all', [1, 9 * MIB, 1], [2, 1]],
  ['nothing', [], []],
])('blobs are sent to the database in batches of bounded number and size: %s', async (_, sizes, expected) => {
  const large = Buffer.alloc(9 * MIB);
  async function* blobs() {
    for (const size of sizes as number[])
      yield { ref: { area: 'documents', name: 'aa' }, bytes: large.subarray(0, size) } as const;
  }
  const batches: number[] = [];
  for await (const batch of inBatches(blobs())) batches.push(batch.length);
  expect(batches).toEqual(expected);
});
