import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { isLoopback } from '../../../ground/loopback.ts';
import { keepOwnAuthorities } from '../../../ground/tls-trust.ts';

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
  const url = new URL(address);
  const signal = AbortSignal.timeout(WITHIN_MS);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const options = { agent: false, headers: { accept: 'application/json' } } as const;
  const sent =
    url.protocol === 'https:'
      ? secureRequest(url, { ...options, ...trusting(trust) })
      : plainRequest(url, options);
  const late = (): void => void sent.destroy(new Error('no answer in time'));
  signal.addEventListener('abort', late);
  sent.once('error', reject);
  sent.once('upgrade', (_answer, socket) => {
    socket.destroy();
    reject(new Error('the answer is not one of an issuer'));
  });
  sent.once('response', (answer) => {
    answer.once('error', reject);
    if (answer.statusCode !== 200) {
      sent.destroy(new Error(`the answer has the status ${answer.statusCode}`));
      return;
    }
    const chunks: Buffer[] = [];
    let bytes = 0;
    answer.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MOST_BYTES) sent.destroy(new Error(`the answer is longer than ${MOST_BYTES} bytes`));
      else chunks.push(chunk);
    });
    answer.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
  });
  sent.end();
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', late);
    sent.destroy();
  }
}

function trusting({ ca, serverNames }: IssuerTrust) {
  keepOwnAuthorities();
  return {
    rejectUnauthorized: true,
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
