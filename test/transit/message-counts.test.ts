import { describe, expect, it } from 'vitest';
import { createKey } from '../../src/transit/lifecycle.ts';
import {
  MANY_MESSAGES,
  type ManyMessages,
  MessageCounts,
  TOO_MANY_MESSAGES,
} from '../../src/transit/message-counts.ts';
import { freshEngine } from './fresh-engine.ts';

const settings = {
  type: 'aes256-gcm96',
  derived: false,
  convergentEncryption: false,
  exportable: false,
  allowPlaintextBackup: false,
  autoRotatePeriodSeconds: 0,
  keyBytes: 0,
};

describe('message counts', () => {
  it('are written down in steps and at the end, and add up over processes', async () => {
    const engine = await freshEngine();
    const { document } = (await createKey(engine, 'k', settings)).key;
    const reached: number[] = [];
    const process = () =>
      new MessageCounts({
        store: engine.store,
        step: 2 ** 20,
        reached: ({ messages }) => void reached.push(messages),
      });
    const [one, other] = [process(), process()];
    const revision = await engine.store.revision();
    for (let n = 0; n < 2 ** 20 - 1; n++) one.add(engine, document, 1);
    expect(await engine.store.revision()).toBe(revision);
    expect(await other.of(engine, document)).toEqual({});
    one.add(engine, document, 1);
    await one.write();
    expect(await other.of(engine, document)).toEqual({ 1: 2 ** 20 });
    for (let n = 0; n < 5000; n++) other.add(engine, document, 1);
    await other.write();
    expect(await one.of(engine, document)).toEqual({ 1: 2 ** 20 + 5000 });
    expect(reached).toEqual([]);
  });

  it('say once when a version has reached a number at which something should be done', async () => {
    const engine = await freshEngine();
    const { document } = (await createKey(engine, 'k', settings)).key;
    const madeAt = document.versions['1']?.createdAt ?? '';
    const reached: ManyMessages[] = [];
    for (const mark of [MANY_MESSAGES, TOO_MANY_MESSAGES]) {
      await engine.store.transact((tx) => {
        const ref = { collection: engine.settings, id: 'messages/k' };
        tx.put(ref, { versions: { 1: { madeAt, messages: mark - 4096 } } });
      });
      const counts = new MessageCounts({
        store: engine.store,
        step: 4096,
        reached: (many) => void reached.push(many),
      });
      for (let n = 0; n < 8192; n++) counts.add(engine, document, 1);
      await counts.write();
      await counts.write();
    }
    expect(reached).toHaveLength(2);
    expect(reached[0]).toMatchObject({ settings: engine.settings, key: 'k', version: 1 });
    expect(reached[0]?.messages).toBeGreaterThanOrEqual(MANY_MESSAGES);
    expect(reached[1]?.messages).toBeGreaterThanOrEqual(TOO_MANY_MESSAGES);
  });

  it('warn of the version that was used last, from the very number at which something should be done', async () => {
    const engine = await freshEngine();
    const { document } = (await createKey(engine, 'k', settings)).key;
    const madeAt = document.versions['1']?.createdAt ?? '';
    await engine.store.transact((tx) => {
      const versions = { 1: { madeAt, messages: MANY_MESSAGES - 2 } };
      tx.put({ collection: engine.settings, id: 'messages/k' }, { versions });
    });
    const counts = new MessageCounts({ store: engine.store, step: 1, reached: () => undefined });
    counts.add(engine, document, 1);
    await counts.write(1);
    expect(counts.warning(engine, 'k')).toBeUndefined();
    counts.add(engine, document, 1);
    expect(counts.warning(engine, 'k')).toContain('version 1');
    counts.add(engine, document, 2);
    expect(counts.warning(engine, 'k')).toBeUndefined();
    await counts.write(1);
  });
});
