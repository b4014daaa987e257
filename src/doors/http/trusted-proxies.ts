import { isIP } from 'node:net';
import { boundNetworks, isWithin } from '../../access/login/networks.ts';
import { attempt, invalid } from '../../ground/errors.ts';

/** Name of a proxy that connects through a Unix socket, which has no address. */
const THROUGH_SOCKET = 'unix';

/**
 * Normalizes proxies: addresses, CIDR blocks, and `unix` for connections through a Unix socket, also with commas between
 * them.
 * @throws `invalid` for anything else
 */
export const parseTrustedProxies = (texts: readonly string[]): readonly string[] =>
  texts
    .flatMap((list) => list.split(','))
    .flatMap((proxy) => {
      const text = proxy.trim();
      if (text === THROUGH_SOCKET) return [text];
      const networks = attempt(() => boundNetworks([text], FIELD), undefined);
      if (networks !== undefined) return networks;
      throw invalid(`${JSON.stringify(text)} is neither an IP address nor a CIDR block`, {
        field: FIELD,
        hint: 'use an address such as 192.0.2.7, a CIDR block such as 10.0.0.0/8, or "unix" for connections through --socket',
      });
    });

const FIELD = 'trusted-proxy';

/**
 * Proxies in front of a server, whose `X-Forwarded-For` names the clients.
 * @see docs/decisions/0323
 */
export class TrustedProxies {
  readonly #networks: readonly string[];
  readonly #isSocketTrusted: boolean;

  /** @param proxies as returned by {@link parseTrustedProxies} */
  constructor(proxies: readonly string[]) {
    this.#isSocketTrusted = proxies.includes(THROUGH_SOCKET);
    this.#networks = proxies.filter((proxy) => proxy !== THROUGH_SOCKET);
  }

  /** @param peer address of a connection; undefined for a Unix socket */
  trusts(peer: string | undefined): boolean {
    return peer === undefined ? this.#isSocketTrusted : isWithin(this.#networks, peer);
  }

  /**
   * Returns the address of the client of a request: the last one that a trusted proxy has added and that is not itself a
   * trusted proxy. What stands before it was sent by the client, who can claim anything.
   * @param peer address of the connection; undefined for a Unix socket
   * @param forwarded `X-Forwarded-For`, several headers joined by commas
   * @returns empty if it is unknown: for a Unix socket, or if a trusted proxy gives no address
   */
  clientOf(peer: string | undefined, forwarded: string | undefined): string {
    if (forwarded === undefined || !this.trusts(peer)) return peer ?? '';
    for (let left = forwarded; ; ) {
      const comma = left.lastIndexOf(',');
      const hop = addressIn(left.slice(comma + 1));
      if (comma === -1 || !this.trusts(hop)) return hop;
      left = left.slice(0, comma);
    }
  }
}

/** Forms of an entry with a port, which some proxies add. */
const WITH_PORT = /^(?:\[(?<ipv6>[^\]]+)\](?::\d{1,5})?|(?<ipv4>[\d.]+):\d{1,5})$/;

/** Returns the address of an entry; empty if it has none. */
function addressIn(entry: string): string {
  const text = entry.trim();
  const { ipv6, ipv4 } = WITH_PORT.exec(text)?.groups ?? {};
  const address = ipv6 ?? ipv4 ?? text;
  return isIP(address) === 0 ? '' : address;
}
