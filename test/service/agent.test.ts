import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { invalid } from '../../src/ground/errors.ts';
import { Agent } from '../../src/service/agent/agent.ts';
import { areTimes } from '../../src/service/agent/calls.ts';
import { agentProof, ownerProof } from '../../src/service/agent/proof.ts';
import { Log } from '../../src/service/log.ts';
import { handOver, sharedKey } from '../../src/store/handed-over.ts';
import { newStoreDirectory, openWithKey } from '../store/temporary-store.ts';

const MINUTE = 60_000;

/** An agent that waits, and what opens its store. */
async function waiting() {
  const location = await newStoreDirectory();
  const store = await openWithKey(location);
  const unlocking = { handed: await handOver(store), idleMs: MINUTE, forMs: MINUTE };
  store.close();
  const agent = await Agent.create({
    location,
    log: new Log(() => undefined),
    describe: () => ({}),
    isReachable: () => true,
  });
  onTestFinished(() => agent.lock('the test ended'));
  return { agent, unlocking, location };
}

it('stays locked when it is locked while it takes a store over', async () => {
  const { agent, unlocking } = await waiting();
  const unlocked = expect(agent.unlockWith(unlocking)).rejects.toMatchObject({ kind: 'unsupported' });
  await agent.lock('it was told to');
  await unlocked;
  expect([agent.status().locked, agent.service.served]).toEqual([true, undefined]);
});

it('stays locked when it is locked while its service takes the store up', async () => {
  const { agent, unlocking } = await waiting();
  const { service } = agent;
  const adopt = service.adopt.bind(service);
  vi.spyOn(service, 'adopt').mockImplementation(async (store) => {
    const locking = agent.lock('it was told to');
    await adopt(store);
    await locking;
  });
  await expect(agent.unlockWith(unlocking)).rejects.toMatchObject({ kind: 'unsupported' });
  expect([agent.status().locked, agent.service.served]).toEqual([true, undefined]);
});

it('counts as used by what was done, and not by what was refused', async () => {
  const { agent, unlocking } = await waiting();
  await agent.unlockWith(unlocking);
  const refuse = async (): Promise<number> => {
    throw invalid('no');
  };
  await agent.with(
    () => true,
    async () => 1,
  );
  await agent.with(
    (status) => status < 400,
    async () => 403,
  );
  await expect(agent.with(() => true, refuse)).rejects.toThrow('no');
  expect(agent.status().uses).toBe(1);
});

describe('the times of an agent', () => {
  const later = { idleMs: 2 * MINUTE, forMs: 30 * MINUTE };

  /** An open one, and what who can open its store has in common with it. */
  async function open() {
    const { agent, unlocking, location } = await waiting();
    await agent.unlockWith(unlocking);
    const store = await openWithKey(location);
    const key = await sharedKey(store);
    store.close();
    return { agent, key };
  }

  it('are started anew by who can open the store, once for each proof', async () => {
    const { agent, key } = await open();
    const { until: before } = agent.status();
    const shown = await agent.prove('asked');
    expect(shown?.proof).toBe(agentProof(key, 'asked', shown?.nonce ?? ''));
    const nonce = shown?.nonce ?? '';
    const proof = ownerProof(key, nonce, later);
    const { until } = await agent.extend({ ...later, nonce, proof });
    expect(Date.parse(until ?? '')).toBeGreaterThan(Date.parse(before ?? ''));
    await expect(agent.extend({ ...later, nonce, proof })).rejects.toMatchObject({ kind: 'denied' });
  });

  it.each([
    { title: 'other times', change: { forMs: 31 * MINUTE } },
    { title: 'another nonce', change: { nonce: 'other' } },
    { title: 'no proof', change: { proof: '' } },
    { title: "the agent's own proof", change: undefined },
  ])('stay as they are for $title', async ({ change }) => {
    const { agent, key } = await open();
    const { until } = agent.status();
    const shown = await agent.prove('asked');
    const nonce = shown?.nonce ?? '';
    const sent = { ...later, nonce, proof: ownerProof(key, nonce, later), ...(change ?? shown) };
    await expect(agent.extend(sent)).rejects.toMatchObject({ kind: 'denied' });
    expect(agent.status().until).toBe(until);
  });

  it.each([
    ['zero', 0, 1],
    ['negative', 1, -1],
    ['without end', 1, Number.POSITIVE_INFINITY],
    ['longer than 366 days', 1, 366 * 24 * 60 * MINUTE + 1],
  ])('are refused when they are %s', async (_, idleMs, forMs) => {
    expect(areTimes({ idleMs, forMs })).toBe(false);
    const { agent, unlocking } = await waiting();
    const times = { idleMs, forMs };
    const expected = { kind: 'invalid', message: 'invalid timeouts' };
    await expect(agent.extend({ ...times, nonce: '', proof: '' })).rejects.toMatchObject(expected);
    await expect(agent.unlockWith({ ...unlocking, ...times })).rejects.toMatchObject(expected);
    expect(unlocking.handed.rootKey.every((byte) => byte === 0)).toBe(true);
  });

  it('may be 366 days', () => {
    const longest = 366 * 24 * 60 * MINUTE;
    expect(areTimes({ idleMs: longest, forMs: longest })).toBe(true);
  });

  it('are started anew by one of the last sixteen proofs, each of a nonce of up to 100 characters', async () => {
    const { agent, key } = await open();
    for (const asked of ['n'.repeat(101), 7]) {
      await expect(agent.prove(asked)).rejects.toMatchObject({ kind: 'invalid', message: 'invalid nonce' });
    }
    const nonces: string[] = [];
    for (let index = 0; index < 17; index++) nonces.push((await agent.prove('n'.repeat(100)))?.nonce ?? '');
    const extend = (nonce = '') => agent.extend({ ...later, nonce, proof: ownerProof(key, nonce, later) });
    await expect(extend(nonces[0])).rejects.toMatchObject({ kind: 'denied' });
    for (const nonce of nonces.slice(1)) expect((await extend(nonce)).locked).toBe(false);
  });

  it('are not those of one that waits, which proves nothing', async () => {
    const { agent } = await waiting();
    expect(await agent.prove('asked')).toBeNull();
    await expect(agent.extend({ ...later, nonce: 'a', proof: '' })).rejects.toMatchObject({ kind: 'denied' });
  });
});
