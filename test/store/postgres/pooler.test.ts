import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { storeStatus } from '../../../src/store/administration/status.ts';
import { migrateAt } from '../../../src/store/backends/registry.ts';
import { openWithKey } from '../temporary-store.ts';
import { type Database, newSchema } from './database.ts';
import { failure, initWithKey, put, read, write } from './document.ts';
import { whyNoDatabase } from './installed.ts';
import { sharedDatabase } from './run.ts';
import { TransactionPooler } from './transaction-pooler.ts';

const missing = whyNoDatabase();

describe.skipIf(missing !== undefined)(
  `a pooler in transaction mode before PostgreSQL${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let database: Database;
    beforeAll(async () => {
      database = await sharedDatabase();
    });

    /** Locations of the same store, without the pooler and through it, and what is said there. */
    async function behindPooler(sessions: number) {
      const pooler = await TransactionPooler.to(database, sessions);
      onTestFinished(() => pooler.close());
      const schema = newSchema();
      const direct = database.location(schema);
      const pooled = direct.replace(`:${database.port}/`, `:${pooler.port}/`);
      const place = database.printed(schema).replace(`:${database.port}/`, `:${pooler.port}/`);
      const refused = `unavailable: cannot use ${place}: this address is a pooler in transaction mode, which supports neither session locks nor prepared statements`;
      return { schema, direct, pooled, refused };
    }

    it('is told by "init", which makes nothing there', async () => {
      const { schema, pooled, refused } = await behindPooler(1);
      expect(await failure(() => initWithKey(pooled))).toBe(refused);
      expect(await database.query(`SELECT to_regnamespace('${schema}') AS found`)).toEqual([{ found: null }]);
    });

    it('is told by "status", by readers and by writers, the right to write being nobody\'s afterwards', async () => {
      const { direct, pooled, refused } = await behindPooler(1);
      await initWithKey(direct);
      await write(direct, 1);
      expect(await failure(() => storeStatus(pooled))).toBe(refused);
      expect(await failure(() => read(pooled))).toBe(refused);
      expect(await failure(() => write(pooled))).toBe(refused);
      await write(direct, 3);
      expect(await read(direct)).toEqual({ n: 3 });
    });

    it('is told by whoever gets another of its sessions at each turn', async () => {
      const { direct, pooled, refused } = await behindPooler(3);
      await initWithKey(direct);
      await write(direct, 1);
      const said = new Set<string>();
      for (let i = 0; i < 4; i++) {
        said.add(
          await failure(async () => {
            const store = await openWithKey(pooled, undefined, 100);
            try {
              await put(store, 2);
              await put(store, 2);
            } finally {
              store.close();
            }
          }),
        );
      }
      expect([...said]).toEqual([refused]);
    });

    it('keeps nobody from making the tables, which takes one transaction', async () => {
      const { direct, pooled } = await behindPooler(1);
      expect(await migrateAt(pooled)).toEqual({ from: 0, to: 1 });
      expect(await migrateAt(direct)).toEqual({ from: 1, to: 1 });
    });
  },
);
