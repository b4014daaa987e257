import { isIPv6 } from 'node:net';

/**
 * Where requests come from, as far as they are counted together. Whoever has one address of IPv6 has a network of them (RFC 6177):
 * the first 64 bits count.
 */
export function sourceOf(mount: string, address: string): string {
  if (!isIPv6(address) || address.includes('.')) return `${mount} ${address}`;
  const [head = '', tail] = address.split('::');
  const groups = head.split(':');
  const missing = tail === undefined ? 0 : 8 - groups.length - tail.split(':').length;
  const all = [...groups, ...Array.from({ length: missing }, () => '0'), ...(tail ?? '').split(':')];
  return `${mount} ${all.slice(0, 4).join(':')}`;
}
