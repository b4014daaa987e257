import { expect, it } from 'vitest';
import { checkStoreAfter } from '../aftermath.ts';
import type { Call } from '../layer/plan.ts';
import { runStruck, undisturbed } from '../struck-process.ts';
import { Tally } from '../tally.ts';
import { usualTemplate } from '../template.ts';
import type { Write } from '../writes.ts';

/** Tests that kill each command before each of its calls, and look at what is left. */
export function killEverywhere(writes: readonly Write[]): void {
  const template = usualTemplate();
  it.each(writes)(
    'a process killed at any system call of "$name" leaves everything as before or as after',
    async (write) => {
      const { calls, expected } = await undisturbed(write, template());
      const tally = new Tally();
      for (const kill of killsAt(calls)) {
        const box = template().copy();
        const fault = { kind: 'kill', torn: kill.torn } as const;
        const { end, stdout } = await runStruck(box, write.words(box), write.input, { at: kill.at, fault });
        await tally.after(kill.name, async () => {
          expect(end).toBe('SIGKILL');
          await checkStoreAfter(write, box, expected, { acknowledged: kill.isLast || stdout !== '' });
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
  readonly torn: boolean;
  /** Everything was done and said. */
  readonly isLast: boolean;
}

/** Before each call; and in the midst of each write. */
function killsAt(calls: readonly Call[]): readonly KillPoint[] {
  return calls.flatMap((call, index) => {
    const at = index + 1;
    const name = `call ${at} of ${calls.length}, ${call.kind} ${call.path}`;
    const before = { name: `before ${name}`, at, torn: false, isLast: call.kind === 'exit' };
    return call.kind === 'write'
      ? [before, { name: `within ${name}`, at, torn: true, isLast: false }]
      : [before];
  });
}
