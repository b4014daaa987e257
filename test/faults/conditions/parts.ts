/**
 * What processes of a store change that are killed at any moment: each has a part of the documents for itself, and notes in
 * one more document what it has changed last. So whoever reads a part can tell whether it is whole.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../../../src/store/open.ts';
import type { Store, View } from '../../../src/store/store.ts';
import { Chance } from '../../chance.ts';
import { MASTER_KEY, type Sandbox } from '../sandbox.ts';

const IDS = ['a', 'b', 'c', 'd', 'e', 'f'];
const LAST = 'last';
/** Of one content; so large that some hundreds of changes fill a file of the log. */
const MOST_PADDING = 20_000;
/** Between the readings of a watcher, or it would leave no time to those who change something. */
const PAUSE_MS = 5;

/** Numbers by document, of what is there; `last` is that of the last change. */
export type Contents = Readonly<Record<string, number>>;
/** What a change makes of documents; null deletes one. */
export type Puts = Readonly<Record<string, number | null>>;

/** What a process says: what it finds when it begins, what it is about to change, and that this is done. */
export interface Said {
  readonly found?: Contents;
  readonly tries?: Puts;
  readonly isDone?: true;
}

interface Numbered {
  readonly n: number;
}
interface Last extends Numbered {
  readonly puts: Puts;
}

const say = (said: Said): void => void process.stdout.write(`${JSON.stringify(said)}\n`);

const opened = ({ store }: Sandbox): Promise<Store> =>
  openStore({
    location: store,
    credentials: [{ kind: 'raw', source: 'the test key', reveal: () => Buffer.from(MASTER_KEY, 'base64') }],
  });

/** Changes some documents of a part together, again and again, until it is killed. */
export async function changes(box: Sandbox, [part = '', seed = '0']: readonly string[]): Promise<void> {
  const chance = new Chance(Number(seed), 1, 1);
  const store = await opened(box);
  const collection = collectionOf(part);
  const found = await store.read((view) => contentsOf(view, part));
  say({ found });
  for (let last = (found[LAST] ?? 0) + 1; ; last++) {
    const puts = Object.fromEntries(
      IDS.filter(() => chance.oneIn(3)).map((id) => [id, chance.oneIn(4) ? null : last]),
    );
    say({ tries: { ...puts, last } });
    const padding = 'x'.repeat(chance.size(MOST_PADDING));
    await store.transact((tx) => {
      for (const [id, n] of Object.entries(puts)) {
        if (n === null) tx.delete({ collection, id });
        else tx.put({ collection, id }, { n, padding });
      }
      tx.put({ collection, id: LAST }, { n: last, puts });
    });
    say({ isDone: true });
  }
}

/** Reads all parts, again and again, until it is killed; ends with an error if it finds something that never was. */
export async function watcher(box: Sandbox, parts: readonly string[]): Promise<void> {
  const store = await opened(box);
  const lasts = new Map<string, number>();
  let revision = [0, 0];
  for (let reads = 0; ; ) {
    const now = (await store.revision()).split('-').map(Number);
    const [generation = 0, number = 0] = now;
    const isOlder = generation < (revision[0] ?? 0) || number < (revision[1] ?? 0);
    assert.ok(!isOlder, `the revision fell from ${revision.join('-')} to ${now.join('-')}`);
    revision = now;
    for (const part of parts) {
      const last = (await store.read((view) => contentsOf(view, part)))[LAST] ?? 0;
      const before = lasts.get(part) ?? 0;
      assert.ok(last >= before, `part ${part} fell from change ${before} to ${last}`);
      lasts.set(part, last);
      reads++;
    }
    process.stdout.write(`${reads}\n`);
    await sleep(PAUSE_MS);
  }
}

const collectionOf = (part: string): string => `part ${part}`;

/** Reads a part in one view. @throws if it has half of a change */
async function contentsOf(view: View, part: string): Promise<Contents> {
  const collection = collectionOf(part);
  const contents: Record<string, number> = {};
  for (const id of IDS) {
    const document = await view.get<Numbered>({ collection, id });
    if (document !== undefined) contents[id] = document.n;
  }
  const last = await view.get<Last>({ collection, id: LAST });
  if (last !== undefined) contents[LAST] = last.n;
  assert.deepEqual(await view.list(collection), Object.keys(contents), `part ${part} lists what it has not`);
  for (const [id, n] of Object.entries(last?.puts ?? {}))
    assert.equal(contents[id] ?? null, n, `part ${part} has half of change ${last?.n}`);
  for (const n of Object.values(contents))
    assert.ok(n <= (last?.n ?? 0), `part ${part} has change ${n} before it is made`);
  return contents;
}
