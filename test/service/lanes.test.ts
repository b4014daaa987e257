import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LaneReservation, Lanes, type Worker } from '../../src/service/lanes.ts';
import type { Job } from '../../src/service/rpc.ts';
import { rounds } from '../long.ts';

const MIB = 1024 * 1024;

/** Processes that end a job when they are told to, and say what they are at. */
class Workshop {
  readonly running = new Map<string, PromiseWithResolvers<Job>>();
  readonly order: string[] = [];
  readonly waiting = new Set<string>();
  /** Ends each process as somebody else might. */
  readonly ends: (() => void)[] = [];
  started = 0;
  closed = 0;

  readonly lanes = new Lanes((): Worker => {
    this.started += 1;
    let at: PromiseWithResolvers<Job> | undefined;
    const gone = Promise.withResolvers<void>();
    this.ends.push(() => gone.resolve());
    return {
      gone: gone.promise,
      work: ({ head }) => {
        const { name } = head as { name: string };
        at = Promise.withResolvers<Job>();
        this.waiting.delete(name);
        this.running.set(name, at);
        this.order.push(name);
        return at.promise;
      },
      close: async () => {
        this.closed += 1;
        for (const [name, job] of this.running) if (job === at) this.running.delete(name);
        at?.reject(new Error('ended'));
        gone.resolve();
      },
    };
  });

  /** `alice-1` is the first job of alice. */
  ask(name: string, bytes = 1): { readonly place: LaneReservation; readonly answer: Promise<string> } {
    const { work, leave } = this.lanes.enter(callerOf(name), bytes);
    // Whoever hangs up waits no more, which the answer says only a moment later.
    const place: LaneReservation = {
      work,
      leave: () => {
        this.waiting.delete(name);
        leave();
      },
    };
    this.waiting.add(name);
    const answer = place
      .work({ head: { name }, body: [] })
      .then(({ head }) => (head as { done: string }).done)
      .catch((error: Error) => error.message)
      .finally(() => place.leave());
    return { place, answer };
  }

  async finish(name: string): Promise<void> {
    this.running.get(name)?.resolve({ head: { done: name }, body: [] });
    this.running.delete(name);
    await turn();
  }
}

const callerOf = (name: string): string => name.split('-')[0] ?? '';

/** Sees to it that nobody who waits for a turn is passed over twice by the same caller. */
class Turns {
  readonly #shop: Workshop;
  readonly #passing = new Map<string, Set<string>>();
  #seen = 0;

  constructor(shop: Workshop) {
    this.#shop = shop;
  }

