import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { Lanes, LanesOptions } from '../../src/service/lanes.ts';
import { quiet, type Submitted, World } from './fake-lanes.ts';

const MIB = 1024 * 1024;

async function worldWith(options: Partial<LanesOptions>, ...callers: readonly string[]): Promise<World> {
  const world = new World(options);
  for (const caller of callers) world.submit(caller);
  await quiet();
  for (const fake of world.fakes) fake.open();
  await quiet();
  return world;
}

type Action =
  | { readonly kind: 'submit'; readonly caller: string }
  | { readonly kind: 'open' | 'fail' | 'finish' | 'crash' | 'hangUp'; readonly which: number }
  | { readonly kind: 'renew' };

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('submit'), caller: fc.constantFrom('a', 'b', 'c') }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('finish'), which: fc.nat(5) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('open'), which: fc.nat(5) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('fail', 'crash', 'hangUp'), which: fc.nat(5) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('renew') }) },
);

const pick = <T>(list: readonly T[], which: number): T | undefined => list[which % list.length];

function act(world: World, does: Action): void {
  const opening = world.fakes.filter(({ state }) => state === 'opening');
  switch (does.kind) {
    case 'submit':
      world.submit(does.caller);
      break;
    case 'renew':
      void world.lanes.renew();
      break;
    case 'open':
      pick(opening, does.which)?.open();
      break;
    case 'fail':
      void pick(opening, does.which)?.end();
      break;
    case 'finish':
      pick(world.busy, does.which)?.finish();
      break;
    case 'crash':
      void pick(world.live, does.which)?.end();
      break;
    case 'hangUp':
      pick(world.waiting, does.which)?.hangUp.abort();
      break;
  }
}

/** Who began since `before`, while whom; fails when somebody was passed over twice by the same caller. */
class Turns {
  readonly #passedOver = new Map<string, Set<string>>();
  #seen = 0;

