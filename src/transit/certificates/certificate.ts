import { type KeyObject, X509Certificate } from 'node:crypto';
import { attempt } from '../../ground/errors.ts';

/**
 * Parses an X.509 certificate; undefined if the bytes are not exactly one certificate.
 * @param der DER, without PEM
 */
export const readCertificate = (der: Uint8Array): X509Certificate | undefined =>
  attempt(() => {
    const certificate = new X509Certificate(der);
    return certificate.raw.equals(der) ? certificate : undefined;
  });

/** Returns the public key; undefined for a type of key that OpenSSL does not know. */
export const publicKeyOf = (certificate: X509Certificate): KeyObject | undefined =>
  attempt(() => certificate.publicKey);

/** Message for a certificate for another key. */
export const OTHER_KEY = 'leaf certificate public key does not match the selected key version';
/** Message for bytes that are not a certificate. */
export const UNREADABLE = 'could not parse a certificate in the certificate chain';
