import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { corrupt, invalid, notFound, placed } from '../../src/ground/errors.ts';
import { turn } from '../../src/ground/pause.ts';
import { openCore } from '../../src/operations/core.ts';
import type { DoorKind } from '../../src/service/door.ts';
import { Log } from '../../src/service/log.ts';
import { serveStore } from '../../src/service/serve.ts';
import { Service } from '../../src/service/service.ts';
import { WentBack } from '../../src/store/backends/witness.ts';
import type { SealedStore } from '../../src/store/sealed/sealed-store.ts';
import { createKey } from '../../src/transit/lifecycle.ts';
import { findKey } from '../../src/transit/named-key.ts';
import { refused } from '../refusal.ts';
import { memoryStore } from '../store/memory-store.ts';
import { KEY, newStoreDirectory, rawCredential, temporaryDirectory } from '../store/temporary-store.ts';

const HOUR_MS = 3_600_000;
const PLAIN = {
  type: 'aes256-gcm96',
  derived: false,
  convergentEncryption: false,
  exportable: false,
  allowPlaintextBackup: false,
  keyBytes: 0,
};

interface Line {
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

let lines: Line[];
let log: Log;
beforeEach(() => {
  lines = [];
  log = new Log((line) => lines.push(JSON.parse(line) as Line));
});
const said = (): readonly string[] => lines.map(({ level, message }) => `${level}: ${message}`);

async function made(location = '/srv/store'): Promise<Service> {
  const service = await Service.create({
    settings: { location, workerCommand: [] },
    server: {} as never,
    log,
  });
  onTestFinished(() => service.close());
  return service;
}

describe('a service', () => {
  it('says nothing of an error that nobody expected, and counts and logs it', async () => {
    const service = await made();
    expect(service.failed(new Error('the key is hunter2'))).toBeUndefined();
    const { defects, storeFailures } = service.metrics.snapshot();
    expect([defects, storeFailures]).toEqual([1, {}]);
    expect(said()).toEqual(['error: request failed']);
    expect(JSON.stringify(lines)).not.toContain('hunter2');
  });

  it('says of an error of the store what callers may know, and logs and counts the rest', async () => {
    const service = await made();
    const file = '/srv/store/generation-1/documents/ab';
    expect(service.failed(corrupt(placed`${{ file }} is damaged`))).toMatchObject({
      kind: 'corrupt',
      message: 'generation-1/documents/ab is damaged',
    });
    expect(lines).toMatchObject([
      { level: 'warn', message: 'request failed', kind: 'corrupt', reason: `${file} is damaged` },
    ]);
    expect(service.metrics.snapshot()).toMatchObject({ defects: 0, storeFailures: { corrupt: 1 } });
  });

  it('logs and counts no mistake of a caller', async () => {
    const service = await made();
    for (const error of [invalid('no'), notFound('no key "x"')]) expect(service.failed(error)).toBe(error);
    expect(lines).toEqual([]);
    const { defects, storeFailures } = service.metrics.snapshot();
    expect([defects, storeFailures]).toEqual([0, {}]);
  });

  it('raises an alarm once for each state that the store went back from', async () => {
    const service = await made();
    const wentBack = (from: number) => {
      const at = (revision: number) => ({ generation: 1, revision });
      return new WentBack({ file: '/srv/store' }, at(from), at(2));
    };
    const first = wentBack(5);
    for (const error of [first, first, wentBack(6)]) expect(service.failed(error)?.kind).toBe('unavailable');
    expect(lines).toMatchObject(
      [5, 6].map((revision) => ({
        level: 'error',
        message: 'THE STORE WAS ROLLED BACK: all requests are refused',
        from: `generation 1, revision ${revision}`,
        to: 'generation 1, revision 2',
      })),
    );
    expect(service.metrics.snapshot().storeFailures).toEqual({ unavailable: 3 });
  });

  it('logs once that it uses the store again after an alarm, and raises the next one', async () => {
    const service = await made();
    await service.adopt(await memoryStore());
    const at = (revision: number) => ({ generation: 1, revision });
    const wentBack = new WentBack({ file: '/srv/store' }, at(5), at(2));
    await service.served?.look();
    expect(lines).toEqual([]);
    service.failed(wentBack);
    for (const _ of [1, 2]) await service.served?.look();
    service.failed(wentBack);
    expect(lines.map((line) => line['message'])).toEqual([
      'THE STORE WAS ROLLED BACK: all requests are refused',
      'the store is used again: requests are answered',
      'THE STORE WAS ROLLED BACK: all requests are refused',
    ]);
  });

  it('answers everything of a sealed store with a refusal', async () => {
    const { sealedCore, served } = await made();
    expect(served).toBeUndefined();
    const { store } = sealedCore;
    const expected = { kind: 'sealed', message: 'the store is sealed' };
    for (const work of [store.read(() => 1), store.transact(() => 1), store.revision()])
      expect(await refused(work)).toMatchObject(expected);
    store.limitCache('x', 1);
    store.close();
  });

  it('closes the store that it had when it is given another, and reloads nothing without one', async () => {
    const service = await made();
    await service.reload();
    const [first, second] = [await memoryStore(), await memoryStore()];
    await service.adopt(first);
    await service.adopt(second);
    expect(await refused(first.revision())).toMatchObject({ kind: 'sealed' });
    expect(await second.revision()).toBe('1-0');
    await service.reload();
    expect(service.served?.core.store.id).toBe(second.id);
    await service.seal();
    await service.reload();
    expect([service.served, service.lanes]).toEqual([undefined, undefined]);
    expect(await refused(second.revision())).toMatchObject({ kind: 'sealed' });
  });
});

describe('a service that runs for hours', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
    onTestFinished(() => void vi.useRealTimers());
  });

  async function withKeys(store: SealedStore): Promise<Service> {
    const core = openCore(store);
    const engine = await core.engine('transit');
    const create = (name: string, autoRotatePeriodSeconds: number) =>
      createKey(engine, name, { ...PLAIN, autoRotatePeriodSeconds });
    await create('daily', 24 * 3600);
    await create('often', 2 * 3600);
    await create('never', 0);
    const service = await made();
    await service.adopt(store);
    return service;
  }

  async function pass(hours: number): Promise<void> {
    for (let hour = 0; hour < hours; hour++) {
      vi.advanceTimersByTime(HOUR_MS);
      await vi.dynamicImportSettled();
      for (let turns = 0; turns < 50; turns++) await turn();
    }
  }

  it('rotates the keys that are due, and says how many of which mount', async () => {
    const store = await memoryStore();
    await withKeys(store);
    const latest = async (name: string) =>
      (await findKey(await openCore(store).engine('transit'), name))?.document.latestVersion;
    await pass(1);
    expect(lines).toEqual([]);
    await pass(3);
    expect(await latest('often')).toBe(3);
    expect([await latest('daily'), await latest('never')]).toEqual([1, 1]);
    expect(lines).toMatchObject(
      [1, 1].map((count) => ({ level: 'info', message: 'keys rotated', mount: 'transit', count })),
    );
  });

  it('says what it could not do, and does it the next time', async () => {
    const store = await memoryStore();
    await withKeys(store);
    const gone = new Error('the disk is gone');
    await pass(1);
    const changing = vi.spyOn(store, 'transact').mockRejectedValue(gone);
    await pass(1);
    changing.mockRestore();
    expect(said()).toEqual(['error: cannot rotate the keys that are due']);
    lines.length = 0;
    const reading = vi.spyOn(store, 'read').mockRejectedValue(gone);
    await pass(1);
    reading.mockRestore();
    expect(new Set(said())).toEqual(
      new Set([
        'error: cannot delete expired tokens',
        'error: cannot find the keys that are due for rotation',
      ]),
    );
    lines.length = 0;
    await pass(1);
    expect(said()).toEqual(['info: keys rotated']);
  });

  it('does nothing of it while it is sealed, nor once it is closed', async () => {
    const store = await memoryStore();
    const service = await withKeys(store);
    await service.seal();
    await pass(3);
    expect(lines).toEqual([]);
    await service.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a server', () => {
  const opened: object[] = [];
  const kind: DoorKind<object> = {
    async open(_, settings) {
      opened.push(settings);
      return { addresses: ['here'], renew: () => undefined, close: async () => undefined };
    },
  };
  const serve = (location: string, key = KEY, workers = 1) =>
    serveStore({
      settings: { location, workerCommand: [] },
      credentials: [rawCredential(key)],
      kind,
      door: {},
      workers,
      log,
    });

  it.each([0, -1, 257, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
    'does not start with %d workers',
    async (workers) => {
      expect(await refused(serve(await newStoreDirectory(), KEY, workers))).toEqual({
        kind: 'invalid',
        message: 'the number of workers must be 1 to 256',
        field: 'workers',
      });
    },
  );

  it('does not start where there is no store, nor with a key that does not open it', async () => {
    opened.length = 0;
    expect(await refused(serve(temporaryDirectory()))).toMatchObject({ kind: 'not-found' });
    const location = await newStoreDirectory();
    expect(
      await refused(
        serve(
          location,
          Uint8Array.from(KEY, (byte) => byte + 1),
        ),
      ),
    ).toMatchObject({
      kind: 'denied',
    });
    expect(opened).toEqual([]);
  });

  it('closes the store again when its door cannot be opened', async () => {
    const location = await newStoreDirectory();
    const close = vi.spyOn(Service.prototype, 'close');
    const busy = invalid('it is taken');
    const door: DoorKind<object> = { open: () => Promise.reject(busy) };
    const options = {
      settings: { location, workerCommand: [] },
      credentials: [rawCredential()],
      log,
      door: {},
    };
    await expect(serveStore({ ...options, kind: door, workers: 1 })).rejects.toBe(busy);
    expect(close).toHaveBeenCalledTimes(1);
  });
});