  check(world: World, waitedBefore: ReadonlySet<string>, count: number): void {
    for (const { caller } of world.began.slice(this.#seen)) {
      this.#passedOver.delete(caller);
      for (const other of waitedBefore) {
        if (other === caller || world.workingFor(other) >= count - 1) continue;
        const by = this.#passedOver.get(other) ?? new Set();
        expect(by).not.toContain(caller);
        this.#passedOver.set(other, by.add(caller));
      }
    }
    this.#seen = world.began.length;
    const waits = new Set(world.waiting.map(({ caller }) => caller));
    for (const caller of this.#passedOver.keys()) if (!waits.has(caller)) this.#passedOver.delete(caller);
    // Whose lane is at its share has no turn to lose.
    for (const caller of waits) if (world.workingFor(caller) >= count - 1) this.#passedOver.delete(caller);
  }
}

const callersOf = (jobs: readonly Submitted[]): ReadonlySet<string> =>
  new Set(jobs.map(({ caller }) => caller));

async function drain(world: World): Promise<void> {
  for (let round = 0; world.jobs.some(({ outcome }) => outcome === 'waits'); round += 1) {
    expect(round).toBeLessThan(1_000);
    for (const fake of world.fakes) {
      if (fake.state === 'opening') fake.open();
      fake.finish();
    }
    await quiet();
  }
}

describe('lanes, whatever callers do and lanes suffer,', () => {
  it.each([2, 3])('answer or refuse every job in turn, with %i of them', async (count) => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
        const world = new World({ count, idleMs: 60_000 });
        const turns = new Turns();
        for (const does of actions) {
          const waited = callersOf(world.waiting);
          act(world, does);
          await quiet();
          expect(world.live.length).toBeLessThanOrEqual(count);
          for (const caller of callersOf(world.jobs)) {
            expect(world.workingFor(caller)).toBeLessThanOrEqual(count - 1);
          }
          const isIdle = world.live.some(({ state, job }) => state === 'open' && job === undefined);
          const canGoOn = world.waiting.some(({ caller }) => world.workingFor(caller) < count - 1);
          expect(isIdle && canGoOn).toBe(false);
          turns.check(world, waited, count);
        }
        await drain(world);
        for (const caller of callersOf(world.jobs)) {
          const numbers = world.began.filter((done) => done.caller === caller).map(({ number }) => number);
          expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
        }
        for (const { began, outcome, hangUp } of world.jobs) {
          if (outcome === 'done') expect(began).toBe(true);
          else if (!hangUp.signal.aborted) expect(outcome).toBe('refused');
        }
        await world.lanes.close();
        expect(world.live).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});

describe('lanes', () => {
  it('are opened when there is work for them, and one for one caller', async () => {
    const world = new World();
    expect(world.fakes).toHaveLength(0);
    for (let count = 0; count < 3; count += 1) world.submit('a');
    await quiet();
    expect(world.fakes).toHaveLength(1);
    world.submit('b');
    await quiet();
    expect(world.fakes).toHaveLength(2);
    world.submit('c');
    await quiet();
    expect(world.fakes).toHaveLength(2);
  });

  it('are never all of one caller, and callers take turns', async () => {
    const world = await worldWith({}, 'a', 'a', 'a', 'b', 'b', 'c');
    expect(world.order()).toEqual(['a0', 'b3']);
    const finish = async (caller: string): Promise<void> => {
      world.busy.find(({ job }) => job?.caller === caller)?.finish();
      await quiet();
    };
    await finish('a');
    expect(world.order()).toEqual(['a0', 'b3', 'c5']);
    await finish('c');
    await finish('b');
    await finish('b');
    expect(world.order()).toEqual(['a0', 'b3', 'c5', 'a1', 'b4']);
  });

  it('give a job to whichever is free first', async () => {
    const world = await worldWith({}, 'a');
    world.submit('b');
    await quiet();
    expect(world.fakes.map(({ state }) => state)).toEqual(['open', 'opening']);
    world.fakes[0]?.finish();
    await quiet();
    expect(world.order()).toEqual(['a0', 'b1']);
  });

  it('that end fail the job that they had, and are replaced', async () => {
    const world = await worldWith({}, 'a', 'a', 'b');
    const [first] = world.busy;
    void first?.end();
    await quiet();
    expect(world.jobs.map(({ outcome }) => outcome)).toEqual(['refused', 'waits', 'waits']);
    expect(world.fakes).toHaveLength(3);
    world.fakes[2]?.open();
    await quiet();
    expect(world.order()).toEqual(['a0', 'b2', 'a1']);
  });

  it('that can not be opened fail the jobs that wait, and are tried again for later ones', async () => {
    const world = await worldWith({});
    for (const caller of ['a', 'b', 'b']) world.submit(caller);
    await quiet();
    for (const fake of world.fakes) void fake.end();
    await quiet();
    expect(world.jobs.map(({ outcome }) => outcome)).toEqual(['refused', 'refused', 'refused']);
    expect(world.fakes).toHaveLength(2);
    world.submit('a');
    await quiet();
    world.fakes[2]?.open();
    await quiet();
    expect(world.order()).toEqual(['a3']);
  });

  it('end when they had nothing to do for a while', async () => {
    const world = await worldWith({ idleMs: 20 }, 'a');
    world.fakes[0]?.finish();
    await vi.waitUntil(() => world.live.length === 0);
    world.submit('a');
    await quiet();
    expect(world.live).toHaveLength(1);
  });

  it('drop the job of a caller who hung up while it waited, and go on with one that was begun', async () => {
    const world = await worldWith({}, 'a', 'a', 'a');
    world.jobs[0]?.hangUp.abort();
    world.jobs[1]?.hangUp.abort();
    await quiet();
    expect(world.jobs.map(({ outcome }) => outcome)).toEqual(['waits', 'refused', 'waits']);
    world.fakes[0]?.finish();
    await quiet();
    expect(world.order()).toEqual(['a0', 'a2']);
  });

  it('are others after a renewal, though what was begun is finished', async () => {
    const world = await worldWith({}, 'a', 'b');
    world.fakes[0]?.finish();
    await quiet();
    await world.lanes.renew();
    expect(world.fakes.map(({ state }) => state)).toEqual(['ended', 'open']);
    world.fakes[1]?.finish();
    await quiet();
    expect(world.jobs.map(({ outcome }) => outcome)).toEqual(['done', 'done']);
    expect(world.live).toEqual([]);
    world.submit('a');
    await quiet();
    expect(world.live).toHaveLength(1);
  });

  it('that are closed refuse what waits, what is being done and what comes', async () => {
    const world = await worldWith({}, 'a', 'a', 'b');
    await world.lanes.close();
    world.submit('a');
    await quiet();
    expect(world.jobs.map(({ outcome }) => outcome)).toEqual(['refused', 'refused', 'refused', 'refused']);
    expect(world.fakes.map(({ state }) => state)).toEqual(['ended', 'ended']);
  });
});

describe('the room for large requests', () => {
  const roomBytes = 64 * MIB;
  const full = expect.objectContaining({ kind: 'unavailable', message: expect.stringContaining('too many') });

  /** How many bodies of 4 MiB a caller gets in. */
  const fill = (lanes: Lanes, caller: string): number => {
    for (let count = 0; ; count += 1) {
      try {
        lanes.enter(caller, 4 * MIB);
      } catch (error) {
        expect(error).toEqual(full);
        return count;
      }
    }
  };

  it('is half of one caller, and half of what is left of the next', () => {
    const { lanes } = new World({ roomBytes });
    expect(fill(lanes, 'a')).toBe(8);
    expect(fill(lanes, 'b')).toBe(4);
    expect(fill(lanes, 'c')).toBe(2);
    expect(fill(lanes, 'a')).toBe(0);
  });

  it('is there again for others once somebody leaves, and not twice', () => {
    const { lanes } = new World({ roomBytes });
    const ticket = lanes.enter('a', 8 * MIB);
    expect(fill(lanes, 'a')).toBe(6);
    ticket.leave();
    ticket.leave();
    expect(fill(lanes, 'a')).toBe(2);
  });

  it('is taken up by a body as far as it came', async () => {
    const { lanes } = new World({ roomBytes });
    const ticket = lanes.enter('a', 8 * MIB);
    void ticket.work({ head: {}, body: [Buffer.alloc(4 * MIB), Buffer.alloc(1)] });
    expect(fill(lanes, 'a')).toBe(6);
  });

  it('counts a body that is longer than an eighth of it as that', () => {
    const { lanes } = new World({ roomBytes });
    lanes.enter('a', 1024 * MIB);
    expect(fill(lanes, 'a')).toBe(6);
  });

  it('does not take endlessly many small ones', () => {
    const { lanes } = new World({ roomBytes });
    for (let count = 0; count < 512; count += 1) lanes.enter('a', 1);
    expect(() => lanes.enter('a', 1)).toThrow('too many');
  });
});
