/**
 * Cuts the power at each step of what the log of a store does: changes, files that follow one another, checkpoints, a
 * new root key, the upgrade from format 1. After each cut, whoever opens the store finds what was acknowledged, or
 * one change more, and nothing in between; also where nothing can be written, and after a second cut.
 */
import assert from 'node:assert/strict';
import { afterAll, describe, it, vi } from 'vitest';
import { FilesBackend } from '../../../src/store/backends/files/files-backend.ts';
import { checkpoint } from '../../../src/store/backends/files/log/checkpoint.ts';
import type * as Format from '../../../src/store/backends/files/log/format.ts';
import { isLong, ofDay, rounds } from '../../long.ts';
import { sampled } from '../../sampled.ts';
import { seeded } from '../../seeded.ts';
import { becomeFormat1 } from '../../store/format-1.ts';
import { wrapFileSystem } from '../layer/functions.ts';
import { arm, disarm, install } from '../layer/layer.ts';
import { Sandbox } from '../sandbox.ts';
import { Tally } from '../tally.ts';
import { cutsOf } from './everywhere.ts';
import { Disk, History } from './history.ts';
import {
  type Act,
  acts,
  commit,
  empty,
  LONG,
  makeStore,
  newBox,
  put,
  remove,
  type Seen,
  seenIn,
  seenReadOnly,
} from './log-acts.ts';
import { begunIn, deletedTooEarly } from './log-order.ts';
import { diskAfter, type PowerCut } from './power-cut.ts';
import { Recorder } from './recorder.ts';

/** The boot of the machine, which a power cut ends. */
const boots = vi.hoisted(() => ({ present: 1 }));
vi.mock('../../../src/store/backends/files/log/boot.ts', () => ({
  thisBoot: () => Buffer.alloc(8, boots.present),
  isOfThisBoot: (boot: Uint8Array) => Buffer.alloc(8, boots.present).equals(boot),
}));

/** A file of the log is small here, because thousands of disks with such files are made. */
vi.mock('../../../src/store/backends/files/log/format.ts', async (original) => {
  const format = await original<typeof Format>();
  const FILE_BYTES = 8192;
  const isFull: typeof format.isFull = (records, end) => format.isFull(records, end) || end >= FILE_BYTES;
  const isHalfFull: typeof format.isHalfFull = (records, end) => isFull(records * 2, end * 2);
  return { ...format, FILE_BYTES, isFull, isHalfFull };
});

/** Boots: of those who do what is recorded, of whoever comes next, and of who looks at what is left in the end. */
const [FIRST, NEXT, AFTERWARDS] = [1, 2, 3];

const STATES = { once: isLong ? ofDay(600) : 20, firsts: rounds(20), each: isLong ? ofDay(8) : 2 };
/** More power cuts than leave different disks after few steps: each is tried. */
const FEW = 40;

const boxes: Sandbox[] = [];
/** What was done undisturbed: recorded once for all tests, which only read it. */
const undisturbed = new Map<readonly Act[], Promise<Recorded>>();
afterAll(() => {
  for (const box of boxes) box.remove();
});

interface Told {
  /** So many steps had been recorded. */
  readonly at: number;
  readonly seen: Seen;
  /** It may be lost, because its caller was told that it failed, or that nobody knows. */
  readonly isUnsure?: boolean;
}

interface Recorded {
  readonly history: History;
  /** What was acknowledged, and when. */
  readonly told: readonly Told[];
}

/** Does things one after the other, and records each step on the disk. */
async function recorded(box: Sandbox, history: History, list: readonly Act[]): Promise<Recorded> {
  install(wrapFileSystem);
  const told: Told[] = [{ at: history.steps.length, seen: await seenIn(box.store) }];
  const backend = new FilesBackend(box.store);
  for (const act of list) {
    arm({ root: box.root, watch: 'changes' }, new Recorder(box.root, history));
    try {
      await act(backend, box.store);
    } finally {
      disarm();
    }
    assert.equal(history.live().print(), Disk.read(box.root).print(), 'the record lacks something');
    told.push({ at: history.steps.length, seen: await seenIn(box.store) });
  }
  backend.close();
  return { history, told };
}

