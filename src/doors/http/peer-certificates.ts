import type { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

/** Maximum number of certificates of a client, the maximum length of a chain. */
const MOST_CERTIFICATES = 10;
/**
 * Maximum length in characters, far above any useful chain: with a longer leaf a client has no certificate, with a
 * longer total no intermediates.
 */
const MOST_CHARACTERS = 16 * 1024;
/** Maximum number of clients whose intermediates are cached; the oldest is evicted first. */
const REMEMBERED = 500;

/**
 * Client certificates by connection. A resumed TLS session has only the client's leaf, so its intermediates are cached.
 * The origin of an intermediate does not matter: it only counts if it is signed by a trusted authority.
 */
export class PeerCertificates {
  readonly #bySocket = new WeakMap<Socket, readonly string[]>();
  readonly #intermediates = new Map<string, readonly string[]>();

  /** Remembers the certificates of a client. Called after each handshake. */
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

  /** Returns the certificates, leaf first, base64 of DER; undefined if there are none. */
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
