import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { checkStoreAfter } from '../aftermath.ts';
import { Tally } from '../tally.ts';
import { usualTemplate } from '../template.ts';
import { lookAt, type Write } from '../writes.ts';
import { type Failing, failuresAt } from './failures.ts';
import { runStruckHere, type StruckAnswer } from './struck-here.ts';

/** Tests that let each call of each command fail, and look at what is left. */
export function failEverywhere(writes: readonly Write[]): void {
  const template = usualTemplate();
  it.each(writes)(
    'any call of "$name" that fails leaves everything as before or as after, and success is told only of what is durable',
    async (write) => {
      const before = template().copy();
      const after = before.copy();
      const { calls, exitCode } = await runStruckHere(after, write, 'changes');
      expect(exitCode).toBe(0);
      const expected = { before: await lookAt(write, before), after: await lookAt(write, after) };
      const tally = new Tally();
      for (const [index, call] of calls.entries()) {
        for (const failing of failuresAt(call, index)) {
          const box = before.copy();
          const at = index + 1;
          const answer = await runStruckHere(box, write, 'changes', { at, fault: failing.fault });
          await tally.after(
            `${failing.name} at call ${at} of ${calls.length}, ${call.kind} ${call.path}`,
            async () => {
              expect(answer.fired).toBe(true);
              checkAnswer(answer, failing, write);
              if (failing.code !== undefined && call.kind === 'sync' && write.cleansLater !== true) {
                expect(answer.exitCode).not.toBe(0);
              }
              await checkStoreAfter(write, box, expected, { acknowledged: answer.exitCode === 0 });
              const cannotDelete = failing.name.endsWith('from then on') || call.kind === 'unlink';
              if (!cannotDelete)
                expect(readdirSync(box.root).filter((name) => name.endsWith('.tmp'))).toEqual([]);
            },
          );
          box.remove();
        }
      }
      before.remove();
      after.remove();
      tally.settle();
    },
  );
}

/** What Node and our own words call each code. */
const REASONS: Readonly<Record<string, RegExp>> = {
  EIO: /the disk reports an error|i\/o error|EIO/i,
  ENOSPC: /no space left|the disk is full/i,
  EDQUOT: /quota/i,
  EMFILE: /too many open files/i,
  EACCES: /permission denied/i,
  EROFS: /read-only/i,
  EINTR: /interrupted|EINTR/i,
};

/** Done, or one line that says why not. */
export function checkAnswer({ exitCode, stderr }: StruckAnswer, { code, name }: Failing, write: Write): void {
  if (exitCode === 0) return;
  expect({ name, stderr }).toEqual({ name, stderr: expect.stringMatching(/^coffer: [^\n]+\n$/) });
  expect(stderr).not.toContain('unexpected');
  expect(code).toBeDefined();
  if (code !== undefined) expect(stderr).toMatch(REASONS[code] ?? code);
  expect(exitCode).toBe(write.refusedWith ?? 1);
}
