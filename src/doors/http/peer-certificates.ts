import type { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

/** Certificates above each other that are taken of a client: as many as a chain may have. */
const MOST_CERTIFICATES = 10;
/** Characters of them; a client whose own has more shows none, one with more in all no intermediates: no chain of use comes near. */
const MOST_CHARACTERS = 16 * 1024;
/** Clients whose intermediates are remembered; past it the one that was seen first goes. */
const REMEMBERED = 500;

/**
 * What clients showed in their handshakes, for as long as their connections live. A session that is taken up again brings
 * the client's own certificate and no others, so what signed it is remembered from before. Nothing depends on where such
 * an intermediate came from: it counts as far as somebody who is trusted signed it.
 */
export class PeerCertificates {
  readonly #bySocket = new WeakMap<Socket, readonly string[]>();
  readonly #intermediates = new Map<string, readonly string[]>();

  /** A handshake is over. */
  met(socket: TLSSocket): void {
    const leaf = socket.getPeerX509Certificate();
    if (leaf === undefined) return;
    const own = base64(leaf);
    if (own.length > MOST_CHARACTERS) return;
    const name = leaf.fingerprint256;
    const sent = socket.isSessionReused() ? [] : intermediatesOf(leaf);
    if (sent.length > 0) this.#remember(name, sent);
    this.#bySocket.set(socket, [own, ...(this.#intermediates.get(name) ?? [])]);
  }

  /** The client's own first, base64 of DER; undefined when it showed none. */
  of(socket: Socket): readonly string[] | undefined {
    return this.#bySocket.get(socket);
  }

  #remember(name: string, sent: readonly string[]): void {
    this.#intermediates.delete(name);
    for (const first of this.#intermediates.keys()) {
      if (this.#intermediates.size < REMEMBERED) break;
      this.#intermediates.delete(first);
    }
    this.#intermediates.set(name, sent);
  }
}

function intermediatesOf(leaf: X509Certificate): readonly string[] {
  const found: string[] = [];
  let last = leaf;
  let length = 0;
  for (let next = last.issuerCertificate; next !== undefined; next = next.issuerCertificate) {
    if (found.length + 1 >= MOST_CERTIFICATES || next.raw.equals(last.raw)) break;
    found.push(base64(next));
    length += found.at(-1)?.length ?? 0;
    last = next;
  }
  return length > MOST_CHARACTERS ? [] : found;
}

const base64 = ({ raw }: X509Certificate): string => raw.toString('base64');
