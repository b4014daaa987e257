import { expect, it } from 'vitest';
import { isLong } from '../../long.ts';
import { oneOutOf, sampled } from '../../sampled.ts';
import { seeded } from '../../seeded.ts';
import { checkStoreAfter, type Expected } from '../aftermath.ts';
import type { Call, Moment } from '../layer/plan.ts';
import type { Sandbox } from '../sandbox.ts';
import { copiesAt, runStruck, undisturbed } from '../struck-process.ts';
import { Tally } from '../tally.ts';
import { usualTemplate } from '../template.ts';
import type { Write } from '../writes.ts';

/** One of so many moments is that of a true kill. */
const ONE_TRUE_KILL_OF = isLong ? 10 : 160;

/**
 * Tests that look at what is left of each command when it is killed before each of its calls. A kill leaves what was done and releases
 * the locks, so one process stands for all: what each kill would leave is copied while it runs. Some of them are killed for true, and
 * `copies.test.ts` compares the two.
 */
export function killEverywhere(writes: readonly Write[]): void {
  const template = usualTemplate();
  it.each(writes)(
    'killed at any system call, or without power before what it wrote is synced, "$name" leaves all as before or as after',
    async (write) => {
      const { calls, expected } = await undisturbed(write, template(), { inTurn: true });
      const tally = new Tally();
      const kills = sampled(killsAt(calls), seeded(), 40);
      const box = template().copy();
      const copies = await copiesAt(box, write, kills);
      expect(copies.calls.map(({ kind }) => kind)).toEqual(calls.map(({ kind }) => kind));
      for (const [number, kill] of kills.entries()) {
        copies.put(number);
        const isTold = calls.slice(0, kill.at - 1).some(({ kind }) => kind === 'print');
        await tally.after(kill.name, () => checkLeft(write, box, expected, { kill, isTold }));
      }
      copies.remove();
      box.remove();
      for (const kill of oneOutOf(ONE_TRUE_KILL_OF, killsAt(calls), seeded('true'))) {
        const killed = template().copy();
        const { end, stdout } = await runStruck(killed, write.words(killed), write.input, kill);
        await tally.after(`killed for true ${kill.name}`, async () => {
          expect(end).toBe('SIGKILL');
          await checkLeft(write, killed, expected, { kill, isTold: stdout !== '' });
        });
        killed.remove();
      }
      tally.settle();
    },
  );
}

/** @param isTold whether anything was printed before the kill. */
function checkLeft(
  write: Write,
  box: Sandbox,
  expected: Expected,
  { kill, isTold }: { readonly kill: KillPoint; readonly isTold: boolean },
): Promise<void> {
  const acknowledged = kill.isLast || (isTold && write.printsFirst !== true);
  return checkStoreAfter(write, box, expected, { acknowledged });
}

interface KillPoint extends Moment {
  readonly name: string;
  /** Everything was done and said. */
  readonly isLast: boolean;
}

/**
 * Before each call, and in the midst of each write. Before a sync it is the power that fails: for a process that is only killed, a
 * sync changes nothing, so that moment is the same as the one before the next call.
 */
export function killsAt(calls: readonly Call[]): readonly KillPoint[] {
  return calls.flatMap((call, index) => {
    const at = index + 1;
    const name = `call ${at} of ${calls.length}, ${call.kind} ${call.path}`;
    const fault = { kind: 'kill', losesData: call.kind === 'sync' } as const;
    const before = { name: `before ${name}`, at, fault, isLast: call.kind === 'exit' };
    if (call.kind !== 'write') return [before];
    return [before, { name: `within ${name}`, at, fault: { kind: 'kill', torn: true }, isLast: false }];
  });
}
