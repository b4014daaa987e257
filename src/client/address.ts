import { invalid } from '../ground/errors.ts';
import { isLoopback } from '../ground/loopback.ts';

/** Address of a server. */
export type ServerAddress =
  | { readonly kind: 'tcp'; readonly secure: boolean; readonly host: string; readonly port: number }
  | { readonly kind: 'socket'; readonly path: string };

const UNIX = /^unix:(?:\/\/)?(?<path>\/.+)$/;

/**
 * Parses `http://host:port`, `https://host:port` or `unix:/path/to.sock`.
 * @throws `invalid` for anything else
 */
export function parseAddress(text: string): ServerAddress {
  const path = UNIX.exec(text)?.groups?.['path'];
  if (path !== undefined) return { kind: 'socket', path };
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && (url.username !== '' || url.password !== '')) {
    // Error messages end up in logs, so the address is not repeated in them.
    throw invalid('a server address must not contain a user name or password', {
      field: 'address',
      hint: 'use http://HOST:PORT or https://HOST:PORT, and a token',
    });
  }
  const isPlain = url !== undefined && (url.pathname === '/' || url.pathname === '') && url.search === '';
  if (url === undefined || !isPlain || !['http:', 'https:'].includes(url.protocol)) {
    throw invalid(`invalid server address ${JSON.stringify(text)}`, {
      field: 'address',
      hint: 'use http://HOST:PORT, https://HOST:PORT or unix:/PATH',
    });
  }
  const secure = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return { kind: 'tcp', secure, host, port: url.port === '' ? (secure ? 443 : 80) : Number(url.port) };
}

/**
 * Whether traffic can be read by others on the network: without TLS, and not to this machine.
 * @throws as `parseAddress`
 */
export function isExposed(text: string): boolean {
  const address = parseAddress(text);
  return address.kind === 'tcp' && !address.secure && !isLoopback(address.host);
}
