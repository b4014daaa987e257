import { readFileSync, rmSync } from 'node:fs';
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

/** Whether a process is stopped, as the kernel says. */
function isStopped({ child }: Started): boolean {
  const text = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
  return /^\) T/.test(text.slice(text.lastIndexOf(')')));
}

/** Waits until it stands still. @returns false if it has ended instead */
async function standsStill(started: Started): Promise<boolean> {
  let isEnded = false;
  void started.ended.then(() => {
    isEnded = true;
  });
  const isThere = () => started.child.exitCode === null && started.child.signalCode === null;
  await vi.waitUntil(() => isEnded || (isThere() && isStopped(started)), { timeout: 60_000, interval: 1 });
  return !isEnded;
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
  const restored = box.at('restored');
  const copied = box.at('copied');
  await box.ok(['store', 'backup', backup]);
  await box.ok(['store', 'restore', backup, '--store', restored]);
  await box.ok(['store', 'copy', box.store, copied]);
  const seen = await lookAt(write, box);
  expect(await pictureOf(restored)).toBe(seen);
  expect(await pictureOf(copied)).toBe(seen);
  for (const path of [backup, restored, copied]) rmSync(path, { recursive: true });
  return seen;
}

describe.skipIf(process.platform !== 'linux')('a writer that stands still in the midst of its work', () => {
  it.each(writes)('keeps no reader waiting, who sees all before "$name" or all after it', async (write) => {
    const { calls, expected } = await undisturbed(write, template(), { inTurn: true });
    const tally = new Tally();
    const moments = [...calls.entries()].filter(([, { kind }]) => kind !== 'exit' && kind !== 'print');
    const chosen = sampled(moments, seeded(), 80);
    const noted = moments.filter(([, { path }]) => path.includes('/.local/state/coffer/seen/')).length;
    const box = template().copy();
    const started = startStopped(
      box,
      write,
      chosen.map(([index]) => index + 1),
    );
    const allowed = [expected.before, expected.after];
    for (const [index, call] of chosen) {
      if (!(await standsStill(started))) {
        // A reader has noted what this machine has seen, which is less to do for the writer.
        expect(index).toBeGreaterThanOrEqual(moments.length - noted);
        break;
      }
      await tally.after(`before call ${index + 1}, ${call.kind} ${call.path}`, async () => {
        // Nobody who only reads may need it, be it for a moment.
        const spy = vi.spyOn(FilesBackend.prototype, 'exclusive');
        spy.mockRejectedValue(unavailable('a reader has asked for the right to write'));
        const seen = await readEverything(write, box).finally(() => spy.mockRestore());
        expect(allowed).toContain(seen);
        // What was seen once is not taken back.
        if (seen === expected.after) allowed.splice(0, 1, seen);
      });
      started.child.kill('SIGCONT');
    }
    const { end: exitCode } = await started.ended;
    await checkStoreAfter(write, box, expected, { acknowledged: exitCode === 0 });
    box.remove();
    tally.settle();
  });

  it('is named to other writers, with what to do', async () => {
    const [write] = writes;
    if (write === undefined) throw new Error('there is nothing to write');
    const { calls } = await undisturbed(write, template(), { inTurn: true });
    const box = template().copy();
    const started = startStopped(box, write, [
      calls.findIndex(({ kind, path }) => kind === 'write' && path.includes('/log/')) + 1,
    ]);
    const before = Date.now();
    await standsStill(started);
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
