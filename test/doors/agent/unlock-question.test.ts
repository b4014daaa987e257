import { expect, it } from 'vitest';
import { UnlockQuestion } from '../../../src/doors/agent/questions.ts';
import { denied } from '../../../src/ground/errors.ts';
import type { AgentUnlocking } from '../../../src/service/agent/calls.ts';

const unlocking = { idleMs: 1, forMs: 1 } as AgentUnlocking;

/** A question that is answered by hand, on a clock that is set by hand. */
function asked() {
  const doors: string[] = [];
  const answers: PromiseWithResolvers<AgentUnlocking | undefined>[] = [];
  const taken: AgentUnlocking[] = [];
  const clock = { now: 0 };
  const question = new UnlockQuestion(
    (door) => {
      doors.push(door);
      const answer = Promise.withResolvers<AgentUnlocking | undefined>();
      answers.push(answer);
      return answer.promise;
    },
    async (given) => void taken.push(given),
    () => clock.now,
  );
  return { question, doors, answers, taken, clock };
}

it('asks once for all who come meanwhile, whichever door they come through', async () => {
  const { question, doors, answers, taken } = asked();
  const all = [question.put('ssh'), question.put('sops'), question.put('ssh')];
  answers[0]?.resolve(unlocking);
  await Promise.all(all);
  expect(doors).toEqual(['ssh']);
  expect(taken).toEqual([unlocking]);
  // It was unlocked, and has locked again since.
  const again = question.put('ssh');
  answers[1]?.resolve(unlocking);
  await again;
  expect(doors).toEqual(['ssh', 'ssh']);
});

it.each([
  ['a no', (answer: PromiseWithResolvers<AgentUnlocking | undefined>) => answer.resolve(undefined)],
  [
    'wrong answers',
    (answer: PromiseWithResolvers<AgentUnlocking | undefined>) => answer.reject(denied('wrong')),
  ],
])('does not ask again for a minute after %s', async (_, refuse) => {
  const { question, doors, answers, clock } = asked();
  const first = question.put('ssh');
  clock.now = 100_000;
  const [answer] = answers;
  if (answer !== undefined) refuse(answer);
  await first;
  for (const now of [100_000, 130_000, 159_999]) {
    clock.now = now;
    await question.put('ssh');
    await question.put('pkcs11');
  }
  expect(doors).toEqual(['ssh']);
  clock.now = 160_000;
  const next = question.put('pkcs11');
  answers[1]?.resolve(undefined);
  await next;
  expect(doors).toEqual(['ssh', 'pkcs11']);
});
