import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Database, newSchema } from '../store/postgres/database.ts';
import { whyNoDatabase } from '../store/postgres/installed.ts';
import { sharedDatabase } from '../store/postgres/run.ts';
import { allIsWell, named } from './followed.ts';
import { emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';

let here: Place;

beforeEach(() => {
  here = emptyPlace({ COFFER_MASTER_KEY: MASTER_KEY });
});
afterEach(() => removePlace(here));

const missing = whyNoDatabase();

describe.skipIf(missing !== undefined)(
  `a hint of a store in PostgreSQL that is followed${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let database: Database;
    beforeAll(async () => {
      database = await sharedDatabase();
    });

    it('makes the store, and brings its tables up to date', async () => {
      const schema = newSchema();
      const there = here.with({ COFFER_STORE: database.location(schema) });
      await there.ok(named(await there.refused('transit keys list', 3), 'init'));
      await database.query(`UPDATE ${schema}.version SET version = 0`);
      const refusal = await there.refused('transit keys list', 1);
      await database.query(`DROP SCHEMA ${schema} CASCADE`);
      await there.ok(named(refusal, 'store migrate'));
      await there.ok('init');
      await allIsWell(there);
      const status = await there.ok('status -o table');
      expect(status).toMatch(/^database\s+postgres:/m);
      expect(status).toMatch(/^records\s+\d+$/m);
      expect(status).not.toMatch(/^(directory|files)/m);
      expect(await there.json('status')).not.toHaveProperty('directory');
    });

    it('grants the right to use what a migration makes', async () => {
      const schema = newSchema();
      const owner = here.with({ COFFER_STORE: database.location(schema) });
      const clerk = here.with({
        COFFER_STORE: database.location(schema, { user: 'clerk', password: 'clerk' }),
      });
      // A role that may not create tables is not told to grant itself rights on them.
      await owner.ok(named(await clerk.refused('init', 1), 'store migrate'));
      await owner.ok('init');
      await owner.ok(named(await clerk.refused('transit keys list', 1), 'store migrate'));
      await database.query(`GRANT USAGE ON SCHEMA ${schema} TO clerk`);
      await database.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO clerk`);
      await allIsWell(clerk);
    });

    it('repairs indexes in rows as in files', async () => {
      const schema = newSchema();
      const there = here.with({ COFFER_STORE: database.location(schema) });
      await there.ok('init');
      await there.ok('transit keys create orders');
      const rows = await database.query(`SELECT name, bytes FROM ${schema}.blob WHERE area = 'documents'`);
      let mended = 0;
      for (const { name, bytes } of rows as { name: string; bytes: Buffer }[]) {
        await database.query(`UPDATE ${schema}.blob SET bytes = '\\x00' WHERE name = '${name}'`);
        expect((await there.run('doctor')).exitCode).toBe(1);
        if ((await there.run('doctor --repair')).exitCode === 0) mended++;
        else
          await database.query(
            `UPDATE ${schema}.blob SET bytes = '\\x${bytes.toString('hex')}' WHERE name = '${name}'`,
          );
      }
      // All but the documents: the key, and what the mounts are in.
      expect(mended).toBeGreaterThan(2);
      await allIsWell(there);
      expect((await there.ok('transit keys list')).split('\n')).toEqual(['orders', 'the-next']);
    });
  },
);
