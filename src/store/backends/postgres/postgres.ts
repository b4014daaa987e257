/** Stores in PostgreSQL, shared by any number of hosts. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { printPlace } from '../../../ground/errors.ts';
import type { BackendKind, Located } from '../backend-kind.ts';
import type { PostgresAddress } from './address.ts';

const PASSWORD = 'PGPASSWORD';

type Variable = (name: string) => string | undefined;

export const postgres: BackendKind = {
  form: 'postgres://USER@HOST/DATABASE',
  schemes: ['postgres', 'postgresql'],
  words: { place: 'database', parts: 'records' },
  environment: {
    title: 'PostgreSQL',
    variables: [
      ['COFFER_STORE_PASSWORD_FILE', 'file with only the database password'],
      [PASSWORD, 'password of the database'],
      ['PGPASSFILE', 'password file in the format of psql; default: ~/.pgpass'],
      [
        'PGHOST, PGPORT, PGUSER, …',
        'defaults for parts missing in --store, as in psql; also PGDATABASE and PGSSL…',
      ],
    ],
    secrets: [PASSWORD],
    // PGPASSWORD is not copied: the client library reads it again on every connection.
    defaults: (variable) => ({
      host: variable('PGHOST'),
      port: variable('PGPORT'),
      user: variable('PGUSER'),
      dbname: variable('PGDATABASE'),
      sslmode: variable('PGSSLMODE'),
      sslrootcert: variable('PGSSLROOTCERT'),
      sslcert: variable('PGSSLCERT'),
      sslkey: variable('PGSSLKEY'),
      connect_timeout: variable('PGCONNECT_TIMEOUT'),
      passwordfile: variable('COFFER_STORE_PASSWORD_FILE'),
      passfile: variable(PASSWORD) === undefined ? passwordTable(variable) : undefined,
    }),
  },
  identity: ({ text, defaults: { host, port, user, dbname } }) =>
    JSON.stringify([withoutPassword(text), host, port, user, dbname]),
  async open(location, options) {
    const { PostgresBackend } = await import('./postgres-backend.ts');
    return new PostgresBackend(await addressOf(location), options);
  },
  async create(location, content, options) {
    const { createInPostgres } = await import('./create.ts');
    await createInPostgres(await addressOf(location), content, options);
  },
  async migrate(location) {
    const { migratePostgres } = await import('./create.ts');
    return migratePostgres(await addressOf(location));
  },
  async print(location) {
    return printPlace((await addressOf(location)).place);
  },
};

async function addressOf({ text, defaults }: Located): Promise<PostgresAddress> {
  const { parseAddress } = await import('./address.ts');
  return parseAddress(text, defaults);
}

function passwordTable(variable: Variable): string | undefined {
  const path = variable('PGPASSFILE');
  const home = variable('HOME');
  if (path !== undefined || home === undefined) return path;
  const usual = join(home, '.pgpass');
  return existsSync(usual) ? usual : undefined;
}

/** Removes the text between the first colon of the user and the host. */
const withoutPassword = (text: string): string => text.replace(/^([^:]*:\/\/[^:@/]*):.*@/, '$1@');
