import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asCofferError } from '../../../src/ground/errors.ts';
import { rekey } from '../../../src/store/administration/slots.ts';
import type { SealedStore } from '../../../src/store/sealed/sealed-store.ts';
import { isLong } from '../../long.ts';
import { openWithKey } from '../temporary-store.ts';
import { type Database, newSchema } from './database.ts';
import { type Break, DatabaseLine } from './database-line.ts';
import { initWithKey } from './document.ts';
import { whyNoDatabase } from './installed.ts';
import { sharedDatabase } from './run.ts';

const missing = whyNoDatabase();
const MORE_THAN_ANY = 200;
/** Of a change: one for the lock, one for everything that is written. */
const PACKETS = 2;
/** Each packet is cut at so many places, from before its first byte to after its last. */
const PARTS = isLong ? 12 : 2;
const CHANGES = isLong ? 2 : 1;
/** Each of them at every message, or one after the other. */
const LOOPS: readonly (readonly [names: string, places: readonly [Break, ...Break[]]])[] = isLong
  ? [
      ['request', ['request']],
      ['middle', ['middle']],
      ['answer', ['answer']],
    ]
  : [['request, middle and answer in turns', ['request', 'middle', 'answer']]];

describe.skipIf(missing !== undefined)(
  `a cut line to PostgreSQL${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let database: Database;
    let line: DatabaseLine;
    beforeAll(async () => {
      database = await sharedDatabase();
      line = await DatabaseLine.to(database.port);
    });
    afterAll(() => line?.close());

    const through = (location: string): string => location.replace(`:${database.port}/`, `:${line.port}/`);
    const put = (store: SealedStore, n: number): Promise<void> =>
      store.transact((tx) => {
        tx.put({ collection: 'things', id: 'one' }, { n });
        tx.put({ collection: 'things', id: 'two' }, { n });
      });
    const putOne = (store: SealedStore, n: number): Promise<void> =>
      store.transact((tx) => tx.put({ collection: 'things', id: 'one' }, { n }));
    const get = (store: SealedStore): Promise<unknown> =>
      store.read(async (view) => [
        await view.get({ collection: 'things', id: 'one' }),
        await view.get({ collection: 'things', id: 'two' }),
      ]);
    /** What the database has in the end, when it has done all that got through to it: until then it holds the lock. */
    const settled = async (direct: SealedStore): Promise<unknown> => {
      await direct.backend.exclusive(async () => undefined);
      return get(direct);
    };
    const both = (n: number): unknown => [{ n }, { n }];

    /** What was done before the line broke, with the only errors that are right. */
    async function attempt(work: () => Promise<unknown>): Promise<'done' | 'failed' | 'unconfirmed'> {
      try {
        await work();
        return 'done';
      } catch (error) {
        const kind = asCofferError(error)?.kind;
        expect(['unavailable', 'unconfirmed'], String(error)).toContain(kind);
        return kind === 'unconfirmed' ? 'unconfirmed' : 'failed';
      }
    }

    it.each(LOOPS)(
      'leaves the state before or after, at every %s of opening, reading, writing and a new root key',
      async (_, places) => {
        const location = database.location(newSchema());
        await initWithKey(location);
        const direct = await openWithKey(location);
        await put(direct, 0);
        let acknowledged = 0;
        let failures = 0;
        let n = 0;
        for (let at = 1; at < MORE_THAN_ANY; at++) {
          line.breakAt(at, places[at % places.length] ?? places[0]);
          let store: SealedStore | undefined;
          const opened = await attempt(async () => {
            store = await openWithKey(through(location));
          });
          if (opened !== 'done') failures++;
          for (let change = 0; change < CHANGES; change++) {
            const wanted = ++n;
            const opening = store;
            if (opening === undefined) break;
            if ((await attempt(() => put(opening, wanted))) === 'done') acknowledged = wanted;
            else failures++;
            const found = await settled(direct);
            expect([both(acknowledged), both(wanted)]).toContainEqual(found);
            acknowledged = (found as [{ n: number }])[0].n;
            // What was open when the line broke goes on by itself.
            expect(await get(opening)).toEqual(both(acknowledged));
          }
          const opening = store;
          // Once the line has broken, what comes later comes to one that holds.
          const mayBreak = isLong || line.requests < at;
          if (opening !== undefined && mayBreak && (await attempt(() => rekey(opening))) !== 'done')
            failures++;
          expect(await settled(direct)).toEqual(both(acknowledged));
          store?.close();
          if (line.requests < at) break;
        }
        expect(line.requests).toBeGreaterThan(10);
        expect(failures).toBeGreaterThan(3);
        direct.close();
      },
      300_000,
    );

    it('leaves the state before or after, wherever in a change of one or two documents it breaks', async () => {
      const location = database.location(newSchema());
      await initWithKey(location);
      const direct = await openWithKey(location);
      await put(direct, 0);
      const store = await openWithKey(through(location));
      const outcomes = new Set<string>();
      let n = 0;
      for (let packet = 1; packet <= PACKETS; packet++) {
        for (let part = 0; part <= PARTS; part++) {
          for (const change of [put, putOne]) {
            // So that all statements are prepared, and the change is nothing but its own messages.
            await put(store, ++n);
            await putOne(store, n);
            const before = n++;
            line.breakAt(packet, 'middle', part / PARTS);
            const outcome = await attempt(() => change(store, n));
            const found = (await settled(direct)) as { n: number }[];
            const isMade = found[0]?.n === n;
            expect(found).toEqual([{ n: isMade ? n : before }, { n: isMade && change === put ? n : before }]);
            // Only what was not made may be tried again without a look.
            expect(isMade ? outcome !== 'failed' : outcome !== 'done').toBe(true);
            expect(await get(store)).toEqual(found);
            outcomes.add(`${outcome}, ${isMade ? 'made' : 'not made'}`);
          }
        }
      }
      expect(outcomes).toContain('unconfirmed, not made');
      expect(outcomes).toContain('unconfirmed, made');
      store.close();
      direct.close();
    }, 300_000);

    it('sends a change in two packets: for the lock, and for all that is written', async () => {
      const location = database.location(newSchema());
      await initWithKey(location);
      const store = await openWithKey(through(location));
      await put(store, 1);
      line.breakAt(MORE_THAN_ANY, 'request');
      await put(store, 2);
      expect(line.requests).toBe(PACKETS);
      store.close();
    });
  },
);
