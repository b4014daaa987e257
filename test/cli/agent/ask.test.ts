import { expect, it } from 'vitest';
import { askerOf } from '../../../src/cli/agent/ask.ts';
import { openRunner } from '../../../src/cli/command-line.ts';
import { Session } from '../../../src/cli/session.ts';
import { promptsDouble, streamsDouble } from '../streams.double.ts';

it('leaves a question on the terminal when nobody waits for its answer, and puts the next one', async () => {
  const asked: string[] = [];
  const prompts = {
    ...promptsDouble(),
    confirm: async (
      question: string,
      { ended }: { ended?: AbortSignal | undefined } = {},
    ): Promise<boolean> => {
      asked.push(question);
      if (question === 'second?') return true;
      return new Promise((resolve) => ended?.addEventListener('abort', () => resolve(false)));
    },
  };
  const ask = askerOf(new Session(streamsDouble(), {}, new Map(), prompts, openRunner));
  const gone = new AbortController();
  const answers = [ask?.('first?', gone.signal), ask?.('second?', new AbortController().signal)];
  await new Promise((resolve) => setImmediate(resolve));
  expect(asked).toEqual(['first?']);
  gone.abort();
  expect(await Promise.all(answers)).toEqual([false, true]);
});

it('puts no question for which nobody waits any more, and takes one that fails for a no', async () => {
  const prompts = promptsDouble([true]);
  const ask = askerOf(new Session(streamsDouble(), {}, new Map(), prompts, openRunner));
  const here = new AbortController().signal;
  expect(await ask?.('first?', AbortSignal.abort())).toBe(false);
  expect(await ask?.('second?', here)).toBe(true);
  expect(prompts.asked).toEqual(['second?']);
  const program = { COFFER_ASKPASS: '/nowhere/askpass' };
  const nobody = promptsDouble([], false);
  const asking = askerOf(new Session(streamsDouble(), program, new Map(), nobody, openRunner));
  expect(await asking?.('third?', here)).toBe(false);
  expect(askerOf(new Session(streamsDouble(), {}, new Map(), nobody, openRunner))).toBeUndefined();
});
