import { expect, it } from 'vitest';
import { consentBy } from '../../../src/doors/agent/questions.ts';
import { ssh } from '../../../src/doors/agent/ssh/ssh.ts';

const SECOND = 1000;
const offer = (mount: string, key: string) => ({ mount, key, uses: ['login'], confirm: true });
const laptop = offer('transit', 'laptop');
const waiting = (): AbortSignal => new AbortController().signal;

/** Questions that are answered in order, on a clock that is set by hand. */
function asking(...answers: readonly boolean[]) {
  const questions: string[] = [];
  const left = [...answers];
  const clock = { now: 0 };
  const ask = async (question: string): Promise<boolean> => {
    questions.push(question);
    return left.shift() === true;
  };
  const consent = consentBy(ssh, ask, () => clock.now);
  const given = (asked = laptop, gone = waiting()): Promise<boolean> =>
    consent(asked, 'log in', gone).then(
      () => true,
      () => false,
    );
  return { questions, clock, given };
}

it('names the mount of a key, unless it is the usual one', async () => {
  const { questions, given } = asking(true, true);
  await given(laptop);
  await given(offer('team', 'laptop'));
  expect(questions).toEqual([
    'Allow ssh to use key laptop to log in?',
    'Allow ssh to use key team/laptop to log in?',
  ]);
});

it('asks nobody for a while after a no, for longer after each further one, and only about that key', async () => {
  const { questions, clock, given } = asking(false, false, true, true, false);
  expect(await Promise.all([given(), given(), given()])).toEqual([false, false, false]);
  expect(questions).toHaveLength(1);
  clock.now = 9 * SECOND;
  expect(await given()).toBe(false);
  clock.now = 10 * SECOND;
  expect(await given()).toBe(false);
  expect(questions).toHaveLength(2);
  expect(await given(offer('transit', 'other'))).toBe(true);
  clock.now = 29 * SECOND;
  expect(await given()).toBe(false);
  expect(questions).toHaveLength(3);
  clock.now = 30 * SECOND;
  expect(await given()).toBe(true);
  // A yes has the next no be the first again.
  expect(await given()).toBe(false);
  clock.now = 40 * SECOND;
  await given();
  expect(questions).toHaveLength(6);
});

it('takes no no from who has hung up', async () => {
  const { questions, given } = asking(false, true);
  const gone = new AbortController();
  gone.abort();
  expect(await given(laptop, gone.signal)).toBe(false);
  expect(await given()).toBe(true);
  expect(questions).toHaveLength(2);
});

it('is a no where nobody can be asked', async () => {
  await expect(consentBy(ssh, undefined)(laptop, 'log in', waiting())).rejects.toThrow(
    'the agent cannot ask for confirmation',
  );
});
