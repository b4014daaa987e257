import { isIPv6 } from 'node:net';
import { invalid } from '../../ground/errors.ts';
import type { ListenPlace } from '../../service/listening.ts';

/** Parsed listen address. */
export type ListenAddress = {
  /** Maximum body size, in bytes. */
  readonly maxRequestBytes: number;
  /** Present if clients may read the metrics without a token. */
  readonly openMetrics?: true | undefined;
} & ListenPlace;

export const DEFAULT_MAX_REQUEST_BYTES = 32 * 1024 * 1024;

const HOST_AND_PORT = /^(?:\[(?<ipv6>[^\]]+)\]|(?<host>[^:[\]]+)):(?<port>\d{1,5})$/;
const SIZE_PARAMETER = 'max-request-size';
const METRICS_PARAMETER = 'unauthenticated-metrics-access';

/**
 * Parses `HOST:PORT`, `[IPV6]:PORT` or `unix:/path.sock`, each with `?max-request-size=BYTES` for a separate limit, and
 * `?unauthenticated-metrics-access=true` (or `&…`) for metrics without a token.
 * @throws `invalid` naming the problem
 */
export function parseListenAddress(text: string, maxRequestBytes: number): ListenAddress {
  const [address = '', query] = text.split('?', 2);
  const settings = query === undefined ? { maxRequestBytes } : parseSettings(text, query, maxRequestBytes);
  if (address.startsWith('unix:')) return { socket: address.slice('unix:'.length), ...settings };
  const { ipv6, host, port } = HOST_AND_PORT.exec(address)?.groups ?? {};
  const name = ipv6 ?? host;
  if (name === undefined || Number(port) > 65_535 || (ipv6 !== undefined && !isIPv6(ipv6))) {
    throw invalid(`cannot listen on ${JSON.stringify(text)}`, {
      field: 'listen',
      hint: 'use HOST:PORT, e.g. 127.0.0.1:8200 or [::1]:8200',
    });
  }
  return { host: name, port: Number(port), ...settings };
}

type ListenerSettings = Pick<ListenAddress, 'maxRequestBytes' | 'openMetrics'>;

function parseSettings(text: string, query: string, usualBytes: number): ListenerSettings {
  const parameters = [...new URLSearchParams(query)];
  const given = new Map(parameters);
  const { [SIZE_PARAMETER]: size, [METRICS_PARAMETER]: metrics, ...others } = Object.fromEntries(given);
  const bytes = Number(size ?? 1);
  const areGood =
    given.size > 0 &&
    given.size === parameters.length &&
    Object.keys(others).length === 0 &&
    Number.isSafeInteger(bytes) &&
    bytes > 0 &&
    (metrics === undefined || metrics === 'true' || metrics === 'false');
  if (!areGood) {
    throw invalid(`cannot listen on ${JSON.stringify(text)}`, {
      field: 'listen',
      hint: `only ?${SIZE_PARAMETER}=BYTES and ?unauthenticated-metrics-access=true may follow an address`,
    });
  }
  return {
    maxRequestBytes: size === undefined ? usualBytes : bytes,
    openMetrics: metrics === 'true' ? true : undefined,
  };
}

/** Formats an address for users and clients. */
export const printAddress = (host: string, port: number, secure: boolean): string =>
  `${secure ? 'https' : 'http'}://${isIPv6(host) ? `[${host}]` : host}:${port}`;
