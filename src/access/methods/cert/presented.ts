import { asCofferError, type CofferError, invalid } from '../../../ground/errors.ts';
import { ownWords } from '../../../ground/own-words.ts';
import { type Certificate, readCertificate } from '../../x509/certificate.ts';

/** Certificates of a client from its connection: base64 of DER, leaf first. */
export type ClientCertificates = readonly string[];

export interface Presented {
  /** Leaf; the TLS handshake proved possession of its key. */
  readonly leaf: Certificate;
  /** Intermediates, not verified. */
  readonly intermediates: readonly Certificate[];
}

/**
 * Parses the certificates of a client.
 * @throws `invalid` if there are none, or one cannot be parsed
 */
export function readPresented(certificates: ClientCertificates | undefined): Presented {
  const [leaf, ...intermediates] = (certificates ?? []).map(readOne);
  if (certificates === undefined || certificates.length === 0) {
    throw invalid(ownWords('no client certificate found'), {
      hint: 'connect with a client certificate; a proxy must not terminate TLS',
    });
  }
  if (leaf === undefined) throw nobodysCertificate();
  return { leaf, intermediates: intermediates.filter((certificate) => certificate !== undefined) };
}

function readOne(base64: string): Certificate | undefined {
  try {
    return readCertificate(Buffer.from(base64, 'base64'));
  } catch (error) {
    if (asCofferError(error) === undefined) throw error;
    return undefined;
  }
}

/** Creates the error for an untrusted certificate, or an unknown role: the two must be indistinguishable. */
export const nobodysCertificate = (): CofferError =>
  invalid(ownWords('invalid certificate or no client certificate supplied'));
