import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CofferError, unavailable } from '../../../src/ground/errors.ts';
import { parseAddress } from '../../../src/store/backends/postgres/address.ts';
import { passwordFor, tlsOptions } from '../../../src/store/backends/postgres/authentication.ts';
import { mayFallBack } from '../../../src/store/backends/postgres/connection.ts';
import {
  databaseError,
  isLockTimeout,
  mostTelling,
  PoolerError,
  ReplicaError,
  SilenceError,
} from '../../../src/store/backends/postgres/database-errors.ts';
import { checkSchema } from '../../../src/store/backends/postgres/schema.ts';
import { refusal, refused } from '../../refusal.ts';
import { coded, FakeClient } from './fake-client.ts';

const address = parseAddress('postgres://coffer@db.example/keys');
const FULL = coded('53300');
const REFUSED = coded('ECONNREFUSED');
const PLACE = 'postgres://coffer@db.example/keys';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'coffer-reasons-'));
});
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

function file(name: string, text: string, mode = 0o600): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

describe('what fails in a database', () => {
  it.each<[Error, string, string]>([
    [coded('28P01'), 'the password is wrong', 'PGPASSWORD'],
    [
      coded('28000', 'no pg_hba.conf entry for host "x", no encryption'),
      'pg_hba.conf of the database has no entry that allows this login without TLS',
      'use sslmode=verify-full if the server has TLS; otherwise add an entry to pg_hba.conf',
    ],
    [
      coded('28000', 'no pg_hba.conf entry for host "x", user "y", database "z", no encryption'),
      'pg_hba.conf of the database has no entry that allows this login without TLS (host "x", user "y", database "z")',
      'add an entry',
    ],
    [
      coded('28000', 'no pg_hba.conf entry for host "x", SSL encryption'),
      'the database rejected the login',
      'pg_hba.conf',
    ],
    [coded('28000', 'no encryption'), 'the database rejected the login', 'pg_hba.conf'],
    [
      coded('28000', 'connection requires a valid client certificate'),
      'the database requires a client certificate',
      'sslcert',
    ],
    [coded('3D000'), 'database does not exist', 'createdb'],
    [coded('26000'), 'this address is a pooler in transaction mode', 'session mode'],
    [coded('53300'), 'the database has too many connections', 'max_connections'],
    [new PoolerError(), 'this address is a pooler in transaction mode', 'session mode'],
    [new ReplicaError(), 'the database is a read-only replica', 'use the primary'],
    [new SilenceError(), 'timed out', 'check the database and the network'],
    [new Error('Connection terminated unexpectedly'), 'the connection was cut', 'try again'],
    [
      new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'),
      'the database requires a password',
      'PGPASSWORD',
    ],
    [
      new Error('The server does not support SSL connections'),
      'the database offers no TLS',
      'if pg_hba.conf allows that',
    ],
    [
      coded('ERR_TLS_CERT_ALTNAME_INVALID', 'not db'),
      'the certificate of the database is for another host (not db)',
      'host name',
    ],
    [
      coded('CERT_HAS_EXPIRED', 'certificate has expired'),
      'the certificate of the database, or that of its CA, has expired',
      'renew that certificate',
    ],
    [
      coded('DEPTH_ZERO_SELF_SIGNED_CERT', 'odd'),
      'the certificate of the database is not trusted (odd)',
      'sslrootcert',
    ],
    [
      coded('UNABLE_TO_GET_ISSUER_CERT', 'alone'),
      'the certificate of the database is not trusted (alone)',
      'sslrootcert',
    ],
    [
      coded('CERT_NOT_YET_VALID', 'certificate is not yet valid'),
      'the certificate of the database, or that of its CA, is not valid yet',
      'clock of this machine',
    ],
    [
      coded(
        'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
        'alone; if the root CA is installed locally, try running Node.js so',
      ),
      'the certificate of the database is not trusted (alone)',
      'sslrootcert',
    ],
    [
      coded('INVALID_PURPOSE', 'purpose'),
      'the certificate of the database is not trusted (purpose)',
      'sslrootcert',
    ],
    [
      new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a non-empty string'),
      'the password for the database is empty',
      'COFFER_STORE_PASSWORD_FILE',
    ],
    [coded('ECONNRESET'), 'the connection was cut', 'try again'],
    [coded('EPROTO', 'of TLS'), 'the connection was cut', 'try again'],
    [coded('XX000', 'an internal error'), 'an internal error', ''],
  ])('is told with what helps: %s: %s, %s', (error, reason, hint) => {
    const told = databaseError(error, address.place) as CofferError;
    expect(told).toMatchObject({ kind: 'unavailable', cause: error });
    expect(told.message.startsWith(`cannot use ${PLACE}: ${reason}`)).toBe(true);
    expect(told.hint ?? '').toContain(hint);
  });

  it.each<[string, string, readonly Error[]]>([
    ['the database has too many connections (b: connection refused)', 'limit of', [FULL, REFUSED]],
    ['the database has too many connections (a: connection refused)', 'limit of', [REFUSED, FULL]],
    [
      'the password is wrong (a: the database has too many connections)',
      'PGPASSWORD',
      [FULL, coded('28P01')],
    ],
    [
      'the database is a read-only replica (a: timed out)',
      'promote',
      [new SilenceError(), new ReplicaError()],
    ],
    [
      'the database is starting up (b: the database is a read-only replica)',
      '',
      [coded('57P03'), new ReplicaError()],
    ],
    ['the database is a read-only replica', 'is a primary', [new ReplicaError(), new ReplicaError()]],
    ['connection refused', 'check that the database runs', [REFUSED, REFUSED]],
    ['connection refused (b: host not found)', 'check that', [REFUSED, coded('ENOTFOUND')]],
  ])('is told for several hosts by what says most, with the others beside it: %s', (reason, hint, errors) => {
    const failures = errors.map((error, index) => ({ host: 'ab'.charAt(index), error }));
    const told = databaseError(mostTelling(failures), address.place) as CofferError;
    expect(told.message).toBe(`cannot use ${PLACE}: ${reason}`);
    expect(told.hint ?? '').toContain(hint);
  });

  it.each(['42P01', '3F000', '42703', '23505', '22P02', 'P0001', '0A000'])(
    'is damage where somebody altered the tables: %s',
    (code) => {
      expect(databaseError(coded(code), address.place)).toMatchObject({
        kind: 'corrupt',
        message: `the tables in ${PLACE} were modified: of the database`,
        hint: 'undo the change, or restore the database from a backup',
      });
    },
  );

  it('is no error of it where it is one of ours, or a defect', () => {
    const own = unavailable('no');
    const defects = [
      new TypeError('x is not a function'),
      coded('ERR_INVALID_ARG_TYPE'),
      new Error('odd'),
      7,
    ];
    for (const error of [own, ...defects]) expect(databaseError(error, address.place)).toBe(error);
  });

  it('is a lock that another holds by its SQLSTATE alone', () => {
    expect(['55P03', '55006', '57014'].map((code) => isLockTimeout(coded(code)))).toEqual([
      true,
      false,
      false,
    ]);
  });

  it.each<[string, boolean]>([
    ['prefer', true],
    ['allow', true],
    ['require', false],
    ['verify-ca', false],
    ['verify-full', false],
  ])('is tried without TLS with sslmode=%s: %s, and only if TLS was refused', (mode, may) => {
    const { ...at } = parseAddress(`postgres://db.example/keys?sslmode=${mode}`);
    expect(mayFallBack(at, new Error('The server does not support SSL connections'))).toBe(may);
    for (const error of [new SilenceError(), coded('ECONNRESET'), coded('DEPTH_ZERO_SELF_SIGNED_CERT')]) {
      expect(mayFallBack(at, error)).toBe(false);
    }
  });
});

