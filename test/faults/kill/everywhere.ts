import { expect, it } from 'vitest';
import { sampled } from '../../sampled.ts';
import { seeded } from '../../seeded.ts';
import { checkStoreAfter } from '../aftermath.ts';
import type { Call, Fault } from '../layer/plan.ts';
import { runStruck, undisturbed } from '../struck-process.ts';
import { Tally } from '../tally.ts';
import { usualTemplate } from '../template.ts';
import type { Write } from '../writes.ts';

/** Tests that kill each command before each of its calls, and look at what is left. */
export function killEverywhere(writes: readonly Write[]): void {
  const template = usualTemplate();
  it.each(writes)(
    'killed at any system call, or without power before what it wrote is synced, "$name" leaves all as before or as after',
    async (write) => {
      const { calls, expected } = await undisturbed(write, template());
      const tally = new Tally();
      for (const kill of sampled(killsAt(calls), seeded(), 40)) {
        const box = template().copy();
        const { end, stdout } = await runStruck(box, write.words(box), write.input, kill);
        await tally.after(kill.name, async () => {
          expect(end).toBe('SIGKILL');
          const isTold = stdout !== '' && write.printsFirst !== true;
          await checkStoreAfter(write, box, expected, { acknowledged: kill.isLast || isTold });
        });
        box.remove();
      }
      tally.settle();
    },
  );
}

interface KillPoint {
  readonly name: string;
  readonly at: number;
  readonly fault: Fault;
  /** Everything was done and said. */
  readonly isLast: boolean;
}

/**
 * Before each call, and in the midst of each write. Before a sync it is the power that fails: for a process that is only killed, a
 * sync changes nothing, so that moment is the same as the one before the next call.
 */
function killsAt(calls: readonly Call[]): readonly KillPoint[] {
  return calls.flatMap((call, index) => {
    const at = index + 1;
    const name = `call ${at} of ${calls.length}, ${call.kind} ${call.path}`;
    const fault = { kind: 'kill', losesData: call.kind === 'sync' } as const;
    const before = { name: `before ${name}`, at, fault, isLast: call.kind === 'exit' };
    if (call.kind !== 'write') return [before];
    return [before, { name: `within ${name}`, at, fault: { kind: 'kill', torn: true }, isLast: false }];
  });
}
