import { type KeyObject, X509Certificate } from 'node:crypto';

/** An X.509 certificate, or undefined when the bytes are none, or not only one. @param der without PEM around it. */
export function readCertificate(der: Uint8Array): X509Certificate | undefined {
  try {
    const certificate = new X509Certificate(der);
    return certificate.raw.equals(der) ? certificate : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined for a kind of key that OpenSSL does not know. */
export function publicKeyOf(certificate: X509Certificate): KeyObject | undefined {
  try {
    return certificate.publicKey;
  } catch {
    return undefined;
  }
}

/** What is said of a certificate for another key. */
export const OTHER_KEY = 'leaf certificate public key does not match the selected key version';
/** What is said of bytes that are no certificate. */
export const UNREADABLE = 'could not parse a certificate in the certificate chain';
