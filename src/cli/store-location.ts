import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { withDefaults } from '../store/backends/postgres/address.ts';
import { isPostgres } from '../store/backends/postgres/scheme.ts';
import { type Environment, variable } from './given.ts';

/** Environment variables about a store in PostgreSQL, with what they hold; shown by `coffer help environment`. */
export const postgresVariables: readonly (readonly [name: string, meaning: string])[] = [
  ['COFFER_STORE_PASSWORD_FILE', 'file that holds the password of the database and nothing else'],
  ['PGPASSWORD', 'password of the database'],
  ['PGPASSFILE', 'file of passwords as "psql" has it; default: ~/.pgpass'],
  ['PGHOST, PGPORT, PGUSER, …', 'what --store leaves out, as for "psql"; also PGDATABASE and PGSSL…'],
];

/**
 * A location as it was given, with what the environment says about PostgreSQL where it names a database. The password in
 * PGPASSWORD stays in the environment, where the database's client finds it.
 */
export function storeLocation(location: string, environment: Environment): string {
  if (!isPostgres(location)) return location;
  const from = (name: string): string | undefined => variable(environment, name);
  return withDefaults(location, {
    host: from('PGHOST'),
    port: from('PGPORT'),
    user: from('PGUSER'),
    dbname: from('PGDATABASE'),
    sslmode: from('PGSSLMODE'),
    sslrootcert: from('PGSSLROOTCERT'),
    sslcert: from('PGSSLCERT'),
    sslkey: from('PGSSLKEY'),
    connect_timeout: from('PGCONNECT_TIMEOUT'),
    passwordfile: from('COFFER_STORE_PASSWORD_FILE'),
    passfile: from('PGPASSWORD') === undefined ? passwordTable(environment) : undefined,
  });
}

function passwordTable(environment: Environment): string | undefined {
  const path = variable(environment, 'PGPASSFILE');
  const home = variable(environment, 'HOME');
  if (path !== undefined || home === undefined) return path;
  const usual = join(home, '.pgpass');
  return existsSync(usual) ? usual : undefined;
}
