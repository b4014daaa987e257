import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { CofferError, invalid, placed, type Text, unavailable } from '../../ground/errors.ts';
import { pemBlocks } from '../../ground/pem.ts';
import { readPrivateFile } from '../../ground/private-files.ts';
import { diskReason } from '../../store/backends/files/disk-errors.ts';
import type { ClientCertificatePolicy, TlsCertificate } from './http-server.ts';

/** PEM files of a server's certificate. */
export interface TlsFiles {
  /** Server certificate first, then its intermediates. */
  readonly certificateFile: string;
  readonly keyFile: string;
  /** Authorities of required client certificates. */
  readonly clientAuthoritiesFile?: string | undefined;
  /** Whether client certificates are not requested. */
  readonly asksNoClient?: boolean | undefined;
}

/**
 * Reads a certificate and its key, and checks that they work: OpenSSL accepts an empty certificate silently, and then
 * refuses every connection.
 * @throws `unavailable` for an unreadable file, or a key that other users can read or write; `invalid` for a malformed
 * certificate or key, or if they do not match
 */
export function readTlsFiles({ certificateFile, keyFile, ...clients }: TlsFiles): TlsCertificate {
  const certificate = readPem(certificateFile, 'tls');
  const key = readPem(keyFile, 'tls-key', readPrivateFile);
  const first = firstCertificate(certificate, certificateFile);
  if (!first.checkPrivateKey(privateKey(key, keyFile))) {
    throw refused(
      'tls-key',
      placed`${{ file: keyFile }} is not the key of the certificate in ${{ file: certificateFile }}`,
    );
  }
  try {
    createSecureContext({ cert: certificate, key });
  } catch (cause) {
    throw refused('tls', placed`cannot use ${{ file: certificateFile }}: ${reasonOf(cause)}`);
  }
  return { certificate, key, clients: readClients(clients), ends: first.validToDate.getTime() / 1000 };
}

function readClients({
  clientAuthoritiesFile: file,
  asksNoClient,
}: Pick<TlsFiles, 'clientAuthoritiesFile' | 'asksNoClient'>): ClientCertificatePolicy {
  if (file === undefined) return asksNoClient ? 'not asked' : 'asked';
  const authorities = readPem(file, 'tls-client-ca');
  const { blocks } = pemBlocks(authorities);
  if (blocks.length === 0)
    throw refused('tls-client-ca', placed`no certificate in ${{ file }}`, 'use a PEM file');
  for (const { bytes } of blocks) firstCertificate(bytes, file, 'tls-client-ca');
  return { authorities };
}

function firstCertificate(pem: string | Buffer, file: string, field: Field = 'tls'): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw refused(field, placed`no certificate in ${{ file }}`, 'use a PEM file');
  }
}

function privateKey(pem: string, file: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw refused(
      'tls-key',
      placed`no readable private key in ${{ file }}`,
      'use a PEM file without a passphrase',
    );
  }
}

function readPem(path: string, field: string, read = readPublicFile): string {
  try {
    return read(path, field);
  } catch (error) {
    if (error instanceof CofferError) throw error;
    throw unavailable(placed`cannot read ${{ file: path }}: ${diskReason(error)}`, { field, cause: error });
  }
}

type Field = 'tls' | 'tls-key' | 'tls-client-ca';

const refused = (field: Field, message: Text, hint?: string) => invalid(message, { field, hint });
const readPublicFile = (path: string, _field: string): string => readFileSync(path, 'utf8');

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
