import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { examineStore } from '../../../src/store/administration/repair.ts';
import type { Chance } from '../../chance.ts';
import { isLong, rounds } from '../../long.ts';
import { seeded } from '../../seeded.ts';
import { newStoreDirectory, openWithKey, rawCredential } from '../temporary-store.ts';
import type { Counter } from './child.ts';
import { childProcesses } from './child-process.ts';
import type { Child } from './started.ts';

const KILLS = rounds(200);
const REKEYS = isLong ? 40 : 4;
/** A child is killed a moment after it has done up to so many changes, which is in the middle of the next. */
const MOST_CHANGES = 8;
const LONGEST_MOMENT_MS = 3;

const start = childProcesses();

/** What the children were told is done, over all rounds. */
class Acknowledged {
  single = 0;
  pair = 0;
  readonly created = new Set<string>();
  readonly deleted = new Set<string>();

  add(lines: readonly string[]): void {
    for (const line of lines) {
      const [what, value = ''] = line.split(' ');
      if (what === 'single' || what === 'pair') this[what] = Number(value);
      if (what === 'created') this.created.add(value);
      if (what === 'deleted') this.deleted.add(value);
    }
  }
}

async function killAtRandom(child: Child, chance: Chance): Promise<void> {
  await child.saidLines(1 + chance.below(MOST_CHANGES + 1));
  await sleep(chance.below(LONGEST_MOMENT_MS));
  child.process.kill('SIGKILL');
  expect(await child.ended).toBe('SIGKILL');
}

it(`a store keeps every acknowledged change when its writer is killed, ${KILLS} times`, {
  timeout: 300_000,
}, async () => {
  const directory = await newStoreDirectory();
  const acknowledged = new Acknowledged();
  const chance = seeded();
  for (let round = 0; round < KILLS; round++) {
    const child = start(directory, 'everything', `round${round}`);
    await killAtRandom(child, chance);
    acknowledged.add(child.lines);
    // What a killed writer leaves behind holds up nobody; a full log has to be emptied first.
    const store = await openWithKey(directory);
    await store.transact((tx) => tx.put({ collection: 'rounds', id: String(round) }, {}));
    await store.read(async (view) => {
      const count = async (id: string) => (await view.get<Counter>({ collection: 'counters', id }))?.n ?? 0;
      expect(await count('single')).toBeGreaterThanOrEqual(acknowledged.single);
      expect(await count('left')).toBeGreaterThanOrEqual(acknowledged.pair);
      expect(await count('left')).toBe(await count('right'));
      const present = new Set(await view.list('new'));
      for (const id of acknowledged.deleted) expect(present.has(id)).toBe(false);
      for (const id of acknowledged.created) {
        // One that was being deleted when the child was killed may be gone already.
        const unsure = !acknowledged.deleted.has(id) && Number(id.split('-')[1]) % 2 === 1;
        if (!acknowledged.deleted.has(id) && !unsure) expect(present.has(id)).toBe(true);
      }
    });
    store.close();
  }
  expect(acknowledged.single).toBeGreaterThan(KILLS / 2);
  const { findings, unlocked } = await examineStore({ location: directory, credentials: [rawCredential()] });
  expect({ findings, unlocked }).toEqual({ findings: [], unlocked: true });
});

it('a store is wholly re-keyed or as before when a rekey is killed at any moment', {
  timeout: 120_000,
}, async () => {
  const directory = await newStoreDirectory();
  const setup = await openWithKey(directory);
  const ids = Array.from({ length: 60 }, (_, i) => `id${i}`).sort();
  await setup.transact((tx) => {
    for (const id of ids) tx.put({ collection: 'things', id }, { id });
  });
  let finished = 0;
  const chance = seeded();
  for (let round = 0; round < REKEYS; round++) {
    const child = start(directory, 'rekey');
    await child.said('ready');
    await sleep(chance.below(40));
    child.process.kill('SIGKILL');
    if ((await child.ended) === 0) finished++;
    // This one was open all along and follows from root key to root key.
    expect(await setup.read((view) => view.get({ collection: 'things', id: 'id7' }))).toEqual({ id: 'id7' });
    const store = await openWithKey(directory);
    expect(await store.read((view) => view.list('things'))).toEqual(ids);
    const { findings } = await examineStore({ location: directory, credentials: [rawCredential()] });
    expect(findings).toEqual([]);
    await store.transact((tx) => tx.put({ collection: 'rounds', id: String(round) }, {}));
    expect(readdirSync(directory).filter((name) => name.startsWith('generation-'))).toHaveLength(1);
  }
  const generation = (await setup.backend.state()).generation;
  expect(generation).toBeGreaterThanOrEqual(1 + finished);
  expect(generation).toBeLessThanOrEqual(1 + REKEYS);
});
