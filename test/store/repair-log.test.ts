import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Chance } from '../chance.ts';
import { isLong } from '../long.ts';
import { seeded } from '../seeded.ts';
import { recordsIn } from './backends/log/logged-store.ts';
import { at, contentOf, fillSmall, flip, IDS, repaired } from './repairing.ts';
import { newStoreDirectory, openWithKey, temporaryDirectory } from './temporary-store.ts';

/** Numbers below a limit, one of each so many. */
const every = (step: number, limit: number, chance: Chance): readonly number[] =>
  Array.from({ length: Math.floor(limit / step) }, (_, i) => i * step + chance.below(step));

describe('a log of which one bit is another', () => {
  it('is mended with the key, whatever the bit is in a list of blobs; otherwise everything but its document', async () => {
    const directory = await newStoreDirectory();
    const store = await openWithKey(directory);
    await fillSmall(store);
    for (const id of IDS) await store.transact((tx) => tx.put(at(id), { id, changed: true }));
    store.close();
    const before = await contentOf(directory);
    const aside = join(temporaryDirectory(), 'aside');
    const chance = seeded();
    const [record] = recordsIn(join(directory, 'log/1')).slice(-2);
    const { begin = 0, end = 0 } = record ?? {};
    for (const position of every(isLong ? 6 : 40, end - begin, chance)) {
      rmSync(aside, { recursive: true, force: true });
      cpSync(directory, aside, { recursive: true });
      flip(join(aside, 'log/1'), begin + position, chance.below(8));
      const { examination } = await repaired(aside);
      // In the head alone: everything opens.
      if (position >= 8 && position < 28) {
        expect(examination.findings, `${position}`).toEqual([]);
        expect(await contentOf(aside)).toEqual(before);
      }
      const { unlocked } = examination;
      expect(unlocked).toBe(true);
      const reader = await openWithKey(aside);
      for (const id of ['one', 'three']) {
        const shown = await reader.read((view) => view.get(at(id)));
        expect(shown, `${id} at ${position}`).toEqual({ id, changed: true });
      }
      reader.close();
    }
  });
});
