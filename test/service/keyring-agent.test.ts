import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { KeyringAgent } from '../../src/service/agent/keyring-agent.ts';

const HOUR_MS = 3_600_000;

function unlocked(): KeyringAgent {
  const agent = new KeyringAgent({
    handed: {
      store: 's',
      cards: [],
      roots: new Map(),
      usable: [],
      identities: null,
      idleMs: HOUR_MS,
      forMs: 8 * HOUR_MS,
    },
    judge: { versionsFor: () => () => [], areLastRules: () => true },
    isReachable: () => true,
  });
  onTestFinished(() => agent.lock());
  return agent;
}

/** The clock of the wall, so much later than it is. */
function later(ms: number): void {
  const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + ms);
  onTestFinished(() => clock.mockRestore());
}

const version = { key: 'app', number: 1, type: 'aes256-gcm96', under: 'none', material: '' };
const nowhere = { path: '', file: '' };
const reading = {
  version: '',
  identities: '',
  memory: nowhere,
  directory: nowhere,
  keyring: { path: '', listing: '' },
  values: [],
};
const WORKS: readonly (readonly [what: string, work: (agent: KeyringAgent) => Promise<unknown>])[] = [
  ['opening values', (agent) => agent.open([])],
  ['reading values', (agent) => agent.read(reading)],
  ['encrypting values', (agent) => agent.seal({ version, values: [] })],
];

describe('the agent of a keyring, when asked', () => {
  it.each(WORKS)('takes %s for a use, which puts off the time when it locks', async (_, work) => {
    const agent = unlocked();
    const { idle_until: before = '' } = await agent.status();
    later(HOUR_MS / 2);
    await work(agent);
    const { uses, idle_until: after = '' } = await agent.status();
    expect(uses).toBe(1);
    expect(after > before).toBe(true);
  });

  it.each(WORKS)(
    'locks in place of %s when its time is up, as after the machine was asleep',
    async (_, work) => {
      const agent = unlocked();
      later(9 * HOUR_MS);
      await expect(work(agent)).rejects.toMatchObject({ kind: 'sealed', message: 'the keyring is locked' });
      await agent.locked;
      expect((await agent.status()).locked).toBe(true);
    },
  );
});
