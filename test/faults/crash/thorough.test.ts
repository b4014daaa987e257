import { it } from 'vitest';
import { seeded } from '../../seeded.ts';
import { Tally } from '../tally.ts';
import { usualTemplate } from '../template.ts';
import { keyWrites } from '../writes.ts';
import { checkOnce, cutsOf, killsOf } from './everywhere.ts';
import { followed, undisturbed } from './scenario.ts';

const template = usualTemplate();
const [create] = keyWrites.filter(({ name }) => name === 'transit keys create fresh');

it('a command that is killed anywhere, and one that comes next without power anywhere, leave all as before or as after', async () => {
  if (create === undefined) throw new Error('there is no such command');
  const chance = seeded();
  const tally = new Tally('crash states');
  const scenario = await undisturbed(create, template());
  for (const killed of killsOf(scenario).flat()) {
    for (const follower of ['reads', 'changes one'] as const) {
      const first = { fault: { killed }, follower };
      const second = await followed(scenario, first.fault, follower);
      for (const cut of cutsOf(second, Number.POSITIVE_INFINITY, chance))
        await checkOnce(tally, second, cut, first);
    }
  }
  tally.settle();
});
