import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { UNCONFIRMED } from '../../../src/cli/exit-codes.ts';
import { sampled } from '../../sampled.ts';
import { seeded } from '../../seeded.ts';
import { checkRefusal, checkStoreAfter, expectationsOf } from '../aftermath.ts';
import type { Sandbox } from '../sandbox.ts';
import { Tally } from '../tally.ts';
import { usualTemplate } from '../template.ts';
import { fileWrites, keyWrites, peopleWrites, storeWrites } from '../writes.ts';
import { failings, lookFailuresAt } from './failures.ts';
import { type Command, runStruckHere } from './struck-here.ts';

const template = usualTemplate();

interface Question extends Command {
  readonly name: string;
}

/** A file named by the caller that can't be opened counts as a wrong value. */
const WRONG_FILE_TOO = [1, 2];

const ask = (line: string): Question => ({ name: line, words: () => line.split(' ') });

const questions: readonly Question[] = [
  ask('transit keys list'),
  ask('transit keys read orders'),
  ask('tags list'),
  ask('tags of alpha'),
  ask('slots list'),
  ask('token list'),
  ask('status'),
  {
    name: 'transit decrypt',
    words: (box) => ['transit', 'decrypt', 'letters', readFileSync(box.at('ciphertext'), 'utf8')],
  },
  {
    name: 'transit envelope decrypt',
    words: (box: Sandbox) => ['transit', 'envelope', 'decrypt', 'letters', '--in', box.at('envelope')],
  },
];

it.each(questions)(
  '"$name" answers the truth or says why it cannot, whichever look at the disk fails',
  async (question) => {
    const box = template().copy();
    const { calls, ...truth } = await runStruckHere(box, question, 'looks');
    expect(truth.exitCode).toBe(0);
    const tally = new Tally();
    for (const { call, at, failing } of sampled(failings(calls, lookFailuresAt), seeded(), 160)) {
      const answer = await runStruckHere(box, question, 'looks', { at, fault: failing.fault });
      await tally.after(`${failing.name} at look ${at} of ${calls.length}, ${call.kind} ${call.path}`, () => {
        if (answer.stdout.includes(call.path)) return;
        if (answer.exitCode === 0) expect(answer.stdout).toBe(truth.stdout);
        else checkRefusal(answer, failing.code ?? '', WRONG_FILE_TOO);
      });
    }
    box.remove();
    tally.settle();
  },
);

it.each([...keyWrites, ...peopleWrites, ...storeWrites, ...fileWrites])(
  '"$name" leaves everything as before or as after, whichever look at the disk fails',
  async (write) => {
    const expected = await expectationsOf(write, template());
    const undisturbed = template().copy();
    const { calls } = await runStruckHere(undisturbed, write, 'looks');
    undisturbed.remove();
    const tally = new Tally();
    for (const { call, at, failing } of sampled(failings(calls, lookFailuresAt), seeded(), 160)) {
      const box = template().copy();
      const answer = await runStruckHere(box, write, 'looks', { at, fault: failing.fault });
      await tally.after(
        `${failing.name} at look ${at} of ${calls.length}, ${call.kind} ${call.path}`,
        async () => {
          const { exitCode } = answer;
          if (exitCode !== 0) checkRefusal(answer, failing.code ?? '', [...WRONG_FILE_TOO, UNCONFIRMED]);
          const told = WRONG_FILE_TOO.includes(exitCode) ? {} : { exitCode };
          await checkStoreAfter(write, box, expected, { acknowledged: exitCode === 0, ...told });
        },
      );
      box.remove();
    }
    tally.settle();
  },
);
