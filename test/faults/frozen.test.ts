import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { unavailable } from '../../src/ground/errors.ts';
import { FilesBackend } from '../../src/store/backends/files/files-backend.ts';
import { sampled } from '../sampled.ts';
import { seeded } from '../seeded.ts';
import { checkStoreAfter } from './aftermath.ts';
import { pictureOf } from './picture.ts';
import type { Sandbox } from './sandbox.ts';
import { type Started, startStopped, undisturbed } from './struck-process.ts';
import { Tally } from './tally.ts';
import { usualTemplate } from './template.ts';
import { keyWrites, lookAt, peopleWrites, storeWrites, type Write } from './writes.ts';

const template = usualTemplate();
const NAMES = [
  'transit keys create fresh',
  'transit keys rotate orders',
  'transit keys delete orders --yes',
  'tags delete red green blue --yes',
  'slots add --raw --label spare',
  'slots remove',
  'rekey',
];
const writes = [...keyWrites, ...peopleWrites, ...storeWrites].filter(({ name }) => NAMES.includes(name));
const IMPATIENT_MS = 50;

/** Whether a process was stopped, as the kernel says. */
function isStopped({ child }: Started): boolean {
  const text = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
  return /^\) T/.test(text.slice(text.lastIndexOf(')')));
}

async function end(started: Started): Promise<void> {
  started.child.kill('SIGKILL');
  await started.ended;
}

const QUESTIONS = [
  'transit keys list',
  'transit keys read letters',
  'tags list',
  'token list',
  'slots list',
  'status',
  'doctor',
];

async function readEverything(write: Write, box: Sandbox): Promise<string> {
  for (const line of QUESTIONS) await box.ok([...line.split(' ')]);
  const backup = box.at('of-the-moment.backup');
  await box.ok(['store', 'backup', backup]);
  await box.ok(['store', 'restore', backup, '--store', box.at('restored')]);
  await box.ok(['store', 'copy', box.store, box.at('copied')]);
  const seen = await lookAt(write, box);
  expect(await pictureOf(box.at('restored'))).toBe(seen);
  expect(await pictureOf(box.at('copied'))).toBe(seen);
  return seen;
}

describe.skipIf(process.platform !== 'linux')('a writer that stands still in the midst of its work', () => {
  it.each(writes)('keeps no reader waiting, who sees all before "$name" or all after it', async (write) => {
    const { calls, expected } = await undisturbed(write, template());
    const tally = new Tally();
    const moments = [...calls.entries()].filter(([, { kind }]) => kind !== 'exit' && kind !== 'print');
    for (const [index, call] of sampled(moments, seeded(), 80)) {
      const box = template().copy();
      const started = startStopped(box, write, index + 1);
      await vi.waitUntil(() => isStopped(started), { timeout: 60_000, interval: 5 });
      await tally.after(`before call ${index + 1}, ${call.kind} ${call.path}`, async () => {
        // Nobody who only reads may need it, be it for a moment.
        const spy = vi.spyOn(FilesBackend.prototype, 'exclusive');
        spy.mockRejectedValue(unavailable('a reader has asked for the right to write'));
        const seen = await readEverything(write, box).finally(() => spy.mockRestore());
        expect([expected.before, expected.after]).toContain(seen);
        started.child.kill('SIGCONT');
        const { end: exitCode } = await started.ended;
        await checkStoreAfter(write, box, expected, { acknowledged: exitCode === 0 });
      });
      if (started.child.exitCode === null) await end(started);
      box.remove();
    }
    tally.settle();
  });

  it('is named to other writers, with what to do', async () => {
    const [write] = writes;
    if (write === undefined) throw new Error('there is nothing to write');
    const { calls } = await undisturbed(write, template());
    const box = template().copy();
    const started = startStopped(
      box,
      write,
      calls.findIndex(({ kind, path }) => kind === 'write' && path.includes('/log/')) + 1,
    );
    const before = Date.now();
    await vi.waitUntil(() => isStopped(started), { timeout: 60_000, interval: 5 });
    const { pid } = started.child;
    const backend = new FilesBackend(box.store, { lockWaitMs: IMPATIENT_MS });
    const refusal = await backend.exclusive(async () => 'in').catch((error: unknown) => error);
    const [, since = ''] = /since (\S+)$/.exec(String(refusal)) ?? [];
    expect(refusal).toMatchObject({
      kind: 'unavailable',
      hint: `that process is stopped: "kill -CONT ${pid}" resumes it, "kill -KILL ${pid}" ends it without losing acknowledged changes`,
    });
    // One digit: the wait that a store has by itself takes longer.
    expect((refusal as Error).message.replace(/^timed out after \ds /, '')).toBe(
      `waiting for ${box.at('store/lock')}, held by process ${pid} since ${since}`,
    );
    expect(Math.abs(Date.parse(since) - before)).toBeLessThan(60_000);
    await end(started);
    expect(await backend.exclusive(async () => 'in')).toBe('in');
    box.remove();
  });
});
