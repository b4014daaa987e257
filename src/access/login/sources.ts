import { isIPv6 } from 'node:net';

const EMBEDDED_IPV4 = /^::ffff:(?<address>\d+\.\d+\.\d+\.\d+)$/i;

/**
 * Where requests come from, as far as they are counted together. Whoever has one address of IPv6 has a network of them (RFC 6177):
 * the first 64 bits count. A Unix socket, which has no address, is a source of its own.
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