function opened(disk: Disk): Sandbox {
  const box = Sandbox.make();
  disk.write(box.root);
  return box;
}

const same = (a: Seen, b: Seen): boolean =>
  a.revision === b.revision && JSON.stringify(a.documents) === JSON.stringify(b.documents);
const short = ({ revision, documents }: Seen): string =>
  `${revision} ${JSON.stringify(documents).replaceAll(LONG, 'LONG')}`;

/** Looks at what a power cut leaves, and goes on from there. */
async function check({ history, told }: Recorded, cut: PowerCut): Promise<void> {
  const box = opened(diskAfter(history, cut));
  boots.present = AFTERWARDS;
  try {
    const last = told.findLastIndex(({ at, isUnsure }) => at <= cut.at && isUnsure !== true);
    const next = told.findIndex(({ at, isUnsure }) => at > cut.at && isUnsure !== true);
    const allowed = told
      .slice(Math.max(0, last), next === -1 ? told.length : next + 1)
      .map(({ seen }) => seen);
    const readOnly = await seenReadOnly(box.store);
    const found = await seenIn(box.store);
    for (const each of [readOnly, found]) {
      assert.ok(
        allowed.some((one) => same(one, each)),
        `found ${short(each)}, not ${allowed.map(short).join(' or ')}`,
      );
    }
    assert.ok(found.revision >= readOnly.revision, 'a reader has seen more than is there');
    await goOn(box, found);
  } finally {
    boots.present = FIRST;
    box.remove();
  }
}

/** Whatever was left, changes and checkpoints work, and nothing is lost by them. */
async function goOn({ store }: Sandbox, { revision, documents }: Seen): Promise<void> {
  const backend = new FilesBackend(store);
  await commit(put('99', 'next'))(backend, store);
  backend.close();
  while ((await checkpoint(store, { isIdle: true })) === 'done');
  assert.equal(
    short(await seenIn(store)),
    short({ revision: revision + 1, documents: { ...documents, 99: 'next' } }),
  );
}

async function madeBox(isOld: boolean): Promise<Sandbox> {
  const box = await newBox();
  boxes.push(box);
  if (isOld) await becomeFormat1(box.store);
  return box;
}

