import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asCofferError } from '../../../src/errors.ts';
import { initStore } from '../../../src/store/init.ts';
import { rekey } from '../../../src/store/rekey.ts';
import type { SealedStore } from '../../../src/store/sealed-store.ts';
import { KEY, openWithKey } from '../temporary-store.ts';
import { Cluster, newSchema, whyNoDatabase } from './cluster.ts';
import { type Break, DatabaseLine } from './database-line.ts';

const missing = whyNoDatabase();
const MORE_THAN_ANY = 200;

describe.skipIf(missing !== undefined)(
  `a cut line to PostgreSQL${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let cluster: Cluster;
    let line: DatabaseLine;
    beforeAll(async () => {
      cluster = await Cluster.create();
      line = await DatabaseLine.to(cluster.port);
    });
    afterAll(async () => {
      line.close();
      await cluster.remove();
    });

    const through = (location: string): string => location.replace(`:${cluster.port}/`, `:${line.port}/`);
    const put = (store: SealedStore, n: number): Promise<void> =>
      store.transact((tx) => {
        tx.put({ collection: 'things', id: 'one' }, { n });
        tx.put({ collection: 'things', id: 'two' }, { n });
      });
    const get = (store: SealedStore): Promise<unknown> =>
      store.read(async (view) => [
        await view.get({ collection: 'things', id: 'one' }),
        await view.get({ collection: 'things', id: 'two' }),
      ]);
    const both = (n: number): unknown => [{ n }, { n }];

    /** What was done before the line broke, with the only errors that are right. */
    async function attempt(work: () => Promise<unknown>): Promise<'done' | 'failed'> {
      try {
        await work();
        return 'done';
      } catch (error) {
        expect([asCofferError(error)?.kind, String(error)]).toEqual(['unavailable', String(error)]);
        return 'failed';
      }
    }

    it.each<Break>(['request', 'answer'])(
      'leaves the state before or after, at every %s of opening, reading, writing and a new root key',
      async (where) => {
        const location = cluster.location(newSchema());
        await initStore({ directory: location, slots: [{ kind: 'raw', key: Uint8Array.from(KEY) }] });
        const direct = await openWithKey(location);
        await put(direct, 0);
        let acknowledged = 0;
        let failures = 0;
        let n = 0;
        for (let at = 1; at < MORE_THAN_ANY; at++) {
          line.breakAt(at, where);
          let store: SealedStore | undefined;
          const opened = await attempt(async () => {
            store = await openWithKey(through(location));
          });
          if (opened === 'failed') failures++;
          for (const _ of [1, 2]) {
            const wanted = ++n;
            const opening = store;
            if (opening === undefined) break;
            if ((await attempt(() => put(opening, wanted))) === 'done') acknowledged = wanted;
            else failures++;
            const found = await get(direct);
            expect([both(acknowledged), both(wanted)]).toContainEqual(found);
            acknowledged = (found as [{ n: number }])[0].n;
            // What was open when the line broke goes on by itself.
            expect(await get(opening)).toEqual(both(acknowledged));
          }
          const opening = store;
          if (opening !== undefined && (await attempt(() => rekey(opening))) === 'failed') failures++;
          expect(await get(direct)).toEqual(both(acknowledged));
          store?.close();
          if (line.requests < at) break;
        }
        expect(line.requests).toBeGreaterThan(10);
        expect(failures).toBeGreaterThan(3);
        direct.close();
      },
    );
  },
);
