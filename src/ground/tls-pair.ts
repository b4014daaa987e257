/** Certificates of TLS and their keys, from files in PEM. */

import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { invalid, placed, type Text } from './errors.ts';
import { CERTIFICATE_HINT } from './pem.ts';

/** Content of a file. */
interface PemFile {
  readonly file: string;
  readonly pem: string | Buffer;
  /** Option that names the file, for errors. */
  readonly field?: string | undefined;
}

/**
 * Checks that a certificate and its key work: OpenSSL accepts an empty certificate silently, and reports everything else
 * only when a connection is opened.
 * @returns the certificate, the first one in its file
 * @throws `invalid` for a malformed certificate or key, or if they do not match
 */
export function checkedPair(certificate: PemFile, key: PemFile): X509Certificate {
  const first = firstCertificate(certificate);
  if (!first.checkPrivateKey(privateKey(key))) {
    const { file } = certificate;
    throw refused(key, placed`${{ file: key.file }} is not the key of the certificate in ${{ file }}`);
  }
  try {
    createSecureContext({ cert: certificate.pem, key: key.pem });
  } catch (cause) {
    throw refused(certificate, placed`cannot use ${{ file: certificate.file }}: ${reasonOf(cause)}`);
  }
  return first;
}

/**
 * Parses the first certificate of a file.
 * @throws `invalid`
 */
export function firstCertificate({ pem, ...named }: PemFile): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw refused(named, placed`no certificate in ${{ file: named.file }}`, CERTIFICATE_HINT);
  }
}

function privateKey({ pem, ...named }: PemFile): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw refused(
      named,
      placed`no readable private key in ${{ file: named.file }}`,
      'use a private key in PEM without a passphrase, which has the line "-----BEGIN PRIVATE KEY-----"; "openssl pkey -in FILE -out NEW" removes a passphrase',
    );
  }
}

const refused = ({ field }: Pick<PemFile, 'field'>, message: Text, hint?: string) =>
  invalid(message, { field, hint });

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
