import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { checkRefusal, checkStoreAfter, expectationsOf, run } from '../aftermath.ts';
import { ALL } from '../errors/failures.ts';
import { runStruckHere } from '../errors/struck-here.ts';
import { questionsOf } from '../questions.ts';
import type { Sandbox } from '../sandbox.ts';
import { keyWrites, lookAt, peopleWrites, storeWrites } from '../writes.ts';
import { observe, sampledFor } from './report.ts';

/** Lets a disk fail for good and become read-only in the midst of each commit: readers see all before it, or all after it. */
export async function readOnlyAndDirty(template: Sandbox): Promise<void> {
  const writes = [...keyWrites, ...peopleWrites, ...storeWrites.slice(2, 5)];
  for (const write of sampledFor('disk that fails', writes)) {
    const expected = await expectationsOf(write, template);
    const copy = template.copy();
    const { calls } = await runStruckHere(copy, write, 'changes');
    copy.remove();
    const moments = Array.from(calls, (_, index) => index + 1);
    for (const at of sampledFor(write.name, moments, 20)) {
      const box = template.copy();
      const fault = { kind: 'failure', code: 'EIO', lasting: ALL } as const;
      await runStruckHere(box, write, 'changes', { at, fault });
      mountReadOnly(box.root);
      await observe(`${write.name} cut short at call ${at} by a disk that is read-only then`, async () => {
        for (const words of questionsOf(box, readFileSync(box.at('ciphertext'), 'utf8'))) {
          const { exitCode, stderr } = await box.run(words);
          // What was deleted is not found, and so is no more.
          if (exitCode !== NOT_FOUND) assert.equal(exitCode, 0, `${words.join(' ')}: ${stderr}`);
        }
        const seen = await lookAt(write, box);
        if (seen !== expected.before) assert.equal(seen, expected.after);
      });
      execFileSync('umount', [box.root]);
      box.remove();
    }
  }
}

const NOT_FOUND = 3;

function mountReadOnly(path: string): void {
  execFileSync('mount', ['--bind', path, path]);
  execFileSync('mount', ['-o', 'remount,bind,ro', path]);
}

/** Lets a disk become read-only under the store: what was written stays readable, and writes are refused with the reason. */
export async function readOnly(template: Sandbox): Promise<void> {
  const writes = [...keyWrites, ...peopleWrites, ...storeWrites];
  for (const write of sampledFor('read-only disk', writes)) {
    const expected = await expectationsOf(write, template);
    const box = template.copy();
    const truths = await answersIn(box);
    mountReadOnly(box.root);
    const answer = await run(write, box);
    await observe(`${write.name} on a read-only disk`, async () => {
      checkRefusal(answer, 'EROFS');
      assert.deepEqual(await answersIn(box), truths);
    });
    execFileSync('umount', [box.root]);
    await observe(`${write.name}, writable again`, () =>
      checkStoreAfter(write, box, expected, { acknowledged: false }),
    );
    box.remove();
  }
}

async function answersIn(box: Sandbox): Promise<readonly string[]> {
  const answers: string[] = [];
  for (const words of questionsOf(box, readFileSync(box.at('ciphertext'), 'utf8'))) {
    answers.push(await box.ok(words));
  }
  return answers;
}
