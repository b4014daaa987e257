import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConnectionOptions } from 'node:tls';
import { invalid } from '../../../ground/errors.ts';
import { diskError } from '../files/disk-errors.ts';
import type { PostgresAddress } from './address.ts';

/** Stands for the certificate authorities that come with the platform. */
const SYSTEM = 'system';

/**
 * What `sslmode` and its companions mean, as in libpq (PostgreSQL 15 documentation, 34.19.1). False: no TLS. `prefer` is
 * TLS here; falling back is up to the caller.
 */
export function tlsOptions({ ssl, hosts }: PostgresAddress): ConnectionOptions | false {
  const local = hosts.every(({ host }) => host?.startsWith('/') === true);
  if (ssl.mode === 'disable' || local) return false;
  const own = {
    ...(ssl.certificateFile === undefined ? {} : { cert: readPem(ssl.certificateFile) }),
    ...(ssl.keyFile === undefined ? {} : { key: readPem(ssl.keyFile) }),
  };
  requireUsable(own);
  const authority = ssl.rootCertificateFile ?? defaultAuthority();
  if (authority === undefined && ssl.mode === 'verify-ca') {
    throw invalid("sslmode=verify-ca can't be right without sslrootcert", {
      field: 'store',
      hint: 'name the file with the certificate of the authority, or use sslmode=verify-full',
    });
  }
  const trusted = authority === undefined || authority === SYSTEM ? {} : { ca: readPem(authority) };
  if (ssl.mode === 'verify-full') return { ...own, ...trusted };
  // With an authority at hand, "require" means "verify-ca".
  if (ssl.mode === 'verify-ca' || (ssl.mode === 'require' && authority !== undefined)) {
    return { ...own, ...trusted, checkServerIdentity: () => undefined };
  }
  return { ...own, rejectUnauthorized: false };
}

/** @throws `invalid` for a certificate and key that are none, don't belong together or want a passphrase. */
function requireUsable(own: ConnectionOptions): void {
  if (own.cert === undefined && own.key === undefined) return;
  try {
    process.getBuiltinModule('node:tls').createSecureContext(own);
  } catch (error) {
    throw invalid("sslcert and sslkey can't be used", {
      field: 'store',
      hint: 'give a certificate and its own key in PEM, the key without a passphrase',
      cause: error,
    });
  }
}

function defaultAuthority(): string | undefined {
  const path = join(process.getBuiltinModule('node:os').homedir(), '.postgresql', 'root.crt');
  return existsSync(path) ? path : undefined;
}

function readPem(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw diskError(error, 'read', path);
  }
}