describe('without power at any step', () => {
  const cases: readonly (readonly [string, readonly Act[], boolean])[] = [
    ...Object.entries(acts).map(([name, list]) => [name, list, false] as const),
    ['the upgrade from format 1', [commit(put('aa', '1')), commit(put('aa', '2'))], true],
  ];

  it.each(cases)('of %s, a store shows what was acknowledged, and works on', async (_, list, isOld) => {
    const done = await recordedOnce(list, isOld);
    const tally = new Tally('crash states');
    for (const cut of cutsOf({ history: done.history, from: 0 }, STATES.once, seeded()))
      await tally.after(JSON.stringify(cut), () => check(done, cut));
    tally.settle();
  });

  it.each(cases)('of %s, nothing was deleted whose successor could be lost', async (_, list, isOld) => {
    const tally = new Tally('orders');
    const first = await recordedOnce(list, isOld);
    await tally.after('all of it', () => assert.deepEqual(deletedTooEarly(first.history), []));
    for (const killed of begunIn(first.history)) {
      const second = await recordedFrom(first, first.history.until(killed), killed, [empty, ...NEXT_ACTS]);
      await tally.after(`killed at ${killed}`, () => assert.deepEqual(deletedTooEarly(second.history), []));
    }
    tally.settle();
  });

  it('of a checkpoint whose sync failed after it deleted a document, the deletion is made again before the log forgets it', async () => {
    const list = [commit(put('aa', '1')), empty, commit(remove('aa')), empty, empty];
    const chance = seeded();
    const orders = new Tally('orders');
    const tally = new Tally('crash states');
    const syncs = await syncsOf(list, false, /documents$/);
    for (const failing of syncs) {
      const done = await recordedWithFailure(list, false, failing);
      await orders.after('the order', () => assert.deepEqual(deletedTooEarly(done.history), []));
      for (const cut of cutsOf({ history: done.history, from: 0 }, STATES.each, chance))
        await tally.after(`sync ${failing.join()} ${JSON.stringify(cut)}`, () => check(done, cut));
    }
    orders.settle();
    tally.settle();
  });

  it('of the making of a store, whose process was killed then, the first change puts it on the disk for certain', async () => {
    const chance = seeded();
    const tally = new Tally('crash states');
    const { calls } = await recordedMaking();
    const last = 1 + calls.findLastIndex(({ kind, path }) => kind === 'sync' && path.endsWith('/store'));
    for (const failing of [undefined, last]) {
      const { history } = await recordedMaking(failing);
      const first = { history, told: [] };
      for (const killed of killsIn(first)) {
        const known = history.until(killed);
        if (known.live().find('store/coffer.json') === undefined) continue;
        const second = await recordedFrom(first, known, killed, [commit(put('aa', '1'))]);
        const from = second.history.steps.length;
        for (const cut of cutsOf({ history: second.history, from }, FEW, chance))
          await tally.after(`killed at ${killed}, ${JSON.stringify(cut)}`, () => check(second, cut));
      }
    }
    tally.settle();
  });

  it.each(cases)('of %s, and then of whoever comes next, it does as well', async (_, list, isOld) => {
    const chance = seeded();
    const first = await recordedOnce(list, isOld);
    const tally = new Tally('crash states');
    for (const cut of cutsOf({ history: first.history, from: 0 }, STATES.firsts, chance)) {
      boots.present = NEXT;
      const second = await recordedFrom(first, new History(diskAfter(first.history, cut)), cut.at);
      boots.present = FIRST;
      for (const again of cutsOf({ history: second.history, from: 0 }, STATES.each, chance))
        await tally.after(`${JSON.stringify(cut)} ${JSON.stringify(again)}`, () => check(second, again));
    }
    tally.settle();
  });

  it.each(cases)(
    'of whoever comes after one who was killed at any step of %s, it does as well',
    async (_, list, isOld) => {
      const chance = seeded();
      const first = await recordedOnce(list, isOld);
      const tally = new Tally('crash states');
      for (const killed of sampled(killsIn(first), chance, 16)) {
        const second = await recordedFrom(first, first.history.until(killed), killed);
        for (const cut of cutsOf({ history: second.history, from: killed }, STATES.each, chance))
          await tally.after(`killed at ${killed}, ${JSON.stringify(cut)}`, () => check(second, cut));
      }
      tally.settle();
    },
  );

  it.each(cases)(
    'of %s, where a sync failed once, its process was killed then or not, it does as well',
    async (_, list, isOld) => {
      const chance = seeded();
      const syncs = await syncsOf(list, isOld);
      const orders = new Tally('orders');
      const tally = new Tally('crash states');
      for (const failing of sampled(syncs, chance, 4)) {
        const done = await recordedWithFailure(list, isOld, failing);
        await orders.after('the order', () => assert.deepEqual(deletedTooEarly(done.history), []));
        for (const cut of cutsOf({ history: done.history, from: 0 }, STATES.each, chance))
          await tally.after(`sync ${failing.join()} ${JSON.stringify(cut)}`, () => check(done, cut));
        // Its process is killed before it does anything about it.
        const killed = 1 + done.history.steps.findIndex(({ kind }) => kind === 'failed sync');
        const second = await recordedFrom(done, done.history.until(killed), killed);
        for (const cut of cutsOf({ history: second.history, from: killed }, STATES.each, chance))
          await tally.after(`killed after sync ${failing.join()} ${JSON.stringify(cut)}`, () =>
            check(second, cut),
          );
      }
      orders.settle();
      tally.settle();
    },
  );
});