describe('the password for a database', () => {
  const from = (query: string, authority = 'coffer@db.example') => {
    const parsed = parseAddress(`postgres://${authority}/keys?${query}`);
    const password = passwordFor(parsed, parsed.hosts[0]);
    return typeof password === 'function' ? password() : password;
  };
  const escaped = (path: string) => encodeURIComponent(path);

  it('is that of the location, then that of its own file, then that of a table', () => {
    const own = file('own', 'of the file\r\n\n');
    const table = file('table', '*:*:*:*:of the table\n');
    const both = `passwordfile=${escaped(own)}&passfile=${escaped(table)}`;
    expect(from(both, 'coffer:of%20the%20location@db.example')).toBe('of the location');
    expect(from(both)).toBe('of the file\r\n');
    expect(from(`passfile=${escaped(table)}`)).toBe('of the table');
    expect(from('')).toBeUndefined();
  });

  it.each<[string, string, string | undefined]>([
    ['db.example:5432:keys:coffer:a', 'coffer@db.example', 'a'],
    ['db.example:5433:keys:coffer:a', 'coffer@db.example', undefined],
    ['db.example:5433:keys:coffer:a', 'coffer@db.example:5433', 'a'],
    ['other:*:*:*:a\n#*:*:*:*:b\n*:*:keys:*:c\n*:*:*:*:d', 'coffer@db.example', 'c'],
    ['*:*:keys:ada:a\n*:*:coffer:coffer:b', 'coffer@db.example', undefined],
    ['db.example:*:*:*:a\\:b\\\\c:d', 'coffer@db.example', 'a:b\\c'],
    ['db.example:*:*:*', 'coffer@db.example', ''],
    ['db.example:*:*', 'coffer@db.example', undefined],
    ['', 'coffer@db.example', undefined],
  ])('stands in a table in the first line that fits: %j for %s', (table, authority, password) => {
    expect(from(`passfile=${escaped(file('table', table))}`, authority)).toBe(password);
  });

  it('stands there for a Unix socket as for localhost, and for the database of the name of the user', () => {
    const path = escaped(file('table', 'localhost:5432:coffer:coffer:a\nlocalhost:*:*::b\n*:*:*:*:c'));
    const of = (location: string) => {
      const parsed = parseAddress(location);
      const password = passwordFor(parsed, parsed.hosts[0]);
      return typeof password === 'function' ? password() : password;
    };
    expect(of(`postgres://coffer@/?host=/run/postgresql&passfile=${path}`)).toBe('a');
    expect(of(`postgres:///?host=/run/postgresql&passfile=${path}`)).toBe('b');
    expect(of(`postgres://coffer@db/?passfile=${path}`)).toBe('c');
  });

  it('is not taken from a file that others can read, or that is not there', () => {
    for (const mode of [0o604, 0o644, 0o660]) {
      expect(refusal(() => from(`passwordfile=${escaped(file('open', 'secret', mode))}`))).toMatchObject({
        kind: 'unavailable',
      });
      expect(refusal(() => from(`passfile=${escaped(file('open', '*:*:*:*:secret', mode))}`))).toMatchObject({
        kind: 'unavailable',
      });
    }
    expect(refusal(() => from(`passwordfile=${escaped(join(directory, 'none'))}`))).toMatchObject({
      kind: 'unavailable',
    });
  });

  it.each(['sslcert', 'sslkey'])('is nothing that %s is taken for, unless it is PEM', (name) => {
    const options = () =>
      tlsOptions(
        parseAddress(`postgres://db.example/keys?sslmode=require&${name}=${escaped(file('odd', 'odd'))}`),
      );
    expect(refusal(options)).toMatchObject({
      kind: 'invalid',
      message: 'cannot use sslcert and sslkey',
      field: 'store',
    });
  });
});

