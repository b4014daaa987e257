import { expect, it } from 'vitest';
import { deleteTags as command } from '../../../src/cli/commands/tags-changes.ts';
import { carryOut, inCalls } from '../../../src/cli/tags/in-calls.ts';
import { denied, invalid } from '../../../src/ground/errors.ts';
import { rejectionOf } from '../../reference/thrown.ts';
import { refused } from '../../refusal.ts';
import { answeredSession } from '../answering.ts';

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `t${at}`);

it('a change of many tags is cut into calls of a thousand', () => {
  expect(inCalls(names(2001), async () => undefined).map(({ count }) => count)).toEqual([1000, 1000, 1]);
});

it('a change that fails says how many tags are done, unless none is', async () => {
  const { session } = answeredSession(() => undefined);
  let refusal = denied('permission denied');
  const calls = (failing: number) =>
    carryOut(
      session,
      'tags',
      [3, 4, 5].map((count, at) => ({
        count,
        run: () => (at === failing ? Promise.reject(refusal) : Promise.resolve()),
      })),
    );
  expect(await rejectionOf(calls(0))).toBe(refusal);
  expect((await refused(calls(1))).message).toContain('3 of 12 tags are done');
  expect((await refused(calls(2))).message).toContain('7 of 12 tags are done');
  expect(await rejectionOf(calls(1))).toMatchObject({ hint: 'run the same command again to do the rest' });
  refusal = invalid('no');
  expect(await rejectionOf(calls(1))).toMatchObject({
    hint: 'correct this, then run the same command again to do the rest',
  });
  await calls(3);
});

it('a thousand tags are deleted in one call, and for more the list is read first', async () => {
  const asked = async (count: number): Promise<string | undefined> => {
    const { session, calls } = answeredSession(
      () => {
        throw denied('permission denied');
      },
      { yes: true, org: 'acme' },
    );
    const given = { arguments: names(count), options: new Map() };
    await rejectionOf(Promise.resolve(command.run(session, given)));
    return calls[0];
  };
  expect(await asked(1001)).toBe('tags list');
  expect(await asked(1000)).not.toBe('tags list');
});
