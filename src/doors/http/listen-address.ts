import { isIPv4, isIPv6 } from 'node:net';
import { type CofferError, invalid } from '../../ground/errors.ts';
import type { ListenPlace } from '../../service/listening.ts';

/** Parsed listen address. */
export type ListenAddress = {
  /** Maximum body size, in bytes. */
  readonly maxRequestBytes: number;
  /** Present if clients may read the metrics without a token. */
  readonly openMetrics?: true | undefined;
} & ListenPlace;

export const DEFAULT_MAX_REQUEST_BYTES = 32 * 1024 * 1024;

const HOST_AND_PORT = /^(?:\[(?<ipv6>[^\]]+)\]|(?<host>[^:[\]]+)):(?<port>\d{1,9})$/;
const MAX_PORT = 65_535;
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
  if (address === 'unix:') throw cannotListen(text, 'use unix:PATH, e.g. unix:/run/coffer.sock');
  if (address.startsWith('unix:')) return { socket: address.slice('unix:'.length), ...settings };
  const { ipv6, host, port } = HOST_AND_PORT.exec(address)?.groups ?? {};
  const name = ipv6 ?? host;
  if (name === undefined || (ipv6 !== undefined && !isIPv6(ipv6))) {
    throw cannotListen(text, completed(address));
  }
  if (Number(port) > MAX_PORT)
    throw cannotListen(text, withUsualPort(ipv6 === undefined ? name : `[${ipv6}]`));
  return { host: name, port: Number(port), ...settings };
}

const cannotListen = (text: string, hint: string): CofferError =>
  invalid(`cannot listen on ${JSON.stringify(text)}`, { field: 'listen', hint });

/** Port of the default address. */
const USUAL_PORT = 8200;

/** Returns the hint for an address whose port is too high. */
const withUsualPort = (host: string): string =>
  `no port is higher than ${MAX_PORT}: use another one, e.g. ${host}:${USUAL_PORT}`;

/** Returns the hint for an address without a host or a port, or for anything else. */
function completed(address: string): string {
  if (/^:?\d{1,9}$/.test(address)) {
    const alone = address.replace(':', '');
    return Number(alone) > MAX_PORT ? withUsualPort('127.0.0.1') : `use 127.0.0.1:${alone}`;
  }
  // A word that begins with a digit is rarely a host, and more often a port with a slip in it.
  const [, host, port] = /^(?:([\w.-]*|\[[\w:.]+\]):)?(\d+[a-z]+|[a-z]+)$/i.exec(address) ?? [];
  if (port !== undefined && (host !== undefined || /^\d/.test(port)))
    return `a port is a number: use ${host || '127.0.0.1'}:${Number.parseInt(port, 10) || USUAL_PORT}`;
  const isName = /^[\w.-]+$/.test(address) && /[a-z]/i.test(address);
  if (isName || isIPv4(address)) return `use ${address}:${USUAL_PORT}`;
  if (isIPv6(address)) return `use [${address}]:${USUAL_PORT}`;
  return `use HOST:PORT, e.g. 127.0.0.1:${USUAL_PORT} or [::1]:${USUAL_PORT}`;
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
    throw cannotListen(
      text,
      `only ?${SIZE_PARAMETER}=BYTES and ?unauthenticated-metrics-access=true may follow an address`,
    );
  }
  return {
    maxRequestBytes: size === undefined ? usualBytes : bytes,
    openMetrics: metrics === 'true' ? true : undefined,
  };
}

/** Formats an address for users and clients. */
export const printAddress = (host: string, port: number, secure: boolean): string =>
  `${secure ? 'https' : 'http'}://${isIPv6(host) ? `[${host}]` : host}:${port}`;
