import { isIPv6 } from 'node:net';
import { invalid } from '../../ground/errors.ts';
import type { ListenPlace } from '../../service/listening.ts';

/** Where to listen, read from text. */
export type ListenAddress = {
  /** Largest body in bytes. */
  readonly maxRequestBytes: number;
} & ListenPlace;

export const DEFAULT_MAX_REQUEST_BYTES = 32 * 1024 * 1024;

const HOST_AND_PORT = /^(?:\[(?<ipv6>[^\]]+)\]|(?<host>[^:[\]]+)):(?<port>\d{1,5})$/;
const SIZE_PARAMETER = 'max-request-size';

/**
 * `HOST:PORT`, `[IPV6]:PORT` or `unix:/path.sock`, each with `?max-request-size=BYTES` for a limit of its own.
 * @throws `invalid` naming what is wrong.
 */
export function parseListenAddress(text: string, maxRequestBytes: number): ListenAddress {
  const [address = '', query] = text.split('?', 2);
  const limit = query === undefined ? maxRequestBytes : parseLimit(text, query);
  if (address.startsWith('unix:')) return { socket: address.slice('unix:'.length), maxRequestBytes: limit };
  const { ipv6, host, port } = HOST_AND_PORT.exec(address)?.groups ?? {};
  const name = ipv6 ?? host;
  if (name === undefined || Number(port) > 65_535 || (ipv6 !== undefined && !isIPv6(ipv6))) {
    throw invalid(`cannot listen on ${JSON.stringify(text)}`, {
      field: 'listen',
      hint: 'give HOST:PORT, e.g. 127.0.0.1:8200 or [::1]:8200',
    });
  }
  return { host: name, port: Number(port), maxRequestBytes: limit };
}

function parseLimit(text: string, query: string): number {
  const parameters = [...new URLSearchParams(query)];
  const [name, value] = parameters[0] ?? [];
  const bytes = Number(value);
  if (parameters.length !== 1 || name !== SIZE_PARAMETER || !Number.isSafeInteger(bytes) || bytes < 1) {
    throw invalid(`cannot listen on ${JSON.stringify(text)}`, {
      field: 'listen',
      hint: `only ?${SIZE_PARAMETER}=BYTES may follow an address`,
    });
  }
  return bytes;
}

/** How the address is written for people and clients. */
export const printAddress = (host: string, port: number, secure: boolean): string =>
  `${secure ? 'https' : 'http'}://${isIPv6(host) ? `[${host}]` : host}:${port}`;
