import { readFileSync, statSync } from 'node:fs';
import { placed, unavailable } from '../../../ground/errors.ts';
import { diskError } from '../files/disk-errors.ts';
import type { Host, PostgresAddress } from './address.ts';

/** What the library asks for once for each connection; undefined leaves it to PGPASSWORD. */
export type Password = string | (() => string | undefined) | undefined;

/** Files are read again for every connection, so that a new password is taken up without a restart. */
export function passwordFor(address: PostgresAddress, host: Host): Password {
  const { password, passwordFile, passwordTable } = address;
  if (password !== undefined) return password;
  if (passwordFile !== undefined) return () => readSecretFile(passwordFile).replace(/\r?\n$/, '');
  if (passwordTable === undefined) return undefined;
  return () => lookUp(readSecretFile(passwordTable), host, address);
}

/** @throws `unavailable` when it can't be read, or everybody can read it (as libpq refuses it). */
function readSecretFile(path: string): string {
  try {
    if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) {
      throw unavailable(placed`${{ file: path }} can be read by others`, {
        hint: placed`run "chmod 600 ${{ file: path }}"`,
      });
    }
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw diskError(error, 'read', path);
  }
}

/**
 * The password of the first line that fits: `host:port:database:user:password`, where `*` fits everything and a
 * backslash stands before a colon or backslash that is meant (PostgreSQL 15 documentation, 34.16).
 */
function lookUp(table: string, { host, port }: Host, address: PostgresAddress): string | undefined {
  const wanted = [
    host === undefined || host.startsWith('/') ? 'localhost' : host,
    String(port ?? 5432),
    address.database ?? address.user ?? '',
    address.user ?? '',
  ];
  for (const line of table.split('\n')) {
    if (line.startsWith('#')) continue;
    const fields = [...line.matchAll(/((?:\\.|[^:\\])*)(?::|$)/g)].map(([, field = '']) =>
      field.replace(/\\(.)/g, '$1'),
    );
    if (wanted.every((value, i) => fields[i] === '*' || fields[i] === value)) return fields[wanted.length];
  }
  return undefined;
}
