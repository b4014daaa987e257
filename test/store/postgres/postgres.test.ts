import { beforeAll, describe, onTestFinished } from 'vitest';
import { parseAddress } from '../../../src/store/backends/postgres/address.ts';
import { PostgresBackend } from '../../../src/store/backends/postgres/postgres-backend.ts';
import { createAt } from '../../../src/store/backends/registry.ts';
import { describeBackend } from '../../contracts/store-backend.ts';
import { type Database, newSchema } from './database.ts';
import { whyNoDatabase } from './installed.ts';
import { sharedDatabase } from './run.ts';

const missing = whyNoDatabase();

describe.skipIf(missing !== undefined)(`PostgreSQL${missing === undefined ? '' : ` (${missing})`}`, () => {
  let database: Database;
  beforeAll(async () => {
    database = await sharedDatabase();
  });

  const open = (location: string): PostgresBackend => {
    const backend = new PostgresBackend(parseAddress(location));
    onTestFinished(() => backend.close());
    return backend;
  };

  describeBackend('PostgreSQL', async (content) => {
    const location = database.location(newSchema());
    await createAt(location, content);
    return { backend: open(location), reopen: () => open(location) };
  });
});
