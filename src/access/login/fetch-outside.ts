import { type LookupAddress, lookup } from 'node:dns';
import { request as plainRequest } from 'node:http';
import { type RequestOptions, request as secureRequest } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { keepOwnAuthorities } from '../../ground/tls-trust.ts';

/** Limits and options of a request to a foreign server. */
interface FetchLimits {
  /** Total time limit in milliseconds, from the DNS lookup to the last byte. */
  readonly withinMs: number;
  readonly mostBytes: number;
  readonly accept?: string;
  /** TLS trust settings. Default: the platform's certificate authorities. */
  readonly tls?: Pick<RequestOptions, 'ca' | 'checkServerIdentity'>;
}

/**
 * Fetches a URL given by a caller. Redirects are not followed, and link-local services, such as those that provide
 * cloud credentials, are never contacted.
 * @throws an `Error` with a short reason, which is only for logs, because it describes the server's network
 * @see docs/decisions/0277
 */
export async function fetchOutside(
  url: URL,
  { withinMs, mostBytes, accept, tls }: FetchLimits,
): Promise<Buffer> {
  if (isOfLink(url.hostname.replace(/^\[|\]$/g, ''))) throw notAsked();
  const signal = AbortSignal.timeout(withinMs);
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const options = {
    agent: false,
    lookup: lookupOutside,
    headers: accept === undefined ? undefined : { accept },
  } as const;
  if (url.protocol === 'https:') keepOwnAuthorities();
  const sent =
    url.protocol === 'https:'
      ? secureRequest(url, { ...options, ...tls, rejectUnauthorized: true })
      : plainRequest(url, options);
  const late = (): void => void sent.destroy(new Error('timed out'));
  signal.addEventListener('abort', late);
  sent.once('error', reject);
  sent.once('upgrade', (_answer, socket) => {
    socket.destroy();
    reject(new Error('the server switched to another protocol'));
  });
  sent.once('response', (answer) => {
    answer.once('error', reject);
    if (answer.statusCode !== 200) {
      sent.destroy(new Error(`the server responded with status ${answer.statusCode}`));
      return;
    }
    const chunks: Buffer[] = [];
    let bytes = 0;
    answer.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      // The end may have arrived in the same packet, so closing the connection (below) is not enough.
      if (bytes > mostBytes) reject(new Error(`the response is longer than ${mostBytes} bytes`));
      else chunks.push(chunk);
    });
    answer.once('end', () => resolve(Buffer.concat(chunks)));
  });
  sent.end();
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', late);
    sent.destroy();
  }
}

const notAsked = (): Error =>
  new Error('link-local addresses and addresses of cloud metadata services are refused');

/**
 * Link-local addresses (RFC 3927, RFC 4291), also behind a translator (RFC 6052), and other addresses of such cloud
 * services.
 */
const ofLink = new BlockList();
ofLink.addSubnet('169.254.0.0', 16, 'ipv4');
ofLink.addSubnet('fe80::', 10, 'ipv6');
ofLink.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6');
ofLink.addAddress('fd00:ec2::254', 'ipv6');
ofLink.addAddress('100.100.100.200', 'ipv4');
ofLink.addAddress('168.63.129.16', 'ipv4');
ofLink.addAddress('192.0.0.192', 'ipv4');

/** Whether an address must never be contacted; false for names. */
export function isOfLink(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && ofLink.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

/** DNS lookup of the connection itself: the resolved addresses are checked where they are used. */
export const lookupOutside: LookupFunction = (host, options, done) => {
  lookup(host, { ...options, all: true }, (error, found) => {
    const addresses: readonly LookupAddress[] = found ?? [];
    const [first] = addresses;
    const refused = error ?? (addresses.some(({ address }) => isOfLink(address)) ? notAsked() : null);
    if (refused !== null || first === undefined)
      done(refused ?? new Error('the host name has no address'), '');
    else if (options.all) done(null, [...addresses]);
    else done(null, first.address, first.family);
  });
};
