/**
 * Processes that live beside one that was killed at any step of a change, and beside one that brings the log in order: they read on,
 * each reads whole changes only and none that is gone later, and no failure of the disk keeps them from working once it is over.
 */
import assert from 'node:assert/strict';
import { readdirSync, renameSync } from 'node:fs';
import { describe, it, onTestFinished, vi } from 'vitest';
import { unavailable } from '../../../src/ground/errors.ts';
import { turn } from '../../../src/ground/pause.ts';
import { FileLock } from '../../../src/store/backends/files/file-lock.ts';
import { FilesBackend } from '../../../src/store/backends/files/files-backend.ts';
import { WentBack } from '../../../src/store/backends/witness.ts';
import { sampled } from '../../sampled.ts';
import { seeded } from '../../seeded.ts';
import { wrapFileSystem } from '../layer/functions.ts';
import { arm, disarm, install } from '../layer/layer.ts';
import type { Fault, Plan } from '../layer/plan.ts';
import type { Sandbox } from '../sandbox.ts';
import { Tally } from '../tally.ts';
import { commit, newBox, put, rekey, type Seen, seenBy, seenIn, seenReadOnly } from './log-acts.ts';

/** The boot of the machine, which a power cut ends. */
const boots = vi.hoisted(() => ({ present: 1 }));
vi.mock('../../../src/store/backends/files/log/boot.ts', () => ({
  thisBoot: () => Buffer.alloc(8, boots.present),
  isOfThisBoot: (boot: Uint8Array) => Buffer.alloc(8, boots.present).equals(boot),
}));

const CHANGES = [
  'create',
  'reopen',
  'write',
  'sync',
  'rename',
  'unlink',
  'mkdir',
  'rmdir',
  'truncate',
] as const;
const LOOKS = ['open', 'read', 'list', 'stat'] as const;
const failure = (code: string, lasting: readonly (typeof CHANGES | typeof LOOKS)[number][] = []): Fault => ({
  kind: 'failure',
  code,
  lasting,
});

/** What is shown of a store, by whom and when ever: one content for each revision. */
class Shown {
  readonly #contents = new Map<number, string>();

  /** A process that reads, as often as it is asked. */
  reader(name: string, backend: FilesBackend): () => Promise<Seen> {
    let last = -1;
    return async () => {
      for (;;) {
        const since = last;
        const seen = await seenBy(backend);
        if (seen === undefined) continue;
        assert.ok(seen.revision >= since, `${name} fell from ${since} to ${seen.revision}`);
        last = Math.max(last, seen.revision);
        return this.add(name, seen);
      }
    };
  }

  add(name: string, seen: Seen): Seen {
    const { revision, documents } = seen;
    const content = JSON.stringify(documents);
    const known = this.#contents.get(revision) ?? content;
    this.#contents.set(revision, known);
    assert.equal(content, known, `${name} has another revision ${revision}`);
    // Both are of one change.
    assert.equal(
      documents['aa'] === 'killed',
      documents['bb'] === 'killed',
      `${name} has half of ${content}`,
    );
    return seen;
  }
}

/** A store beside whose living processes another one was killed. */
class Beside {
  readonly shown = new Shown();
  readonly box: Sandbox;
  /** A server that reads and writes. */
  readonly server: FilesBackend;
  readonly serverReads: () => Promise<Seen>;
  /** A process that only reads. */
  readonly reader: FilesBackend;
  readonly reads: () => Promise<Seen>;

  constructor(box: Sandbox) {
    this.box = box;
    this.server = new FilesBackend(box.store);
    this.reader = new FilesBackend(box.store);
    this.serverReads = this.shown.reader('the server', this.server);
    this.reads = this.shown.reader('the reader', this.reader);
  }

  /** @param killedAt number of the step of the other process before which it was killed; 0: it never began. */
  static async make(killedAt: number): Promise<Beside> {
    const beside = new Beside(await newBox());
    const { server, box } = beside;
    await commit(put('aa', '1'))(server, box.store);
    await beside.serverReads();
    await beside.reads();
    if (killedAt === 0) return beside;
    const other = new FilesBackend(box.store);
    // After that nothing of it reaches the disk.
    arm({ root: box.root, watch: 'changes', at: killedAt, fault: failure('EIO', CHANGES) });
    await commit(put('aa', 'killed'), put('bb', 'killed'))(other, box.store).catch(() => undefined);
    disarm();
    other.close();
    return beside;
  }

  async fresh(): Promise<Seen> {
    return this.shown.add('a fresh process', await seenIn(this.box.store));
  }

