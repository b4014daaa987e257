import { asCofferError, type CofferError, invalid } from '../../../ground/errors.ts';
import { ownWords } from '../../../ground/own-words.ts';
import { type Certificate, readCertificate } from '../../x509/certificate.ts';

/** The certificates of a client, as its connection brought them: base64 of DER, its own first. */
export type ClientCertificates = readonly string[];

export interface Presented {
  /** That the client has the key of this one was shown when it connected. */
  readonly leaf: Certificate;
  /** Nothing about them is known. */
  readonly intermediates: readonly Certificate[];
}

/** @throws `invalid` where there is none, or none that can be read. */
export function readPresented(certificates: ClientCertificates | undefined): Presented {
  const [leaf, ...intermediates] = (certificates ?? []).map(readOne);
  if (certificates === undefined || certificates.length === 0) {
    throw invalid(ownWords('no client certificate found'), {
      hint: 'log in over TLS with a client certificate, directly: what stands between must not end the connection',
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

/** Nobody who is trusted signed it, or the role that was named is not there: not to be told apart. */
export const nobodysCertificate = (): CofferError =>
  invalid(ownWords('invalid certificate or no client certificate supplied'));
