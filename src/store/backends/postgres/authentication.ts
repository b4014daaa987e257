/** Authenticates a connection to the server, and the server to us. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConnectionOptions, checkServerIdentity } from 'node:tls';
import { invalid } from '../../../ground/errors.ts';
import { readPrivateFile } from '../../../ground/private-files.ts';
import { keepOwnAuthorities } from '../../../ground/tls-trust.ts';
import { onDisk } from '../files/disk-errors.ts';
import { type Host, type PostgresAddress, SYSTEM } from './address.ts';

/**
 * Converts `sslmode` and related parameters into TLS options, as in libpq (PostgreSQL 15 documentation, 34.19.1). False
 * disables TLS. `prefer` uses TLS here; falling back is up to the caller.
 */
export function tlsOptions({ ssl, hosts }: PostgresAddress): ConnectionOptions | false {
  const local = hosts.every(({ host }) => host.startsWith('/'));
  if (ssl.mode === 'disable' || local) return false;
  const own = {
    cert: ssl.certificateFile === undefined ? undefined : readPem(ssl.certificateFile),
    key: ssl.keyFile === undefined ? undefined : readSecretFile(ssl.keyFile),
  };
  requireUsable(own);
  const authority = ssl.rootCertificateFile ?? defaultAuthority();
  if (authority === undefined && ssl.mode === 'verify-ca') {
    throw invalid('sslmode=verify-ca requires sslrootcert', {
      field: 'store',
      hint: 'set sslrootcert to the file with the CA certificate, or use sslmode=verify-full',
    });
  }
  // If a certificate authority is given, "require" means "verify-ca".
  const verified = ssl.mode.startsWith('verify') || (ssl.mode === 'require' && authority !== undefined);
  if (!verified) return { ...own, rejectUnauthorized: false };
  keepOwnAuthorities();
  return {
    ...own,
    rejectUnauthorized: true,
    ca: authority === undefined || authority === SYSTEM ? undefined : readPem(authority),
    checkServerIdentity: ssl.mode === 'verify-full' ? checkServerIdentity : () => undefined,
  };
}

/**
 * Checks the client certificate and key.
 * @throws `invalid` if they are malformed, do not match, or need a passphrase
 */
function requireUsable(own: ConnectionOptions): void {
  if (own.cert === undefined && own.key === undefined) return;
  try {
    process.getBuiltinModule('node:tls').createSecureContext(own);
  } catch (error) {
    throw invalid('cannot use sslcert and sslkey', {
      field: 'store',
      hint: 'use a certificate and its key in PEM, without a passphrase',
      cause: error,
    });
  }
}

function defaultAuthority(): string | undefined {
  const path = join(process.getBuiltinModule('node:os').homedir(), '.postgresql', 'root.crt');
  return existsSync(path) ? path : undefined;
}

const readPem = (path: string): string => onDisk('read', path, () => readFileSync(path, 'utf8'));

/** Password option of the library, evaluated once per connection; undefined leaves it to PGPASSWORD. */
type Password = string | (() => string | undefined) | undefined;

/**
 * Returns the password source for a host. Files are read again for every connection, so that a new password takes
 * effect without a restart.
 */
export function passwordFor(address: PostgresAddress, host: Host): Password {
  const { password, passwordFile, passwordTable } = address;
  if (password !== undefined) return password;
  if (passwordFile !== undefined) return () => readSecretFile(passwordFile).replace(/\r?\n$/, '');
  if (passwordTable === undefined) return undefined;
  return () => lookUp(readSecretFile(passwordTable), host, address);
}

/**
 * Reads a secret file.
 * @throws `unavailable` if it cannot be read, or other users can read it (which libpq also refuses)
 */
const readSecretFile = (path: string): string => onDisk('read', path, () => readPrivateFile(path));

/**
 * Finds the password in the first matching line: `host:port:database:user:password`, where `*` matches everything and a
 * backslash escapes a literal colon or backslash (PostgreSQL 15 documentation, 34.16).
 */
function lookUp(table: string, { host, port }: Host, address: PostgresAddress): string | undefined {
  const wanted = [
    host.startsWith('/') ? 'localhost' : host,
    String(port ?? 5432),
    address.database ?? address.user ?? '',
    address.user ?? '',
  ];
  for (const line of table.split('\n')) {
    if (line.startsWith('#')) continue;
    const fields = fieldsOf(line);
    if (wanted.every((value, i) => fields[i] === '*' || fields[i] === value))
      return fields[wanted.length] ?? '';
  }
  return undefined;
}

function fieldsOf(line: string): readonly string[] {
  const fields: string[] = [];
  let field = '';
  for (const [part] of line.matchAll(/\\.|./gs)) {
    if (part !== ':') {
      field += part.length === 2 ? part.slice(1) : part;
      continue;
    }
    fields.push(field);
    field = '';
  }
  return [...fields, field];
}
