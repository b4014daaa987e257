import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { freshStores, isGone, over, statusOf, WITHIN } from './agent-target.ts';
import type { Place } from './harness.ts';

let place: Place;
let owner: Place;
freshStores((made, ofOwner) => {
  place = made;
  owner = ofOwner;
});

const FOR_S = 6;

it('an agent is gone when its time is up, whatever its event loop waits for', {
  timeout: 60_000,
}, async () => {
  // A pipe that nobody reads: the agent waits in the midst of the record that has no room.
  const audit = place.file('audit.pipe');
  execFileSync('mkfifo', ['-m', '600', audit]);
  await owner.ok(`unlock --for ${FOR_S}s --audit-log ${audit}`);
  const { pid, api, until } = await statusOf(place);
  let answered = 0;
  // As long as a request may be: a few of them fill the pipe, long before the time is up, also on a busy machine.
  const path = `/v1/transit/keys/${'k'.repeat(12_000)}`;
  const ask = async (): Promise<void> => {
    for (;;) {
      await over(api, 'GET', path);
      answered += 1;
    }
  };
  // It answers some of them, and then no more: who waits is told when it is killed.
  await expect(Promise.all([ask(), ask(), ask(), ask()])).rejects.toThrow();
  const lateMs = Date.now() - new Date(until).getTime();
  await vi.waitUntil(() => isGone(pid), WITHIN);
  expect(answered).toBeGreaterThan(0);
  // One that ends by itself removes it.
  expect(existsSync(api)).toBe(true);
  expect(lateMs).toBeGreaterThan(0);
  await owner.ok('unlock');
  expect((await statusOf(place)).locked).toBe(false);
});
