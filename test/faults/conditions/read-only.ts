import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { checkRefusal, checkStoreAfter, expectationsOf, run } from '../aftermath.ts';
import { questionsOf } from '../questions.ts';
import type { Sandbox } from '../sandbox.ts';
import { keyWrites, peopleWrites, storeWrites } from '../writes.ts';
import { observe } from './report.ts';

/** Lets a disk become read-only under the store: what was written stays readable, and writes are refused with the reason. */
export async function readOnly(template: Sandbox): Promise<void> {
  for (const write of [...keyWrites, ...peopleWrites, ...storeWrites]) {
    const expected = await expectationsOf(write, template);
    const box = template.copy();
    const truths = await answersIn(box);
    execFileSync('mount', ['--bind', box.root, box.root]);
    execFileSync('mount', ['-o', 'remount,bind,ro', box.root]);
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