describe('the tables of a store', () => {
  const VERSION = { version: 1, usable_from: 1 };
  const checked = (there: readonly string[], version: object = VERSION, shapes: readonly object[] = []) =>
    checkSchema(
      new FakeClient(({ text }) => {
        const [, table = ''] = /to_regclass\('coffer\.(\w+)'\)/.exec(text) ?? [];
        if (table !== '') return [{ found: there.includes(table) }];
        return text.includes('coffer.version') ? [version] : shapes;
      }).asClient,
      address,
    );

  it.each<[string, () => Promise<void>, object]>([
    ['there are none', () => checked([]), { kind: 'not-found' }],
    [
      'the version is lost',
      () => checked(['store']),
      { kind: 'corrupt', message: `the table coffer.version of ${PLACE} is missing` },
    ],
    [
      'a newer Coffer made them',
      () => checked(['version'], { version: 3, usable_from: 2 }),
      { kind: 'corrupt', message: expect.stringContaining('created by a newer Coffer (version 3)') },
    ],
    [
      'they are older',
      () => checked(['version'], { version: 0, usable_from: 0 }),
      {
        kind: 'unavailable',
        message: expect.stringContaining('have version 0; this Coffer needs version 1'),
      },
    ],
    [
      'one is missing',
      () => checked(['version']),
      { kind: 'corrupt', message: `the table coffer.blob of ${PLACE} is missing` },
    ],
    [
      'one was altered',
      () => checked(['version'], VERSION, [{ name: 'blob', shape: 'odd' }]),
      { kind: 'corrupt', message: `the table coffer.blob of ${PLACE} was modified` },
    ],
  ])('are not used where %s', async (_, check, error) => {
    expect(await refused(check())).toMatchObject(error);
  });

  it('are used though a newer Coffer added to them, if it says that older ones may', async () => {
    await checked(['version'], { version: 2, usable_from: 1 });
  });
});