  check(): void {
    const { order, waiting, running } = this.#shop;
    const held = new Set([...running.keys()].map(callerOf));
    for (const begun of order.slice(this.#seen).map(callerOf)) {
      this.#passing.delete(begun);
      for (const [passed, by] of this.#passing) {
        expect(by, `passing ${passed}`).not.toContain(begun);
        by.add(begun);
      }
    }
    this.#seen = order.length;
    const inTurn = new Set([...waiting].map(callerOf).filter((caller) => !held.has(caller)));
    for (const caller of this.#passing.keys()) if (!inTurn.has(caller)) this.#passing.delete(caller);
    for (const caller of inTurn) if (!this.#passing.has(caller)) this.#passing.set(caller, new Set());
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the lanes for large requests', () => {
  it('leave one free for others while a caller has any number of requests', async () => {
    const shop = new Workshop();
    for (const name of ['alice-1', 'alice-2', 'alice-3']) shop.ask(name);
    expect([...shop.running.keys()]).toEqual(['alice-1']);
    shop.ask('bob-1');
    expect([...shop.running.keys()]).toEqual(['alice-1', 'bob-1']);
    await shop.finish('alice-1');
    expect([...shop.running.keys()]).toEqual(['bob-1', 'alice-2']);
  });

  it('are given to callers in turn, and to the requests of one in the order in which they came', async () => {
    const shop = new Workshop();
    for (const name of ['alice-1', 'alice-2', 'alice-3', 'bob-1', 'bob-2', 'carol-1']) shop.ask(name);
    for (let left = 6; left > 0; left -= 1) await shop.finish([...shop.running.keys()][0] ?? '');
    expect(shop.order).toEqual(['alice-1', 'bob-1', 'alice-2', 'bob-2', 'carol-1', 'alice-3']);
  });

  it('are given to whoever waits in spite of callers who always come back, or are always new', async () => {
    const shop = new Workshop();
    for (const name of ['alice-1', 'bob-1', 'alice-2', 'carol-1', 'dave-1']) shop.ask(name);
    const others = ['bob', 'carol', 'dave'];
    for (let count = 2; count < 12; count += 1) {
      const [name = ''] = [...shop.running.keys()].filter((running) => running !== 'alice-2');
      await shop.finish(name);
      shop.ask(`${others[count % 3]}-${count}`);
      shop.ask(`newcomer${count}-1`);
    }
    expect(shop.order.indexOf('alice-2')).toBeLessThan(4);
    expect(shop.order).toContain('alice-2');
  });

  it('refuse what a caller has no room for, and give the room back', () => {
    const { lanes } = new Workshop();
    const places = Array.from({ length: 4 }, () => lanes.enter('alice', 32 * MIB));
    expect(() => lanes.enter('alice', 1)).toThrow('too many large requests are waiting');
    lanes.enter('bob', 32 * MIB);
    places[0]?.leave();
    places[0]?.leave();
    lanes.enter('alice', 32 * MIB);
    expect(() => lanes.enter('alice', 1)).toThrow('too many large requests are waiting');
  });

  it('leave some room for whoever comes next, however much all callers together ask for', () => {
    const { lanes } = new Workshop();
    for (let caller = 0; caller < 15; caller += 1) lanes.enter(`caller ${caller}`, 32 * MIB);
    expect(() => lanes.enter('one more', 32 * MIB)).toThrow('too many large requests are waiting');
    lanes.enter('one more', 16 * MIB);
  });

  it('count short bodies as 64 KiB, and those that are longer than most may be as 32 MiB', () => {
    const { lanes } = new Workshop();
    for (let count = 0; count < 4; count += 1) lanes.enter('alice', 1024 * MIB);
    for (let count = 0; count < 2048; count += 1) lanes.enter('bob', 0);
    for (const caller of ['alice', 'bob']) {
      expect(() => lanes.enter(caller, 0)).toThrow('too many large requests are waiting');
    }
  });

  it('drop what waits when its caller has hung up', async () => {
    const shop = new Workshop();
    shop.ask('alice-1');
    const second = shop.ask('alice-2');
    second.place.leave();
    expect(await second.answer).toBe('the client disconnected');
    await shop.finish('alice-1');
    expect(shop.order).toEqual(['alice-1']);
  });

  it('end the process that works for a caller who has hung up, and go on with the others', async () => {
    const shop = new Workshop();
    const first = shop.ask('alice-1');
    shop.ask('alice-2');
    first.place.leave();
    expect(await first.answer).toBe('the client disconnected');
    await turn();
    expect([shop.closed, shop.started, [...shop.running.keys()]]).toEqual([1, 2, ['alice-2']]);
    await shop.finish('alice-2');
    first.place.leave();
    expect(shop.closed).toBe(1);
  });

  it('take nothing from a caller who hung up before the job was there', async () => {
    const shop = new Workshop();
    const place = shop.lanes.enter('alice', 1);
    place.leave();
    await expect(place.work({ head: {}, body: [] })).rejects.toThrow('the client disconnected');
    expect(shop.started).toBe(0);
  });

  it('fail the request whose process ends, and no other, and start another process', async () => {
    const shop = new Workshop();
    const [first, second] = [shop.ask('alice-1'), shop.ask('bob-1')];
    shop.running.get('alice-1')?.reject(new Error('out of memory'));
    expect(await first.answer).toBe('out of memory');
    shop.ask('alice-2');
    await turn();
    expect([shop.started, shop.closed]).toEqual([3, 1]);
    await shop.finish('bob-1');
    expect(await second.answer).toBe('bob-1');
  });

  it('give nothing to a process that was ended while it had nothing to do', async () => {
    const shop = new Workshop();
    const first = shop.ask('alice-1');
    await shop.finish('alice-1');
    await first.answer;
    shop.ends[0]?.();
    await turn();
    const second = shop.ask('alice-2');
    await shop.finish('alice-2');
    expect([await second.answer, shop.started]).toEqual(['alice-2', 2]);
  });

  it('finish what is under way before they are renewed, and nothing when they are closed', async () => {
    const shop = new Workshop();
    const old = shop.ask('alice-1');
    shop.lanes.renew();
    const fresh = shop.ask('bob-1');
    expect(shop.started).toBe(2);
    await shop.finish('alice-1');
    expect([await old.answer, shop.closed]).toEqual(['alice-1', 1]);
    const waiting = shop.ask('bob-2');
    await shop.lanes.close();
    expect(await shop.ask('carol-1').answer).toBe('the workers for large requests are shutting down');
    expect(await waiting.answer).toBe('the workers for large requests are shutting down');
    expect(await fresh.answer).toBe('ended');
  });

  it('answer or refuse every request, and never give both to one caller, whatever comes in which order', async () => {
    const step = fc.record({
      caller: fc.constantFrom('alice', 'bob', 'carol', 'dave', 'erin'),
      finishes: fc.boolean(),
      hangsUp: fc.nat(9).map((chance) => chance === 0),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const shop = new Workshop();
        const asked: ReturnType<Workshop['ask']>[] = [];
        const turns = new Turns(shop);
        for (const [index, { caller, finishes, hangsUp }] of steps.entries()) {
          const request = shop.ask(`${caller}-${index}`);
          asked.push(request);
          turns.check();
          if (hangsUp) request.place.leave();
          if (finishes) await shop.finish([...shop.running.keys()][0] ?? '');
          const callers = [...shop.running.keys()].map(callerOf);
          expect(callers.length).toBeLessThanOrEqual(2);
          expect(new Set(callers).size).toBe(callers.length);
          turns.check();
        }
        // The lane of a caller who has hung up is free a moment later.
        while (shop.running.size + shop.waiting.size > 0) {
          await shop.finish([...shop.running.keys()][0] ?? '');
          turns.check();
        }
        expect(await Promise.all(asked.map(({ answer }) => answer))).toHaveLength(steps.length);
      }),
      { numRuns: rounds(300) },
    );
  });
});
