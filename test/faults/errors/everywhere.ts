import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { sampled } from '../../sampled.ts';
import { seeded } from '../../seeded.ts';
import { checkRefusal, checkStoreAfter, expectationsOf } from '../aftermath.ts';
import type { Call } from '../layer/plan.ts';
import { Tally } from '../tally.ts';
import { usualTemplate } from '../template.ts';
import type { Write } from '../writes.ts';
import { type Failing, failings, failuresAt } from './failures.ts';
import { runStruckHere, type StruckAnswer } from './struck-here.ts';

/** Tests that let each call of each command fail, and look at what is left. */
export function failEverywhere(writes: readonly Write[]): void {
  const template = usualTemplate();
  it.each(writes)(
    'any call of "$name" that fails leaves everything as before or as after, and success is told only of what is durable',
    async (write) => {
      const expected = await expectationsOf(write, template());
      const undisturbed = template().copy();
      const { calls } = await runStruckHere(undisturbed, write, 'changes');
      undisturbed.remove();
      const tally = new Tally();
      for (const { call, at, failing } of sampled(failings(calls, failuresAt), seeded(), 60)) {
        const box = template().copy();
        const answer = await runStruckHere(box, write, 'changes', { at, fault: failing.fault });
        await tally.after(
          `${failing.name} at call ${at} of ${calls.length}, ${call.kind} ${call.path}`,
          async () => {
            expect(answer.fired).toBe(true);
            checkAnswer(answer, failing);
            if (failing.code !== undefined && call.kind === 'sync' && write.cleansLater !== true) {
              if (!isDoneAgain(answer.calls.slice(at - 1))) expect(answer.exitCode).not.toBe(0);
            }
            const { exitCode } = answer;
            await checkStoreAfter(write, box, expected, { acknowledged: exitCode === 0, exitCode });
            const cannotDelete = failing.name.endsWith('from then on') || call.kind === 'unlink';
            if (!cannotDelete)
              expect(readdirSync(box.root).filter((name) => name.endsWith('.tmp'))).toEqual([]);
          },
        );
        box.remove();
      }
      tally.settle();
    },
  );
}

/**
 * Whether what was to be synced has been written again, and synced after that. Without that a second sync proves nothing:
 * after a failed one, a system may take for written what is not.
 * @param calls from the one that failed
 */
function isDoneAgain([failed, ...later]: readonly Call[]): boolean {
  const path = failed?.path ?? '';
  const isWritten = ({ kind, path: changed, to = '' }: Call): boolean =>
    changed === path
      ? kind === 'write'
      : kind !== 'sync' && [changed, to].some((each) => dirname(each) === path);
  const again = later.findIndex(isWritten);
  return again !== -1 && later.slice(again).some((call) => call.kind === 'sync' && call.path === path);
}

/** Done, or one line that says why not; nothing but a failure may hinder. */
function checkAnswer(answer: StruckAnswer, { code }: Failing): void {
  if (answer.exitCode === 0) return;
  if (code === undefined) throw new Error(`refused: ${answer.stderr}`);
  checkRefusal(answer, code);
}
