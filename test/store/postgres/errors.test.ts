import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { copyStore } from '../../../src/store/administration/copy.ts';
import { initStore } from '../../../src/store/administration/init.ts';
import { examineStore } from '../../../src/store/administration/repair.ts';
import { parseAddress } from '../../../src/store/backends/postgres/address.ts';
import { connectTo } from '../../../src/store/backends/postgres/connection.ts';
import { PostgresBackend } from '../../../src/store/backends/postgres/postgres-backend.ts';
import { createAt, migrateAt } from '../../../src/store/backends/registry.ts';
import type { SealedStore } from '../../../src/store/sealed/sealed-store.ts';
import { isLong } from '../../long.ts';
import {
  KEY,
  newStoreDirectory,
  openWithKey,
  rawCredential,
  temporaryDirectory,
} from '../temporary-store.ts';
import { type Database, newSchema } from './database.ts';
import { failure, initWithKey, put, read, thing, write } from './document.ts';
import { whyNoDatabase } from './installed.ts';
import { sharedDatabase } from './run.ts';

const missing = whyNoDatabase();
const slots = () => [{ kind: 'raw' as const, key: Uint8Array.from(KEY) }];

describe.skipIf(missing !== undefined)(
  `a store in PostgreSQL${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let database: Database;
    beforeAll(async () => {
      database = await sharedDatabase();
    });

    /** A store with one document. */
    async function newStore(): Promise<{ schema: string; location: string }> {
      const schema = newSchema();
      const location = database.location(schema);
      await initWithKey(location);
      await write(location, 1);
      return { schema, location };
    }

    const printed = (schema: string, user?: string, name?: string): string =>
      database.printed(schema, user, name);

    it('tells a wrong password, no database, no server, no TLS and no store apart', async () => {
      const schema = 'nothing_here';
      const location = (more: object) => database.location(schema, more);
      expect(await failure(() => read(location({ password: 'wrong' })))).toBe(
        `unavailable: cannot use ${printed(schema)}: the password is wrong`,
      );
      expect(await failure(() => read(location({ database: 'nix' })))).toBe(
        `unavailable: cannot use ${printed(schema, 'admin', 'nix')}: database does not exist`,
      );
      expect(await failure(() => read(location({ more: '&sslmode=require' })))).toBe(
        `unavailable: cannot use ${printed(schema)}: the database offers no TLS`,
      );
      expect(await failure(() => read(location({})))).toBe(`not-found: no store in ${printed(schema)}`);
      expect(await failure(() => read('postgres://admin:secret@127.0.0.1:1/postgres'))).toBe(
        'unavailable: cannot use postgres://admin@127.0.0.1:1/postgres: connection refused',
      );
    });

    it('takes the password from a file of its own or a table of passwords, anew for each connection', async () => {
      const { schema } = await newStore();
      const directory = mkdtempSync(join(tmpdir(), 'coffer-password-'));
      onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
      const file = join(directory, 'password');
      const base = database.printed(schema);
      writeFileSync(file, 'secret\n', { mode: 0o600 });
      expect(await read(`${base}&passwordfile=${file}`)).toEqual({ n: 1 });
      writeFileSync(
        file,
        `# comment\nother:*:*:*:no\n127.0.0.1:${database.port}:*:admin:secret\n*:*:*:*:no\n`,
      );
      expect(await read(`${base}&passfile=${file}`)).toEqual({ n: 1 });
      chmodSync(file, 0o644);
      expect(await failure(() => read(`${base}&passfile=${file}`))).toBe(
        `unavailable: ${file} can be read by others`,
      );
    });

    it('needs no more rights than to read and change rows', async () => {
      const { schema, location } = await newStore();
      const clerk = database.location(schema, { user: 'clerk', password: 'clerk' });
      await database.query(`GRANT USAGE ON SCHEMA ${schema} TO clerk`);
      await database.query(`GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO clerk`);
      expect(await read(clerk)).toEqual({ n: 1 });
      expect(await failure(() => write(clerk))).toBe(
        `unavailable: cannot use ${printed(schema, 'clerk')}: permission denied`,
      );
      await database.query(`GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO clerk`);
      await write(clerk);
      expect(await read(location)).toEqual({ n: 2 });
      expect(
        await failure(() =>
          initStore({
            location: database.location('mine', { user: 'clerk', password: 'clerk' }),
            slots: slots(),
          }),
        ),
      ).toBe(`unavailable: cannot use ${printed('mine', 'clerk')}: permission denied`);
    });

    it('can be made by a role without the right to make tables, once they are made', async () => {
      const schema = newSchema();
      expect(await migrateAt(database.location(schema))).toEqual({ from: 0, to: 1 });
      expect(await migrateAt(database.location(schema))).toEqual({ from: 1, to: 1 });
      await database.query(`GRANT USAGE ON SCHEMA ${schema} TO clerk`);
      await database.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO clerk`);
      const clerk = database.location(schema, { user: 'clerk', password: 'clerk' });
      expect(await failure(() => read(clerk))).toBe(`not-found: no store in ${printed(schema, 'clerk')}`);
      await initStore({ location: clerk, slots: slots() });
      await write(clerk);
      expect(await failure(() => initStore({ location: clerk, slots: slots() }))).toBe(
        `exists: a store already exists in ${printed(schema, 'clerk')}`,
      );
    });

    it('refuses tables of a newer version, and goes on with newer ones that it can still use', async () => {
      const { schema, location } = await newStore();
      await database.query(`UPDATE ${schema}.version SET version = 2`);
      await write(location);
      // As a newer version may have altered them.
      await database.query(
        `ALTER TABLE ${schema}.blob ADD COLUMN more text; ALTER TABLE ${schema}.store ADD COLUMN more text;
         ALTER TABLE ${schema}.version ADD COLUMN more text; CREATE TABLE ${schema}.more (n integer)`,
      );
      await write(location, 3);
      expect(await read(location)).toEqual({ n: 3 });
      expect(await migrateAt(location)).toEqual({ from: 2, to: 2 });
      await database.query(`UPDATE ${schema}.version SET usable_from = 2`);
      const newer = `corrupt: the tables in ${printed(schema)} were created by a newer Coffer (version 2); this one supports version 1`;
      expect(await failure(() => read(location))).toBe(newer);
      expect(await failure(() => migrateAt(location))).toBe(newer);
      await database.query(`UPDATE ${schema}.version SET version = 0, usable_from = 0`);
      expect(await failure(() => read(location))).toBe(
        `unavailable: the tables in ${printed(schema)} have version 0; this Coffer needs version 1`,
      );
    });

    it.each([
      ['store', 'DROP TABLE %.store', 'is missing'],
      ['blob', 'ALTER TABLE %.blob DROP COLUMN bytes', 'was modified'],
      ['blob', 'ALTER TABLE %.blob ADD COLUMN more text', 'was modified'],
      ['blob', 'ALTER TABLE %.blob DROP CONSTRAINT blob_pkey', 'was modified'],
      ['blob', 'ALTER TABLE %.blob RENAME COLUMN bytes TO octets', 'was modified'],
      ['store', 'ALTER TABLE %.store ALTER COLUMN revision TYPE integer', 'was modified'],
      ['store', 'ALTER TABLE %.store RENAME TO shop', 'is missing'],
      ['version', 'DROP TABLE %.version', 'is missing'],
    ])('names the table %s after %s', async (table, sql, what) => {
      const { schema, location } = await newStore();
      await database.query(sql.replaceAll('%', schema));
      expect(await failure(() => read(location))).toBe(
        `corrupt: the table ${schema}.${table} of ${printed(schema)} ${what}`,
      );
    });

    it.each([
      ['a write', 'ALTER TABLE %.blob DROP COLUMN bytes', (store: SealedStore) => put(store, 3)],
      ['a look', 'ALTER TABLE %.store DROP COLUMN commit', (store: SealedStore) => store.revision()],
      [
        'a prepared read',
        "ALTER TABLE %.blob ALTER COLUMN bytes TYPE text USING encode(bytes, 'hex')",
        (store: SealedStore) => store.read((view) => view.get({ ...thing, id: 'other' })),
      ],
    ])('tells of a table that is altered while it is in use, by %s after %s', async (_, sql, use) => {
      const { schema, location } = await newStore();
      const store = await openWithKey(location);
      onTestFinished(() => store.close());
      await store.read((view) => view.get(thing));
      await database.query(sql.replaceAll('%', schema));
      expect(await failure(() => use(store))).toMatch(
        `corrupt: the tables in ${printed(schema)} were modified: `,
      );
    });

    it('says that a store is gone while it is in use', async () => {
      const { schema, location } = await newStore();
      const store = await openWithKey(location);
      onTestFinished(() => store.close());
      await database.query(`DELETE FROM ${schema}.store`);
      expect(await failure(() => store.revision())).toBe(
        `corrupt: the store in ${printed(schema)} no longer exists`,
      );
      expect(await failure(() => put(store, 3))).toBe(`not-found: no store in ${printed(schema)}`);
    });

    it('says that a database is read-only', async () => {
      const { schema, location } = await newStore();
      await database.query(`CREATE ROLE reader_${database.name} LOGIN SUPERUSER PASSWORD 'reader'`);
      await database.query(`ALTER ROLE reader_${database.name} SET default_transaction_read_only = on`);
      const reader = database.location(schema, { user: `reader_${database.name}`, password: 'reader' });
      expect(await read(reader)).toEqual({ n: 1 });
      expect(await failure(() => write(reader))).toBe(
        `unavailable: cannot use ${printed(schema, `reader_${database.name}`)}: the database is read-only`,
      );
      await write(location);
    });

    it.each([
      ['off', 'on'],
      ['local', 'on'],
      ['remote_write', 'remote_write'],
      ['remote_apply', 'remote_apply'],
    ])('waits for its disk and its standby, whatever its role does: %s is %s', async (usual, used) => {
      const role = `hasty_${usual}_${database.name}`;
      await database.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
      onTestFinished(async () => void (await database.query(`DROP ROLE ${role}`)));
      await database.query(`ALTER ROLE ${role} SET synchronous_commit = ${usual}`);
      const address = parseAddress(database.location(newSchema(), { user: role }));
      const limits = { statementMs: 5000, lockMs: () => 5000, answerMs: 5000 };
      const client = await connectTo(address, address.hosts[0], limits, false);
      onTestFinished(() => client.end());
      expect((await client.query('SHOW synchronous_commit')).rows).toEqual([{ synchronous_commit: used }]);
    });

    it('is written again by a process that goes on, once its role may write again', async () => {
      const { schema } = await newStore();
      const role = `writer_${database.name}`;
      await database.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret' SUPERUSER`);
      onTestFinished(async () => void (await database.query(`DROP ROLE ${role}`)));
      await database.query(`ALTER ROLE ${role} SET default_transaction_read_only = on`);
      const backend = new PostgresBackend(parseAddress(database.location(schema, { user: role })));
      onTestFinished(() => backend.close());
      const bytes = Buffer.from('aa');
      const commit = () =>
        backend.exclusive((session) => session.commit([{ ref: { area: 'documents', name: 'aa' }, bytes }]));
      const refused = `unavailable: cannot use ${printed(schema, role)}: the database is read-only`;
      expect([await failure(commit), await failure(commit)]).toEqual([refused, refused]);
      await database.query(`ALTER ROLE ${role} RESET default_transaction_read_only`);
      // The session that was refused last is no longer used.
      expect(await failure(commit)).toBe('no error');
    });

    it('finds rows that belong to no store, and damaged ones', async () => {
      const { schema, location } = await newStore();
      await database.query(`INSERT INTO ${schema}.blob VALUES (7, 'documents', 'aa', '')`);
      await database.query(
        `UPDATE ${schema}.blob SET bytes = '\\x00' WHERE area = 'documents' AND generation = 1`,
      );
      const { findings } = await examineStore({ location: location, credentials: [rawCredential()] });
      expect(findings.length).toBeGreaterThan(2);
      expect(findings.map(({ file }) => file)).toContain(`${printed(schema)} (generation 7, documents/aa)`);
    });

    it('moves from files to the database and back, sealed as it is, and goes on where a copy was cut short', async () => {
      const directory = await newStoreDirectory();
      const store = await openWithKey(directory);
      const { documents, bytes } = isLong ? { documents: 1200, bytes: 1 } : { documents: 40, bytes: 200_000 };
      const ids = Array.from({ length: documents }, (_, i) => `id${i}`).sort();
      await store.transact((tx) => {
        for (const id of ids) tx.put({ collection: 'many', id }, { id, text: 'x'.repeat(bytes) });
      });
      store.close();
      const schema = newSchema();
      const location = database.location(schema);
      let seen = 0;
      const cut = copyStore({
        from: directory,
        to: location,
        onProgress(done) {
          if (done === (documents * 3) / 4) throw new Error('cut short');
        },
      });
      expect(await failure(() => cut)).toBe('Error: cut short');
      const [{ count: before } = {}] = await database.query(`SELECT count(*)::int FROM ${schema}.blob`);
      // What was sent together, and is less than all.
      expect(before).toBeGreaterThan(0);
      expect(before).toBeLessThan((documents * 3) / 4);
      if (isLong) expect(before).toBe(500);
      const untouched = await database.query(
        `SELECT xmin::text FROM ${schema}.blob ORDER BY xmin::text::bigint LIMIT 1`,
      );
      expect(await failure(() => read(location))).toBe(`not-found: no store in ${printed(schema)}`);
      const summary = await copyStore({ from: directory, to: location, onProgress: (done) => (seen = done) });
      expect(seen).toBe(summary.files);
      expect(
        await database.query(`SELECT xmin::text FROM ${schema}.blob ORDER BY xmin::text::bigint LIMIT 1`),
      ).toEqual(untouched);
      const copy = await openWithKey(location);
      expect(await copy.read((view) => view.list('many'))).toEqual(ids);
      copy.close();
      const back = join(temporaryDirectory(), 'back');
      await copyStore({ from: location, to: back });
      expect(await failure(() => copyStore({ from: directory, to: back }))).toBe(
        `exists: a store already exists in ${back}`,
      );
      for (const place of [location, back]) {
        const { findings, unlocked } = await examineStore({
          location: place,
          credentials: [rawCredential()],
        });
        expect({ findings, unlocked }).toEqual({ findings: [], unlocked: true });
      }
    });

    it('refuses a database that went back in time, also when its numbers have come to be the same or higher', async () => {
      const schema = newSchema();
      const location = database.location(schema);
      await createAt(location, {
        header: Buffer.from('header'),
        version: { generation: 1, revision: 5 },
        blobs: (async function* () {})(),
      });
      const backend = new PostgresBackend(parseAddress(location));
      onTestFinished(() => backend.close());
      const ref = { area: 'documents', name: 'aa' } as const;
      await database.query(`CREATE TABLE ${schema}_past AS SELECT * FROM ${schema}.store`);
      await backend.state();
      // A commit of its own counts as seen.
      await backend.exclusive((session) => session.commit([{ ref, bytes: Buffer.from('lost') }]));
      await database.query(
        `DELETE FROM ${schema}.blob; DELETE FROM ${schema}.store; INSERT INTO ${schema}.store SELECT * FROM ${schema}_past`,
      );
      // What another history reaches.
      for (const revision of [5, 6, 7]) {
        await database.query(`UPDATE ${schema}.store SET revision = ${revision}, commit = gen_random_uuid()`);
        for (const look of [() => backend.state(), () => backend.exclusive(async () => 'in')]) {
          expect(await failure(look)).toMatch(
            /(was rolled back|or rolled back:) from generation 1, revision 6 to generation 1, revision [567]$/,
          );
        }
        const rows = await database.query(`SELECT revision::text FROM ${schema}.store`);
        expect(rows).toEqual([{ revision: String(revision) }]);
      }
    });
  },
);
