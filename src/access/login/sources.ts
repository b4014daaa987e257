import { isIPv6 } from 'node:net';

const EMBEDDED_IPV4 = /^::ffff:(?<address>\d+\.\d+\.\d+\.\d+)$/i;

/**
 * Returns the source under which requests of an address are counted. A client with an IPv6 address has a whole network
 * of them (RFC 6177), so only the first 64 bits count. A Unix socket, which has no address, is a source of its own.
 */
export function sourceOf(address: string): string {
  const embedded = EMBEDDED_IPV4.exec(address)?.groups?.['address'];
  if (embedded !== undefined) return embedded;
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail] = address.toLowerCase().split('::');
  const groups = head === '' ? [] : head.split(':');
  const behind = tail === undefined || tail === '' ? [] : tail.split(':');
  const missing = tail === undefined ? 0 : 8 - groups.length - behind.length;
  const all = [...groups, ...Array.from({ length: missing }, () => '0'), ...behind];
  return all
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':');
}
