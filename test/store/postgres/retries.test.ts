import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { WriteSession } from '../../../src/store/backends/backend.ts';
import { parseAddress } from '../../../src/store/backends/postgres/address.ts';
import { PostgresBackend } from '../../../src/store/backends/postgres/postgres-backend.ts';
import type { SealedStore } from '../../../src/store/sealed/sealed-store.ts';
import { isLong } from '../../long.ts';
import { openWithKey } from '../temporary-store.ts';
import { type Database, newSchema } from './database.ts';
import { failure, initWithKey, put, read, thing } from './document.ts';
import { whyNoDatabase } from './installed.ts';
import { sharedDatabase } from './run.ts';

const missing = whyNoDatabase();
/** As often as a commit is tried in all. */
const ATTEMPTS = 5;
const GIVEN_UP = {
  '40001': 'too many conflicts with other transactions',
  '40P01': 'too many deadlocks with other transactions',
} as const;

describe.skipIf(missing !== undefined)(
  `a commit that PostgreSQL rolls back${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let database: Database;
    beforeAll(async () => {
      database = await sharedDatabase();
    });

    /** An open store with one document. */
    async function newStore(): Promise<{ schema: string; location: string; store: SealedStore }> {
      const schema = newSchema();
      const location = database.location(schema);
      await initWithKey(location);
      const store = await openWithKey(location);
      onTestFinished(() => store.close());
      await put(store, 1);
      return { schema, location, store };
    }

    /** The next so many commits are refused with this SQLSTATE; what counts them is rolled back by nothing. */
    async function refuse(schema: string, times: number, state: string): Promise<void> {
      await database.query(`CREATE SEQUENCE ${schema}.refusals;
        CREATE FUNCTION ${schema}.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF nextval('${schema}.refusals') <= ${times} THEN RAISE EXCEPTION 'refused' USING ERRCODE = '${state}'; END IF;
          RETURN NEW;
        END $$;
        CREATE TRIGGER refuse BEFORE UPDATE ON ${schema}.store FOR EACH ROW EXECUTE FUNCTION ${schema}.refuse()`);
    }
    const attempts = async (schema: string): Promise<unknown> =>
      (await database.query(`SELECT last_value::int AS n FROM ${schema}.refusals`))[0]?.['n'];

    /** One document, or several, which take another statement. */
    const changes = {
      one: (store: SealedStore) => put(store, 2),
      several: (store: SealedStore) =>
        store.transact((tx) => {
          tx.put(thing, { n: 2 });
          tx.put({ ...thing, id: 'two' }, { n: 2 });
        }),
    };
    type Case = [keyof typeof changes, keyof typeof GIVEN_UP];
    const cases: readonly Case[] = Object.keys(GIVEN_UP)
      .flatMap((state) => Object.keys(changes).map((kind) => [kind, state] as Case))
      // The first and the last are of both kinds and of both states.
      .filter((_, index, { length }) => isLong || index % (length - 1) === 0);

    it.each(cases)('is tried again: %s, after %s', async (kind, state) => {
      const { schema, location, store } = await newStore();
      await refuse(schema, ATTEMPTS - 1, state);
      await changes[kind](store);
      expect(await attempts(schema)).toBe(ATTEMPTS);
      expect(await store.read((view) => view.get(thing))).toEqual({ n: 2 });
      expect(await read(location)).toEqual({ n: 2 });
    });

    it.each(cases)('is given up in the end, and nothing is changed: %s, after %s', async (kind, state) => {
      const { schema, location, store } = await newStore();
      await refuse(schema, Number.MAX_SAFE_INTEGER, state);
      const before = await store.revision();
      expect(await failure(() => changes[kind](store))).toBe(
        `unavailable: cannot use ${database.printed(schema)}: ${GIVEN_UP[state]}`,
      );
      expect(await attempts(schema)).toBe(ATTEMPTS);
      expect(await store.revision()).toBe(before);
      expect(await store.read((view) => view.get(thing))).toEqual({ n: 1 });
      // The right to write is there for the next one, here and elsewhere.
      await database.query(`DROP TRIGGER refuse ON ${schema}.store`);
      await changes[kind](store);
      expect(await read(location)).toEqual({ n: 2 });
    });

    it('is not tried again over what another writer committed meanwhile', async () => {
      const { schema, location } = await newStore();
      const [ours, others] = [
        new PostgresBackend(parseAddress(location)),
        new PostgresBackend(parseAddress(location)),
      ];
      onTestFinished(() => ours.close());
      onTestFinished(() => others.close());
      const blob = (name: string) => [
        { ref: { area: 'documents', name }, bytes: Buffer.from(name) } as const,
      ];
      await refuse(schema, 1, '40001');
      let other: Promise<unknown> | undefined;
      const refused = await failure(() =>
        ours.exclusive(async (session) => {
          other = others.exclusive((next) => next.commit(blob('bb')));
          // It is the next to have the lock, which goes with the commit that is refused.
          await until(async () => (await waiting('advisory')) === 1);
          await session.commit(blob('aa'), { isLast: true });
        }),
      );
      expect(refused).toBe(`unavailable: another process changed ${database.printed(schema)}`);
      await other;
      const { generation } = await ours.state();
      expect(await ours.has(generation, { area: 'documents', name: 'aa' })).toBe(false);
      expect(await ours.has(generation, { area: 'documents', name: 'bb' })).toBe(true);
    });

    it('is refused when another writer committed in spite of the lock, as after one that was lost', async () => {
      const { schema, location } = await newStore();
      const ours = new PostgresBackend(parseAddress(location));
      onTestFinished(() => ours.close());
      const change = { ref: { area: 'documents', name: 'aa' }, bytes: Buffer.from('aa') } as const;
      for (const isLast of [false, true]) {
        const refused = await failure(() =>
          ours.exclusive(async (session) => {
            await database.query(
              `UPDATE ${schema}.store SET revision = revision + 1, commit = gen_random_uuid()`,
            );
            await session.commit([change], { isLast });
          }),
        );
        expect(refused).toBe(`unavailable: another process changed ${database.printed(schema)}`);
        const { generation } = await ours.state();
        expect(await ours.has(generation, change.ref)).toBe(false);
      }
    });

    it('is refused as well where it raises the revision or replaces all that there is', async () => {
      const { schema, location } = await newStore();
      const ours = new PostgresBackend(parseAddress(location));
      onTestFinished(() => ours.close());
      const blobs = async function* () {
        yield { ref: { area: 'documents', name: 'aa' }, bytes: Buffer.from('aa') } as const;
      };
      for (const work of [
        (session: WriteSession) => session.raise(1000),
        (session: WriteSession) => session.replaceGeneration(blobs()),
      ]) {
        const refused = await failure(() =>
          ours.exclusive(async (session) => {
            await database.query(
              `UPDATE ${schema}.store SET revision = revision + 1, commit = gen_random_uuid()`,
            );
            await work(session);
          }),
        );
        expect(refused).toBe(`unavailable: another process changed ${database.printed(schema)}`);
        const { generation, revision } = await ours.state();
        expect([generation, revision < 1000]).toEqual([1, true]);
        expect(await ours.names(generation + 1, 'documents')).toEqual([]);
        expect((await ours.names(generation, 'documents')).length).toBeGreaterThan(0);
      }
    });

    it('is tried again after a real deadlock', async () => {
      const { schema, location, store } = await newStore();
      const other = database.client();
      await other.connect();
      onTestFinished(() => other.end());
      // The database ends whichever of the two has waited for so long first: ours, but for a machine that stands still.
      await other.query("SET deadlock_timeout = '20s'");
      let isOurs = false;
      while (!isOurs) {
        await other.query('BEGIN');
        await other.query(`SELECT FROM ${schema}.blob FOR UPDATE`);
        const changed = put(store, 2);
        await until(async () => (await waiting('transactionid')) === 1);
        const [outcome] = await Promise.allSettled([other.query(`SELECT FROM ${schema}.store FOR UPDATE`)]);
        isOurs = outcome?.status === 'fulfilled';
        await other.query('ROLLBACK');
        await changed;
      }
      expect(await read(location)).toEqual({ n: 2 });
    });

    /** How many wait for a lock of this kind. */
    const waiting = async (kind: string): Promise<unknown> =>
      (
        await database.query(
          `SELECT count(*)::int AS n FROM pg_locks JOIN pg_stat_activity USING (pid)
           WHERE NOT granted AND locktype = '${kind}' AND datname = current_database()`,
        )
      )[0]?.['n'];
  },
);

const until = (isSo: () => Promise<boolean>): Promise<boolean> =>
  vi.waitUntil(isSo, { timeout: 60_000, interval: 5 });
