import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Call } from './layer/plan.ts';
import { ailments, leftovers, NO_STORE, pictureOf } from './picture.ts';
import type { Sandbox } from './sandbox.ts';
import { runStruck, traceOf } from './struck-process.ts';
import { Tally } from './tally.ts';
import { usualTemplate } from './template.ts';
import { fileWrites, keyWrites, lookAt, peopleWrites, storeOf, storeWrites, type Write } from './writes.ts';

const template = usualTemplate();

it.each([...keyWrites, ...peopleWrites, ...storeWrites, ...fileWrites])(
  'a process killed at any system call of "$name" leaves everything as before or as after',
  async (write) => {
    const before = template().copy();
    const after = before.copy();
    const calls = await traceOf(after, write.words(after), write.input);
    const expected = { before: await lookAt(write, before), after: await lookAt(write, after) };
    expect(expected.before).not.toBe(expected.after);
    const tally = new Tally();
    for (const kill of killsAt(calls)) {
      const box = before.copy();
      const { end, stdout } = await runStruck(box, write.words(box), write.input, {
        at: kill.at,
        fault: { kind: 'kill', torn: kill.torn },
      });
      await tally.after(kill.name, async () => {
        expect(end).toBe('SIGKILL');
        await checkKilled(write, box, expected, { acknowledged: kill.isLast || stdout !== '' });
      });
      box.remove();
    }
    before.remove();
    after.remove();
    tally.settle();
  },
);

interface KillPoint {
  readonly name: string;
  readonly at: number;
  readonly torn: boolean;
  /** Everything was done and said. */
  readonly isLast: boolean;
}

/** Before each call; and in the midst of each write. */
function killsAt(calls: readonly Call[]): readonly KillPoint[] {
  return calls.flatMap((call, index) => {
    const at = index + 1;
    const name = `call ${at} of ${calls.length}, ${call.kind} ${call.path}`;
    const before = { name: `before ${name}`, at, torn: false, isLast: call.kind === 'exit' };
    return call.kind === 'write'
      ? [before, { name: `within ${name}`, at, torn: true, isLast: false }]
      : [before];
  });
}

async function checkKilled(
  write: Write,
  box: Sandbox,
  expected: { readonly before: string; readonly after: string },
  { acknowledged }: { readonly acknowledged: boolean },
): Promise<void> {
  const store = storeOf(write, box);
  expect(await ailments(store)).toEqual([]);
  const found = await lookAt(write, box);
  if (found !== expected.after) expect(found).toBe(acknowledged ? expected.after : expected.before);
  if (found === expected.before) {
    const again = await box.run(write.words(box), write.input === undefined ? {} : { input: write.input });
    expect(again).toMatchObject({ exitCode: 0 });
  }
  await box.ok(['orgs', 'create', 'the-next', '--store', store]);
  expect(await ailments(store)).toEqual([]);
  expect(existsSync(store) ? leftovers(store) : NO_STORE).toEqual([]);
  expect(await pictureOf(store)).toContain('the-next');
}
