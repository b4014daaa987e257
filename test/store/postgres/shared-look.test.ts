import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { SharedLook } from '../../../src/store/backends/postgres/postgres-backend.ts';

/** Looks that are answered by hand, in the order in which they were sent. */
function looks() {
  const sent: { resolve(answer: string): void; reject(error: Error): void }[] = [];
  const shared = new SharedLook<string>(() => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    sent.push({ resolve, reject });
    return promise;
  });
  return { sent, shared };
}
/** More turns of the event loop than are given to others between two looks: whatever is to be sent has been. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await setImmediate();
}

it('a shared look is sent once for all who ask at once', async () => {
  const { sent, shared } = looks();
  const asked = [shared.ask(), shared.ask(), shared.ask()];
  await settle();
  expect(sent).toHaveLength(1);
  sent[0]?.resolve('first');
  expect(await Promise.all(asked)).toEqual(['first', 'first', 'first']);
});

it('a shared look gives nobody the answer to a look that was sent before they asked', async () => {
  const { sent, shared } = looks();
  const early = shared.ask();
  await settle();
  const late = [shared.ask(), shared.ask()];
  await settle();
  expect(sent).toHaveLength(1);
  sent[0]?.resolve('first');
  expect(await early).toBe('first');
  await settle();
  expect(sent).toHaveLength(2);
  sent[1]?.resolve('second');
  expect(await Promise.all(late)).toEqual(['second', 'second']);
});

it('a shared look goes on after one that failed, which fails only for those who waited for it', async () => {
  const { sent, shared } = looks();
  const early = shared.ask();
  await settle();
  const late = shared.ask();
  sent[0]?.reject(new Error('connection timed out'));
  await expect(early).rejects.toThrow('connection timed out');
  await settle();
  sent[1]?.resolve('second');
  expect(await late).toBe('second');
});