/** Makes a store, and records that. @param failing number of the call that fails */
async function recordedMaking(failing?: number) {
  const box = Sandbox.make();
  boxes.push(box);
  const history = new History(Disk.read(box.root));
  const struck =
    failing === undefined ? {} : { at: failing, fault: { kind: 'failure', code: 'EIO' } as const };
  install(wrapFileSystem);
  arm({ root: box.root, watch: 'changes', ...struck }, new Recorder(box.root, history));
  await makeStore(box.store).catch(() => undefined);
  return { history, calls: disarm().calls };
}

/** After which steps a kill differs for whoever comes next: names have changed, or a file's content. */
function killsIn({ history }: Recorded): readonly number[] {
  return [...history.steps.entries()].flatMap(([number, { kind }]) => (kind === 'sync' ? [] : [number + 1]));
}

/** In which act each sync of a path is, and its number among the calls of it that change something. */
async function syncsOf(
  list: readonly Act[],
  isOld: boolean,
  of = /./,
): Promise<readonly (readonly [act: number, call: number])[]> {
  const box = await madeBox(isOld);
  install(wrapFileSystem);
  const backend = new FilesBackend(box.store);
  const found: (readonly [act: number, call: number])[] = [];
  for (const [number, act] of list.entries()) {
    arm({ root: box.root, watch: 'changes' });
    await act(backend, box.store);
    for (const [index, { kind, path }] of disarm().calls.entries())
      if (kind === 'sync' && of.test(path)) found.push([number, index + 1]);
  }
  backend.close();
  return found;
}

/** As `recorded`; in one act a sync fails, and from then on the disk has for certain only what is written again. */
async function recordedWithFailure(
  list: readonly Act[],
  isOld: boolean,
  [failing, call]: readonly [act: number, call: number],
): Promise<Recorded> {
  const box = await madeBox(isOld);
  const history = new History(Disk.read(box.root));
  const told: Told[] = [{ at: 0, seen: await seenIn(box.store) }];
  const backend = new FilesBackend(box.store);
  for (const [index, act] of list.entries()) {
    const struck = index === failing ? { at: call, fault: { kind: 'failure', code: 'EIO' } as const } : {};
    arm({ root: box.root, watch: 'changes', ...struck }, new Recorder(box.root, history));
    let isUnsure = false;
    try {
      await act(backend, box.store);
    } catch {
      isUnsure = true;
    } finally {
      disarm();
    }
    // A look may settle what is left, which is not to happen on this disk.
    const copy = opened(Disk.read(box.root));
    told.push({ at: history.steps.length, seen: await seenIn(copy.store), isUnsure });
    copy.remove();
  }
  backend.close();
  return { history, told };
}

function recordedOnce(list: readonly Act[], isOld: boolean): Promise<Recorded> {
  const done =
    undisturbed.get(list) ??
    madeBox(isOld).then((box) => recorded(box, new History(Disk.read(box.root)), list));
  undisturbed.set(list, done);
  return done;
}

/** What whoever comes next does. */
const NEXT_ACTS: readonly Act[] = [
  (_, directory) => seenIn(directory),
  commit(put('88', 'second')),
  empty,
  commit(put('77', 'third')),
];

/**
 * As `recorded`, on what a fault has left.
 * @param history of the disk as it is then
 * @param at number of the steps that were taken before the fault
 */
async function recordedFrom(
  first: Recorded,
  history: History,
  at: number,
  next = NEXT_ACTS,
): Promise<Recorded> {
  const begun = history.steps.length;
  const box = opened(history.live());
  const copy = opened(history.live());
  const start = await seenReadOnly(copy.store);
  copy.remove();
  const last = first.told.findLastIndex((each) => each.at <= at);
  const told: Told[] = [
    { at: -1, seen: first.told[Math.max(0, last)]?.seen ?? start },
    { at: begun, seen: start },
  ];
  const backend = new FilesBackend(box.store);
  for (const act of next) {
    arm({ root: box.root, watch: 'changes' }, new Recorder(box.root, history));
    try {
      await act(backend, box.store);
    } finally {
      disarm();
    }
    told.push({ at: history.steps.length, seen: await seenIn(box.store) });
  }
  backend.close();
  box.remove();
  return { history, told };
}