  async readOnly(): Promise<Seen> {
    return this.shown.add('a process that cannot write', await seenReadOnly(this.box.store));
  }

  /** All processes read, whatever is wrong with the disk. */
  async everybody(): Promise<void> {
    await this.serverReads();
    await this.readOnly();
    await this.reads();
    await this.fresh();
    await this.serverReads();
  }

  /** The server writes while it reads, and others do. @returns the documents that it has written for certain. */
  async write(name: string, plan?: Omit<Plan, 'root'>): Promise<readonly string[]> {
    const { server, box } = this;
    arm({ root: box.root, watch: 'changes', ...plan }, plan === undefined ? this.#onlookers() : undefined);
    let isRunning = true;
    try {
      const writing = commit(put(name, 'written'))(server, box.store)
        .then(() => [name])
        .catch((error: unknown) => {
          if (error instanceof WentBack || plan === undefined) throw error;
          return [];
        })
        .finally(() => {
          isRunning = false;
        });
      void writing.catch(() => undefined);
      while (isRunning) {
        await this.#read(plan);
        await turn();
      }
      return await writing;
    } finally {
      disarm();
      await Promise.all(this.#looks.splice(0));
    }
  }

  /** Reads, which may fail only where looking fails. */
  async #read(plan: Omit<Plan, 'root'> | undefined): Promise<void> {
    try {
      await this.serverReads();
      await this.reads();
    } catch (error) {
      const isHarmless =
        plan?.watch === 'looks' && !(error instanceof WentBack || error instanceof assert.AssertionError);
      if (!isHarmless) throw error;
    }
  }

  readonly #looks: Promise<unknown>[] = [];
  #isLooking = false;

  /** Others look at each step that the server takes. */
  #onlookers() {
    const look = (name: string, isAwaited: boolean): void => {
      if (this.#isLooking || !/^(?:fdatasync|fsync|rename|write|unlink)$/.test(name)) return;
      this.#isLooking = true;
      const looks = [this.reads(), this.fresh(), ...(isAwaited ? [this.serverReads()] : [])];
      for (const each of looks) void each.catch(() => undefined);
      this.#looks.push(...looks);
      this.#isLooking = false;
    };
    return { begun: (name: string) => look(name, true), done: (name: string) => look(name, false) };
  }

  /** Once nothing is wrong any more, all work on, and what was acknowledged is there. */
  async end(written: readonly string[]): Promise<void> {
    await this.everybody();
    const all = [...written, ...(await this.write('dd')), ...(await this.write('ee'))];
    for (const look of [this.serverReads, this.reads, () => this.fresh(), () => this.readOnly()]) {
      const { documents } = await look();
      for (const name of all) assert.equal(documents[name], 'written', `${name} is lost`);
    }
  }

  close(): void {
    this.server.close();
    this.reader.close();
    this.box.remove();
  }
}

/** For so many turns something waits, until it meets what another one does. */
const TICKS = [...Array(20).keys()];

type Setting = () => Promise<Beside>;

async function within(setting: Setting, work: (beside: Beside) => Promise<void>): Promise<void> {
  const beside = await setting();
  try {
    await work(beside);
  } finally {
    boots.present = 1;
    beside.close();
  }
}

/** The numbers of the calls that the server makes for its next change. */
async function callsOf(setting: Setting, watch: Plan['watch']): Promise<readonly number[]> {
  let count = 0;
  await within(setting, async ({ server, box }) => {
    arm({ root: box.root, watch });
    await commit(put('cc', 'written'))(server, box.store);
    count = disarm().calls.length;
  });
  return Array.from({ length: count }, (_, index) => index + 1);
}

/** A process was killed at each step of a change, or after it. */
async function killed(): Promise<readonly (readonly [what: string, Setting])[]> {
  const steps = await callsOf(() => Beside.make(0), 'changes');
  return [...steps, steps.length + 1].map((at) => [`killed at ${at}`, () => Beside.make(at)]);
}

/** The power failed, and took the name of the last change with it; all processes are new. */
async function afterCut(): Promise<Beside> {
  const beside = await Beside.make(1);
  await commit(put('aa', 'killed'), put('bb', 'killed'))(beside.server, beside.box.store);
  const [name = ''] = readdirSync(beside.box.at('store/state'));
  renameSync(beside.box.at(`store/state/${name}`), beside.box.at('store/state/log-1-1'));
  beside.server.close();
  beside.reader.close();
  boots.present = 2;
  return new Beside(beside.box);
}

/** What goes wrong with the disk while the server writes: once, from then on, twice. */
const troubles: readonly (readonly [what: string, watch: Plan['watch'], Fault])[] = [
  ['fails once', 'changes', failure('EIO')],
  ['fails from then on', 'changes', failure('EIO', CHANGES)],
  ['has no room from then on', 'changes', failure('ENOSPC', ['create', 'write', 'mkdir'])],
  ['cannot sync from then on', 'changes', failure('EIO', ['sync'])],
  ['has no descriptor', 'changes', failure('EMFILE')],
  ['has no descriptor to read with', 'looks', failure('EMFILE')],
  ['has none from then on', 'looks', failure('EMFILE', ['open', 'list'])],
];

describe('processes beside one that brings the log in order', () => {
  install(wrapFileSystem);

  it('read on at each of its steps, whole changes and none that is gone later', async () => {
    const tally = new Tally('states');
    for (const [what, setting] of [...(await killed()), ['a power cut', afterCut] as const])
      await tally.after(what, () => within(setting, async (beside) => beside.end(await beside.write('cc'))));
    tally.settle();
  });

  it.each(troubles)('read on where the disk %s, and work on when that is over', async (_, watch, fault) => {
    const chance = seeded();
    const tally = new Tally('states');
    for (const [what, setting] of [...(await killed()), ['a power cut', afterCut] as const]) {
      const calls = await callsOf(setting, watch);
      for (const at of sampled(calls, chance, 6)) {
        await tally.after(`${what}, at ${at}`, () =>
          within(setting, async (beside) => {
            const written = await beside.write('cc', { watch, at, fault });
            await beside.everybody();
            const again = await beside.write('c2', { watch, at: chance.below(at + 4) + 1, fault });
            await beside.end([...written, ...again]);
          }),
        );
      }
    }
    tally.settle();
  });

  it('make a new root key at the next attempt, at whatever step the one before failed', async () => {
    const tally = new Tally('states');
    let isDone = false;
    for (let at = 1; !isDone; at++) {
      await tally.after(`at ${at}`, () =>
        within(
          () => Beside.make(0),
          async ({ server, box }) => {
            arm({ root: box.root, watch: 'changes', at, fault: failure('EIO') });
            isDone = await rekey({ aa: 'first' })(server, box.store).then(
              () => !disarm().fired,
              () => disarm().calls.length === 0,
            );
            await rekey({ aa: 'second' })(server, box.store);
            assert.deepEqual((await seenIn(box.store)).documents, { aa: 'second' });
          },
        ),
      );
    }
    tally.settle();
  });

  it('read the change before or the one that is just made, however the two meet in one process', async () => {
    for (const ticks of sampled(TICKS, seeded(), 2)) {
      await within(
        () => Beside.make(100),
        async ({ server, box, serverReads }) => {
          const looks: Promise<unknown>[] = [];
          const done = async (name: string): Promise<void> => {
            if (name !== 'fdatasync') return;
            for (let tick = 0; tick < ticks; tick++) await undefined;
            looks.push(serverReads());
          };
          arm(
            { root: box.root, watch: 'changes' },
            { begun: () => undefined, done: (name) => void done(name) },
          );
          await commit(put('cc', 'written'))(server, box.store).finally(disarm);
          while (looks.length === 0) await turn();
          await Promise.all(looks);
          assert.equal((await serverReads()).documents['cc'], 'written');
        },
      );
    }
  });

  it('all find the same at once after a power cut, whoever looks first', async () => {
    await within(afterCut, async (beside) => {
      const looks = Array.from({ length: 3 }, () => beside.serverReads());
      for (const each of [...(await Promise.all(looks)), await beside.reads()])
        assert.equal(each.documents['bb'], 'killed');
      await beside.end([]);
    });
  });

  it('find the same where nothing can be written, whenever they ask or try to write meanwhile', async () => {
    const spy = vi.spyOn(FileLock.prototype, 'tryHold').mockRejectedValue(unavailable('read-only'));
    onTestFinished(() => spy.mockRestore());
    for (const asks of ['reads', 'writes'] as const) {
      for (const ticks of sampled(TICKS, seeded(), 2)) {
        await within(afterCut, async ({ server, serverReads, box }) => {
          arm({ root: box.root, watch: 'changes', at: 1, fault: failure('EIO', CHANGES) });
          const first = serverReads();
          for (let tick = 0; tick < ticks; tick++) await undefined;
          const second =
            asks === 'reads'
              ? serverReads()
              : commit(put('cc', 'written'))(server, box.store).catch(() => undefined);
          const seen = await first;
          await second;
          disarm();
          for (const each of [seen, await serverReads()]) assert.equal(each.documents['bb'], 'killed');
        });
      }
    }
  });
});
