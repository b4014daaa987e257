import { openStore } from '../../../src/store/open.ts';
import type { Transaction } from '../../../src/store/store.ts';
import { MASTER_KEY, type Sandbox } from '../sandbox.ts';

export interface Counter {
  readonly n: number;
}

/** Raises two counters together, again and again, until it is killed; says each number once it is acknowledged. */
export async function writer({ store: directory }: Sandbox): Promise<void> {
  const credential = {
    kind: 'raw',
    source: 'the test key',
    reveal: () => Buffer.from(MASTER_KEY, 'base64'),
  } as const;
  const store = await openStore({ location: directory, credentials: [credential] });
  for (;;) {
    const n = await store.transact(raiseBoth);
    process.stdout.write(`${n}\n`);
  }
}

async function raiseBoth(tx: Transaction): Promise<number> {
  const refs = ['left', 'right'].map((id) => ({ collection: 'counters', id }));
  const counts = await Promise.all(refs.map(async (ref) => ((await tx.get<Counter>(ref))?.n ?? 0) + 1));
  const [n = 0, other] = counts;
  if (n !== other) throw new Error(`left is ${n}, right is ${other}`);
  for (const ref of refs) tx.put(ref, { n });
  return n;
}
