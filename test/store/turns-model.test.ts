import { Readable } from 'node:stream';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/ground/clock.ts';
import { unavailable, unconfirmed } from '../../src/ground/errors.ts';
import { turn } from '../../src/ground/pause.ts';
import { systemRandom } from '../../src/ground/random.ts';
import { newStore } from '../../src/store/administration/init.ts';
import type { Blob } from '../../src/store/backends/backend.ts';
import { MemoryBackend } from '../../src/store/backends/memory.ts';
import { openBackend } from '../../src/store/open.ts';
import type { SealedStore } from '../../src/store/sealed/sealed-store.ts';
import type { DocumentRef, Transaction, View } from '../../src/store/store.ts';
import { isLong } from '../long.ts';
import { type AroundCommit, withCommits } from './struck-backend.ts';
import { KEY, rawCredential } from './temporary-store.ts';

/** What a change does, beside adding one to the count and its own mark to the marks. */
interface Step {
  readonly kind: 'puts' | 'deletes' | 'throws' | 'looks' | 'bulk';
  /** Of a few documents that all of them change. */
  readonly shared: number;
  readonly alone: boolean;
  /** Turns of the event loop before the next one comes. */
  readonly pause: number;
}

/** What becomes of a commit. */
type Fate = 'made' | 'not made' | 'made, and not known' | 'killed before' | 'killed after';

const step = fc.record<Step>({
  kind: fc.constantFrom('puts', 'puts', 'puts', 'deletes', 'throws', 'looks', 'bulk'),
  shared: fc.nat(3),
  alone: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  pause: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(6) }),
});
const fate: fc.Arbitrary<Fate> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Fate>('made') },
  { weight: 2, arbitrary: fc.constant<Fate>('not made') },
  { weight: 2, arbitrary: fc.constant<Fate>('made, and not known') },
  { weight: 1, arbitrary: fc.constant<Fate>('killed before') },
  { weight: 1, arbitrary: fc.constant<Fate>('killed after') },
);

const ref = (collection: string, id: string | number): DocumentRef => ({ collection, id: String(id) });
const COUNT = ref('count', 'all');

/** Which of the documents that all change are there, whatever the index says. */
async function presentOf(view: View): Promise<string[]> {
  const ids = [0, 1, 2, 3].map(String);
  const found = await Promise.all(ids.map((id) => view.get(ref('shared', id))));
  return ids.filter((_, index) => found[index] !== undefined);
}

/** What the store shows, each part of which must say the same. */
async function picture(store: SealedStore) {
  return store.read(async (view) => {
    const marks = await view.list('marks');
    const order = await Promise.all(marks.map((id) => view.get<{ at: number }>(ref('marks', id))));
    return {
      count: (await view.get<{ n: number }>(COUNT))?.n ?? 0,
      marks,
      order: order.map((mark) => mark?.at ?? -1).sort((a, b) => a - b),
      bulks: await view.list('bulk'),
      shared: await view.list('shared'),
      present: await presentOf(view),
    };
  });
}

/** Each change leaves a mark, takes its place in the count, and says what it has seen. */
const change =
  (number: number, { kind, shared }: Step) =>
  async (tx: Transaction) => {
    const { n = 0 } = (await tx.get<{ n: number }>(COUNT)) ?? {};
    const marks = await tx.list('marks');
    if (marks.length !== n) throw new Error(`sees ${marks.length} marks, and a count of ${n}`);
    if (kind === 'looks') return n;
    tx.put(COUNT, { n: n + 1 });
    tx.put(ref('marks', number), { at: n });
    if (kind === 'puts') tx.put(ref('shared', shared), { by: number });
    if (kind === 'deletes') tx.delete(ref('shared', shared));
    if (kind === 'bulk') for (let id = 0; id < 260; id++) tx.put(ref('bulk', `${number}-${id}`), {});
    if (kind === 'throws') throw new Error('on purpose');
    return n;
  };

interface Outcome {
  readonly number: number;
  readonly kind: Step['kind'];
  readonly outcome: 'told' | 'on purpose' | 'unavailable' | 'unconfirmed' | 'killed';
  readonly saw: number;
}

async function makeAll(
  store: SealedStore,
  steps: readonly Step[],
  isDead: () => boolean,
): Promise<Outcome[]> {
  const outcomes: Promise<Outcome>[] = [];
  for (const [number, given] of steps.entries()) {
    if (isDead()) break;
    const { kind, alone, pause } = given;
    const told = (outcome: Outcome['outcome'], saw = -1): Outcome => ({ number, kind, outcome, saw });
    outcomes.push(
      store.transact(change(number, given), { alone }).then(
        (saw) => told('told', saw),
        (error) => told(error.kind ?? (error.message === 'killed' ? 'killed' : error.message)),
      ),
    );
    for (let turns = 0; turns < pause; turns++) await turn();
  }
  return Promise.all(outcomes);
}

it('what changes were told is what the store has, whatever else failed, and nothing is half there', async () => {
  const { content } = await newStore([{ kind: 'raw', key: KEY }], systemClock, systemRandom);
  const blobs: Blob[] = [];
  for await (const blob of content.blobs) blobs.push(blob);
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 40 }),
      fc.array(fate, { maxLength: 12 }),
      async (steps, fates) => {
        const backend = await MemoryBackend.create({ ...content, blobs: Readable.from(blobs) });
        const left = [...fates];
        let isDead = false;
        const around: AroundCommit = async (commit) => {
          const now = isDead ? 'killed before' : (left.shift() ?? 'made');
          if (now === 'not made') throw unavailable('not made');
          isDead ||= now.startsWith('killed');
          if (now === 'killed before') throw new Error('killed');
          const version = await commit();
          if (now === 'made, and not known') throw unconfirmed('made', { cause: unavailable('not known') });
          if (now === 'killed after') throw new Error('killed');
          return version;
        };
        const store = await openBackend(withCommits(backend, around), [rawCredential()]);
        const outcomes = await makeAll(store, steps, () => isDead);
        // Another process, which knows nothing but what is there.
        const found = await picture(await openBackend(backend, [rawCredential()]));

        const isThere = (number: number): boolean => found.marks.includes(String(number));
        expect(found.count).toBe(found.marks.length);
        expect(found.shared).toEqual(found.present);
        expect(found.order).toEqual(Array.from({ length: found.count }, (_, at) => at));
        for (const { number, kind, outcome } of outcomes) {
          const changes = kind !== 'looks' && kind !== 'throws';
          if (kind === 'bulk' || !changes) {
            const ids = found.bulks.filter((id) => id.startsWith(`${number}-`));
            expect(ids).toHaveLength(kind === 'bulk' && isThere(number) ? 260 : 0);
          }
          if (outcome === 'told') expect(isThere(number)).toBe(changes);
          else if (outcome === 'unconfirmed') expect([changes, isThere(number)]).toEqual([true, true]);
          else if (outcome !== 'killed') expect(isThere(number)).toBe(false);
          if (outcome === 'on purpose') expect(kind).toBe('throws');
        }
        // Who was told first has seen no more than who was told later.
        const seen = outcomes.filter(({ outcome }) => outcome === 'told').map(({ saw }) => saw);
        expect(seen).toEqual([...seen].sort((a, b) => a - b));
      },
    ),
    { numRuns: isLong ? 60 : 20 },
  );
});
