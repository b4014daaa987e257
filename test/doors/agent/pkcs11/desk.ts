import type { Offer } from '../../../../src/access/doors.ts';
import type { Desk } from '../../../../src/doors/agent/desk.ts';
import { CofferError, denied } from '../../../../src/ground/errors.ts';
import { openCore } from '../../../../src/operations/core.ts';
import type { Outcome } from '../../../../src/operations/declaration/operation.ts';
import { ownerRunner } from '../../../../src/operations/runner.ts';
import { memoryStore } from '../../../store/memory-store.ts';

type Raw = Readonly<Record<string, unknown>>;

/** The desk of a door over a store in memory, with what a test changes between two calls. */
export interface TestDesk extends Desk {
  readonly defects: readonly unknown[];
  isLocked: boolean;
  lock(): void;
  /** What somebody who is asked says. */
  consents: boolean;
  /** Until when whoever is asked says nothing. */
  thinking: Promise<void> | undefined;
  /** Questions that were asked. */
  readonly asked: readonly string[];
  offer(key: string, uses?: readonly string[], confirm?: boolean): void;
  withdraw(key: string): void;
  /** As the owner. */
  own(words: string, raw: Raw): Promise<Outcome<unknown>>;
}

export async function testDesk(): Promise<TestDesk> {
  const store = await memoryStore();
  const runner = ownerRunner(openCore(store));
  let offers: readonly Offer[] = [];
  const asked: string[] = [];
  const defects: unknown[] = [];
  const own = (words: string, raw: Raw) => runner.run(words, raw);
  const withdraw = (key: string): void => {
    offers = offers.filter((offer) => offer.key !== key);
  };
  const requireOpen = (): void => {
    if (desk.isLocked) throw new CofferError('sealed', 'the store is locked');
  };
  const desk: TestDesk = {
    isLocked: false,
    lock() {
      desk.isLocked = true;
    },
    consents: true,
    thinking: undefined,
    asked,
    defects,
    own,
    withdraw,
    offer(key, uses = ['sign', 'decrypt'], confirm = false) {
      withdraw(key);
      offers = [...offers, { mount: 'transit', key, uses, confirm }];
    },
    async offers() {
      requireOpen();
      return offers;
    },
    async run(words, raw, mount) {
      requireOpen();
      const isOffered = offers.some((offer) => offer.key === raw['name'] && offer.mount === mount);
      if (!isOffered) throw denied('not offered');
      return runner.run(words, raw, mount);
    },
    async consent({ confirm, key }, what) {
      if (!confirm) return;
      asked.push(`${key}: ${what}`);
      await desk.thinking;
      if (!desk.consents) throw denied('denied');
    },
    revision: () => store.revision(),
    defect: (error) => void defects.push(error),
  };
  return desk;
}
