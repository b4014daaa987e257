import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { KeyringAgent } from '../../src/service/agent/keyring-agent.ts';
import type { HandedKeyring } from '../../src/service/agent/keyring-calls.ts';

const HOUR_MS = 3_600_000;

function unlocked(change: Partial<HandedKeyring> = {}, isReachable = (): boolean => true): KeyringAgent {
  const agent = new KeyringAgent({
    handed: {
      store: 's',
      cards: [],
      roots: new Map(),
      usable: [],
      identities: null,
      idleMs: HOUR_MS,
      forMs: 8 * HOUR_MS,
      ...change,
    },
    judge: { versionsFor: () => () => [], areLastRules: () => true },
    isReachable,
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
      await expect(work(agent)).rejects.toMatchObject({
        kind: 'sealed',
        message: 'the keyring has just been locked',
      });
      await agent.locked;
      expect((await agent.status()).locked).toBe(true);
    },
  );
});

describe('the agent of a keyring by itself', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    onTestFinished(() => void vi.useRealTimers());
  });

  it('locks when its time is over, and wipes its root keys', async () => {
    const root = Buffer.alloc(32, 7);
    const agent = unlocked({ idleMs: 12_000, roots: new Map([['root', root]]) });
    vi.advanceTimersByTime(11_999);
    expect((await agent.status()).locked).toBe(false);
    expect(root[0]).toBe(7);
    vi.advanceTimersByTime(1);
    await agent.locked;
    expect((await agent.status()).locked).toBe(true);
    expect(root).toEqual(Buffer.alloc(32));
    expect(await agent.areLastRules({} as never)).toBe(false);
  });

  it('locks soon after nobody can reach it any more', async () => {
    let isReachable = true;
    const agent = unlocked({}, () => isReachable);
    vi.advanceTimersByTime(20_000);
    expect((await agent.status()).locked).toBe(false);
    expect(await agent.areLastRules({} as never)).toBe(true);
    isReachable = false;
    vi.advanceTimersByTime(5000);
    await agent.locked;
  });

  it('waits for nothing once it is locked', async () => {
    const agent = unlocked();
    await Promise.all([agent.lock(), agent.lock()]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
