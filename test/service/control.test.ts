import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { denied, sealed, unavailable } from '../../src/ground/errors.ts';
import { Control, type Member } from '../../src/service/control.ts';
import { Log } from '../../src/service/log.ts';
import type { UnsealKey } from '../../src/service/unseal-keys.ts';
import { initStore } from '../../src/store/administration/init.ts';
import type { Sighting } from '../../src/store/backends/witness.ts';
import { refused } from '../refusal.ts';
import { temporaryDirectory } from '../store/temporary-store.ts';

const control = () => new Control('/none', { info: () => undefined } as never, () => ({}));
const member = (seen: () => Promise<Sighting | undefined>) => ({ seen }) as unknown as Member;
const at = (revision: number): Sighting => ({ generation: 1, revision, id: String(revision) });

describe('what the processes of a server have seen of the store', () => {
  it('is the newest state that any of them has seen, or had seen before it ended, for each new one', async () => {
    const all = control();
    expect(await all.seen()).toBeUndefined();
    const members = [at(3), undefined, at(7), at(5)].map((seen) => member(async () => seen));
    members.push(member(() => Promise.reject(new Error('it has ended'))));
    for (const one of members) await all.add(async () => one);
    expect(await all.seen()).toEqual(at(7));
    const newest = members[2];
    if (newest !== undefined) all.remove(newest);
    expect(await all.seen()).toEqual(at(7));
    await all.add(async () => member(async () => at(8)));
    expect(await all.seen()).toEqual(at(8));
  });
});

describe('a sealed server', () => {
  let texts: readonly (readonly string[])[];
  let log: string[];
  let control: Control;
  let unsealing: readonly UnsealKey[][];
  /** What unsealing a process comes to. */
  let outcome: () => Promise<void>;
  beforeEach(async () => {
    const location = join(temporaryDirectory(), 'store');
    const shares = { kind: 'shares', count: 3, threshold: 2 } as const;
    const { slots } = await initStore({ location, slots: [shares, shares] });
    texts = slots.map(({ shareTexts }) => shareTexts ?? []);
    log = [];
    const written = new Log((line) => {
      const { level, message } = JSON.parse(line) as Record<string, string>;
      log.push(`${level}: ${message}`);
    });
    control = new Control(location, written, () => ({}));
    unsealing = [];
    outcome = async () => undefined;
    const unseal = (keys: readonly UnsealKey[]): Promise<void> => {
      unsealing = [...unsealing, [...keys]];
      return outcome();
    };
    for (let i = 0; i < 2; i++)
      await control.add(async () => ({ unseal, seal: async () => undefined }) as unknown as Member);
  });

  const wiped = () =>
    unsealing.flat().every(({ parts }) => parts.every((part) => part.every((byte) => byte === 0)));

  it('takes the shares of one slot together, and begins anew with one of another', async () => {
    const [[first = '', second = ''], [other = '', another = '']] = texts as [string[], string[]];
    expect(await control.unseal(first)).toMatchObject({ sealed: true, progress: 1 });
    expect(await control.unseal(other)).toMatchObject({ sealed: true, progress: 1 });
    expect(await control.unseal(` ${other}\n`)).toMatchObject({ progress: 1 });
    expect(await control.unseal(second)).toMatchObject({ sealed: true, progress: 1 });
    expect(unsealing).toEqual([]);
    await control.unseal(other);
    expect(await control.unseal(another)).toMatchObject({ sealed: false, progress: 0 });
    const given = unsealing.map((keys) => keys.map(({ kind, parts }) => [kind, parts.map(String)]));
    expect(given).toEqual(Array.from({ length: 2 }, () => [['shares', [other, another]]]));
    expect(log).toEqual(['info: unsealed']);
    await control.unseal(first);
    expect(unsealing).toHaveLength(2);
  });

  it.each([denied('no slot fits'), sealed('it is locked')])(
    'says and logs that no key unlocks the store, and forgets it, when a process says: %s',
    async (error) => {
      outcome = () => Promise.reject(error);
      expect(await refused(control.unseal('a passphrase'))).toEqual({
        kind: 'invalid',
        message: 'unseal failed, invalid key',
        field: 'key',
      });
      expect(log).toEqual(['warn: an attempt to unseal failed']);
      expect(unsealing).toHaveLength(1);
      expect(wiped()).toBe(true);
      expect((await control.sealStatus()).sealed).toBe(true);
    },
  );

  it.each([unavailable('the disk does not answer'), new Error('a mistake')])(
    'takes nothing else for a wrong key, and forgets it: %s',
    async (error) => {
      outcome = () => Promise.reject(error);
      await expect(control.unseal('a passphrase')).rejects.toBe(error);
      expect(log).toEqual([]);
      expect(wiped()).toBe(true);
      expect((await control.sealStatus()).sealed).toBe(true);
    },
  );

  it('forgets its keys when it is sealed, also when it was', async () => {
    await control.seal();
    await control.unseal('a passphrase');
    expect(wiped()).toBe(false);
    await control.seal();
    expect(wiped()).toBe(true);
    expect(control.keys).toBeUndefined();
    expect(log).toEqual(['info: sealed', 'info: unsealed', 'info: sealed']);
  });
});
