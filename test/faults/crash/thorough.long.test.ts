import { expect, it } from 'vitest';
import { seeded } from '../../seeded.ts';
import { Tally } from '../tally.ts';
import { usualTemplate } from '../template.ts';
import { keyWrites, storeWrites } from '../writes.ts';
import { checkOnce, cutsOf, killsOf } from './everywhere.ts';
import { followed, undisturbed } from './scenario.ts';

const template = usualTemplate();

/** Commands in which what the next one builds on may not be on the disk, and how many power cuts in it are tried. */
it.each([
  { name: 'transit keys create fresh', at: [/./], cuts: Number.POSITIVE_INFINITY },
  { name: 'store copy', at: [/^$/, /^other$/], cuts: 40 },
  { name: 'rekey', at: [/^store\/state$/, /^store$/], cuts: 100 },
])(
  'killed anywhere that matters, "$name" and who comes next, without power anywhere, leave all as before or as after',
  async ({ name, at, cuts }) => {
    const write = [...keyWrites, ...storeWrites].find((each) => each.name === name);
    if (write === undefined) throw new Error('there is no such command');
    const chance = seeded();
    const tally = new Tally('crash states');
    const scenario = await undisturbed(write, template());
    const kills = killsOf(scenario).filter(({ directory }) => at.some((pattern) => pattern.test(directory)));
    expect(kills.length).toBeGreaterThanOrEqual(at.length);
    for (const killed of kills.flatMap(({ after }) => after)) {
      for (const follower of ['reads', 'changes one'] as const) {
        const first = { fault: { killed }, follower };
        const second = await followed(scenario, first.fault, follower);
        for (const cut of cutsOf(second, cuts, chance)) await checkOnce(tally, second, cut, first);
      }
    }
    tally.settle();
  },
);
