/**
 * A process that works on a store until it is done or killed: `child.ts <directory> <work> [arguments…]`.
 * Writes a line for each change once that is acknowledged.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { rekey } from '../../../src/store/administration/slots.ts';
import { openStore } from '../../../src/store/open.ts';
import type { SealedStore } from '../../../src/store/sealed/sealed-store.ts';
import type { Transaction } from '../../../src/store/store.ts';

export interface Counter {
  readonly n: number;
}

const [directory = '', work = '', ...parameters] = process.argv.slice(2);
const key = Uint8Array.from({ length: 32 }, (_, i) => i);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Adds one to a counter, and returns what it then is. */
async function increment(tx: Transaction, id: string): Promise<number> {
  const ref = { collection: 'counters', id };
  const n = ((await tx.get<Counter>(ref))?.n ?? 0) + 1;
  tx.put(ref, { n });
  return n;
}

const works: Record<string, (store: SealedStore) => Promise<void>> = {
  /** Single changes, changes of two documents, new documents and deletions, until killed. */
  async everything(store) {
    const name = parameters[0] ?? '';
    for (let i = 0; ; i++) {
      say(`single ${await store.transact((tx) => increment(tx, 'single'))}`);
      const pair = await store.transact(async (tx) => {
        await increment(tx, 'left');
        return increment(tx, 'right');
      });
      say(`pair ${pair}`);
      const id = `${name}-${i}`;
      await store.transact((tx) => tx.put({ collection: 'new', id }, { id }));
      say(`created ${id}`);
      if (i % 2 === 1) {
        await store.transact((tx) => tx.delete({ collection: 'new', id }));
        say(`deleted ${id}`);
      }
    }
  },

  /** Counts to a number together with others. */
  async count(store) {
    for (let i = 0; i < Number(parameters[0]); i++) {
      say(`shared ${await store.transact((tx) => increment(tx, 'shared'))}`);
    }
  },

  async rekey(store) {
    await rekey(store);
    say('rekeyed');
  },

  /** Holds the lock without end. */
  async hold(store) {
    await store.transact(async () => {
      say('holding');
      for (;;) await turn();
    });
  },
};

const store = await openStore({
  location: directory,
  credentials: [{ kind: 'raw', source: 'the test key', reveal: () => Uint8Array.from(key) }],
});
say('ready');
await works[work]?.(store);
