import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { invalid, unavailable } from '../../src/ground/errors.ts';
import { turn } from '../../src/ground/pause.ts';
import { Agent } from '../../src/service/agent/agent.ts';
import { isProof } from '../../src/service/agent/proof.ts';
import { Log } from '../../src/service/log.ts';
import { handOver } from '../../src/store/handed-over.ts';
import type { SealedStore } from '../../src/store/sealed/sealed-store.ts';
import { refused } from '../refusal.ts';
import { newStoreDirectory, openWithKey } from '../store/temporary-store.ts';

const MINUTE = 60_000;

let lines: { readonly level: string; readonly message: string; readonly reason?: string }[];
let isReachable: boolean;
beforeEach(() => {
  lines = [];
  isReachable = true;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => void vi.useRealTimers());

/** An agent with an open store, and that store. */
async function open(
  idleMs = 10 * MINUTE,
  forMs = 60 * MINUTE,
): Promise<{ agent: Agent; store: SealedStore }> {
  const location = await newStoreDirectory();
  const opened = await openWithKey(location);
  const handed = await handOver(opened);
  opened.close();
  const log = new Log((line) => lines.push(JSON.parse(line)));
  const agent = await Agent.create({ location, log, describe: () => ({}), isReachable: () => isReachable });
  onTestFinished(() => agent.lock('the test ended'));
  const adopt = vi.spyOn(agent.service, 'adopt');
  await agent.unlockWith({ handed, idleMs, forMs });
  const store = adopt.mock.calls[0]?.[0] as SealedStore;
  return { agent, store };
}

async function pass(ms: number): Promise<void> {
  vi.advanceTimersByTime(ms);
  for (let turns = 0; turns < 20; turns++) await turn();
}

const reasons = () => lines.filter(({ message }) => message === 'locked').map(({ reason }) => reason);

describe('an agent', () => {
  it('is locked once, for the first reason', async () => {
    const { agent } = await open();
    await Promise.all([agent.lock('it was told to'), agent.lock('it was told again'), agent.seal()]);
    expect(await agent.locked).toBe('it was told to');
    expect(reasons()).toEqual(['it was told to']);
    expect(await refused(agent.look())).toMatchObject({ kind: 'sealed', message: 'the store is locked' });
    expect([agent.isWaiting, agent.status().locked]).toEqual([false, true]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('locks when its time is over, at a look or by itself, and not before', async () => {
    const { agent } = await open(MINUTE);
    vi.setSystemTime(Date.now() + MINUTE - 1);
    await agent.with(undefined, async () => undefined);
    expect(agent.status().locked).toBe(false);
    vi.setSystemTime(Date.now() + 1);
    await agent.with(undefined, async () => undefined);
    expect(reasons()).toEqual(['its time limit was reached']);
    const { agent: other } = await open(MINUTE);
    vi.setSystemTime(Date.now() + MINUTE);
    await pass(5000);
    expect(other.status().locked).toBe(true);
  });

  it('stays open while it is at work, and locks when its sockets are gone', async () => {
    const { agent } = await open(MINUTE);
    const held = Promise.withResolvers<number>();
    const work = agent.busyWith(
      () => false,
      () => held.promise,
    );
    for (let i = 0; i < 4; i++) {
      vi.setSystemTime(Date.now() + MINUTE / 2);
      await pass(5000);
    }
    expect(agent.status()).toMatchObject({ locked: false, uses: 0 });
    held.resolve(1);
    await work;
    isReachable = false;
    await pass(5000);
    expect(reasons()).toEqual(['its sockets were deleted or replaced']);
  });

  it.each([
    ['after more than half a minute', 30_001, 1],
    ['not after half a minute', 30_000, 0],
    ['where the clock was set back by more', -30_001, 1],
    ['not where the clock was set back by half a minute', -30_000, 0],
  ])('looks at its store by itself %s', async (_, ms, expected) => {
    const { store } = await open();
    const header = vi.spyOn(store.backend, 'header');
    vi.setSystemTime(Date.now() + ms - 5000);
    await pass(5000);
    expect(header).toHaveBeenCalledTimes(expected);
  });

  it('stays open while its store does not answer, and locks when it cannot be checked', async () => {
    const { agent, store } = await open();
    const header = vi.spyOn(store.backend, 'header');
    header.mockRejectedValue(unavailable('the disk does not answer'));
    await agent.with(undefined, async () => undefined);
    expect(agent.status().locked).toBe(false);
    header.mockRejectedValue(new Error('hunter2'));
    await agent.with(undefined, async () => undefined);
    expect(reasons()).toEqual(['the store could not be checked']);
    expect(lines.map(({ message }) => message)).toContain('cannot check the store');
    expect(JSON.stringify(lines)).not.toContain('hunter2');
  });

  it('locks for an error of its store that does not pass', async () => {
    const { agent, store } = await open();
    vi.spyOn(store.backend, 'header').mockRejectedValue(invalid('it is another'));
    await agent.with(undefined, async () => undefined);
    expect(agent.status().locked).toBe(true);
  });

  it('is a server that cannot be unsealed from outside, and tells of itself', async () => {
    const { agent } = await open();
    expect(await refused(agent.unseal())).toMatchObject({
      kind: 'unsupported',
      message: 'the agent cannot be unsealed through the API',
    });
    expect(await agent.resetUnseal()).toMatchObject({ sealed: false, progress: 0 });
    expect(await agent.metrics()).toContain('\ncoffer_sealed 0\n');
    await agent.reload();
    await agent.lock('it was told to');
    expect(await agent.metrics()).toContain('\ncoffer_sealed 1\n');
    expect(await agent.sealStatus()).toMatchObject({ sealed: true });
  });
});

it('a proof is a text as long as the right one', () => {
  for (const sent of [undefined, null, 7, ['right'], { length: 5 }, '', 'righ', 'right1', 'wrong'])
    expect(isProof(sent, 'right')).toBe(false);
  expect(isProof('right', 'right')).toBe(true);
});
