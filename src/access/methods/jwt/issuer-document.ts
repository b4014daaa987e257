import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { isLoopback } from '../../../ground/loopback.ts';
import { fetchOutside } from '../../login/fetch-outside.ts';

/** Total time limit in milliseconds, from the DNS lookup to the last byte. */
const WITHIN_MS = 5_000;
/** Maximum size of a document, in bytes. Key sets have a few keys of some hundred bytes each. */
const MOST_BYTES = 1024 * 1024;

/** TLS trust settings for documents of an issuer. */
export interface IssuerTrust {
  /** Certificate authorities in PEM that replace the platform's; empty for those. */
  readonly ca: string;
  /** Names that the server's certificate may have instead of the host name; empty for the host name only. */
  readonly serverNames: readonly string[];
}

/** Whether a URL uses TLS, or is on this machine, so that no attacker is in between. */
export function isTrustworthy(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname, username, password } = new URL(address);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname.replace(/^\[|\]$/g, '')));
}

/**
 * Fetches a document of an issuer as text, with bounded time and memory, and without following redirects.
 * @throws an `Error` with a short reason
 */
export async function fetchDocument(address: string, trust: IssuerTrust): Promise<string> {
  if (!isTrustworthy(address)) throw new Error('the URL must begin with https://, except on this machine');
  const bytes = await fetchOutside(new URL(address), {
    withinMs: WITHIN_MS,
    mostBytes: MOST_BYTES,
    accept: 'application/json',
    tls: trusting(trust),
  });
  return bytes.toString('utf8');
}

function trusting({ ca, serverNames }: IssuerTrust) {
  return {
    ca: ca === '' ? undefined : ca,
    // Node calls this member even if it is undefined, so an undefined member would break each connection.
    checkServerIdentity:
      serverNames.length === 0
        ? checkServerIdentity
        : (_host: string, certificate: PeerCertificate) =>
            serverNames.some((name) => checkServerIdentity(name, certificate) === undefined)
              ? undefined
              : new Error('its certificate has none of the allowed server names'),
  };
}
