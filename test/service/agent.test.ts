import { expect, it, onTestFinished, vi } from 'vitest';
import { invalid } from '../../src/ground/errors.ts';
import { Agent } from '../../src/service/agent/agent.ts';
import { Log } from '../../src/service/log.ts';
import { handOver } from '../../src/store/handed-over.ts';
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
  return { agent, unlocking };
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
