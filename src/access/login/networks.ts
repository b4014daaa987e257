import { BlockList, isIP, isIPv6 } from 'node:net';
import { denied, invalid, ownWords } from '../../ground/errors.ts';
import { madeOnce } from '../../ground/objects.ts';

/** Address, or network like `10.0.0.0/8`. Bits beyond the mask are allowed, as in Vault. */
interface Network {
  readonly address: string;
  readonly family: 'ipv4' | 'ipv6';
  readonly bits: number;
  readonly hasMask: boolean;
}

const BITS = { ipv4: 32, ipv6: 128 } as const;

function parseNetwork(text: string): Network | undefined {
  const [address = '', mask, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return undefined;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  if (mask === undefined) return { address, family, bits: BITS[family], hasMask: false };
  if (!/^\d{1,3}$/.test(mask) || Number(mask) > BITS[family]) return undefined;
  return { address, family, bits: Number(mask), hasMask: true };
}

/**
 * Normalizes networks: a mask that leaves one address is dropped.
 * @throws `invalid` with Vault's messages
 */
export function boundNetworks(texts: readonly string[], field: string): readonly string[] {
  return texts.map((text) => {
    const network = parseNetwork(text.trim());
    if (network !== undefined) {
      const { address, bits, family } = network;
      return bits === BITS[family] ? address : `${address}/${bits}`;
    }
    throw invalid(
      `error parsing address "${text}": Unable to convert "${text}" to an IPv4 or IPv6 address, or a UNIX Socket`,
      { field, hint: 'use addresses such as 192.0.2.7 or CIDR blocks such as 10.0.0.0/8' },
    );
  });
}

/**
 * Validates networks, each of which must have a mask.
 * @throws `invalid` with Vault's messages
 */
export function maskedNetworks(texts: readonly string[], field: string): readonly string[] {
  const bad = texts.find((text) => parseNetwork(text.trim())?.hasMask !== true);
  if (bad === undefined) return texts.map((text) => text.trim());
  throw invalid(`failed to validate CIDR blocks: invalid CIDR address: ${bad}`, {
    field,
    hint: 'use CIDR blocks such as 10.0.0.0/8',
  });
}

/** Whether an address is in one of the networks. An IPv4 address may be in IPv6 notation, as Node prints it. */
export function isWithin(networks: readonly string[], address: string): boolean {
  const version = isIP(address);
  if (version === 0) return false;
  return blocksOf(networks).check(address, version === 4 ? 'ipv4' : 'ipv6');
}

/**
 * Refuses a login from an address outside the networks that it is bound to, if there are any.
 * @throws `denied`
 */
export function requireWithin(networks: readonly string[], address: string): void {
  if (networks.length > 0 && !isWithin(networks, address)) throw denied(ownWords('permission denied'));
}

/** Whether each network is completely within one of the others. */
export const areWithin = (inner: readonly string[], outer: readonly string[]): boolean =>
  inner.every((text) => {
    const one = parseNetwork(text);
    return one !== undefined && outer.some((other) => isWholeWithin(one, other));
  });

/** Returns the intersection of two lists: of two networks one contains the other, or they are disjoint. */
export const commonNetworks = (some: readonly string[], others: readonly string[]): readonly string[] => [
  ...new Set([
    ...some.filter((one) => areWithin([one], others)),
    ...others.filter((one) => areWithin([one], some)),
  ]),
];

function isWholeWithin(network: Network, text: string): boolean {
  const around = parseNetwork(text);
  return (
    around !== undefined && bitsAsIpv6(around) <= bitsAsIpv6(network) && isWithin([text], network.address)
  );
}

/**
 * Number of mask bits in IPv6 terms, to compare networks of both families: those of IPv4 are part of IPv6 (RFC 4291,
 * 2.5.5.2), and an IPv6 network may contain all of them.
 */
const bitsAsIpv6 = ({ family, bits }: Network): number => BITS.ipv6 - BITS[family] + bits;

/** Compiled lists, by the list object, which a stored document keeps. */
const compiled = new WeakMap<readonly string[], BlockList>();

const blocksOf = (networks: readonly string[]): BlockList =>
  madeOnce(compiled, networks, () => {
    const blocks = new BlockList();
    for (const text of networks) {
      const network = parseNetwork(text);
      if (network !== undefined) blocks.addSubnet(network.address, network.bits, network.family);
    }
    return blocks;
  });

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
