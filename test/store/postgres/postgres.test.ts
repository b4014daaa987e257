import { beforeAll, describe } from 'vitest';
import { parseAddress } from '../../../src/store/backends/postgres/address.ts';
import { postgres } from '../../../src/store/backends/postgres/postgres.ts';
import { describeBackend } from '../../contracts/store-backend.ts';
import { type Database, newSchema } from './database.ts';
import { whyNoDatabase } from './installed.ts';
import { sharedDatabase } from './run.ts';

const missing = whyNoDatabase();

describe.skipIf(missing !== undefined)(`PostgreSQL${missing === undefined ? '' : ` (${missing})`}`, () => {
  let database: Database;
  beforeAll(async () => {
    database = await sharedDatabase();
    // Whoever does not ask for it gets a database that answers before a commit is in its log.
    await database.query(`ALTER DATABASE ${database.name} SET synchronous_commit = off`);
  });

  const position = async (which: 'insert' | 'flush', beyond = '0/0'): Promise<Record<string, unknown>> => {
    const [row] = await database.query(
      `SELECT pg_current_wal_${which}_lsn()::text AS at, pg_current_wal_${which}_lsn() > '${beyond}' AS passed`,
    );
    return row ?? {};
  };

  describeBackend('PostgreSQL', {
    kind: postgres,
    location: () => ({ text: database.location(newSchema()), defaults: {} }),
    exported: {
      module: new URL('../../../src/store/backends/postgres/postgres.ts', import.meta.url).href,
      name: 'postgres',
    },
    places: 'told apart',
    waits: 'bounded',
    async copy({ text }) {
      const { schema } = parseAddress(text);
      const past = `${schema}_past`;
      await database.query(
        `CREATE TABLE ${past}_store AS TABLE ${schema}.store; CREATE TABLE ${past}_blob AS TABLE ${schema}.blob`,
      );
      return async () => {
        await database.query(
          `BEGIN; DELETE FROM ${schema}.blob; DELETE FROM ${schema}.store;
           INSERT INTO ${schema}.store SELECT * FROM ${past}_store;
           INSERT INTO ${schema}.blob SELECT * FROM ${past}_blob; COMMIT`,
        );
      };
    },
    // The database had flushed its log beyond all that was in it before: so the commit was waited for, as far as it goes. That it is
    // one of a database that does not wait shows within a few commits, since the log is flushed by itself five times a second only.
    async reachesDisk(_, commit) {
      const { at } = await position('insert');
      await commit();
      return (await position('flush', String(at)))['passed'] === true;
    },
    async creationReachesDisk(_, create) {
      const { at } = await position('insert');
      await create();
      return (await position('flush', String(at)))['passed'] === true;
    },
    files: { cannot: 'its files are those of the database' },
    patienceMs: 20_000,
  });
});
