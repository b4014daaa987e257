import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { isLoopback } from '../../../ground/loopback.ts';
import { fetchOutside } from '../../login/fetch-outside.ts';

/** For everything, from the name's address to the last byte. */
const WITHIN_MS = 5_000;
/** Key sets have a few keys, each of some hundred bytes. */
const MOST_BYTES = 1024 * 1024;

/** Whom to trust where something of an issuer's is fetched. */
export interface IssuerTrust {
  /** Certificates as PEM, in place of the machine's authorities; empty for those. */
  readonly ca: string;
  /** Names that the server's certificate may have in place of the host's; empty for the host's alone. */
  readonly serverNames: readonly string[];
}

/** Whether an address is one of TLS, or of this machine alone, where nobody lies in between. */
export function isTrustworthy(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname, username, password } = new URL(address);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname.replace(/^\[|\]$/g, '')));
}

/**
 * Fetches a document of an issuer, as text. Whoever answers gets no more time and memory than an honest issuer needs, and is not
 * followed elsewhere.
 * @throws an `Error` that says why not, in a few words.
 */
export async function fetchDocument(address: string, trust: IssuerTrust): Promise<string> {
  if (!isTrustworthy(address)) throw new Error('it is fetched over TLS only, but on this machine');
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
    ...(ca === '' ? {} : { ca }),
    ...(serverNames.length === 0
      ? {}
      : {
          checkServerIdentity: (_host: string, certificate: PeerCertificate) =>
            serverNames.some((name) => checkServerIdentity(name, certificate) === undefined)
              ? undefined
              : new Error('its certificate has none of the names that are allowed'),
        }),
  };
}
