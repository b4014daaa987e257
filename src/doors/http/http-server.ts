import type { X509Certificate } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, Server as SecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { resolve } from 'node:path';
import { type SecureContextOptions, TLSSocket } from 'node:tls';
import { setAmong } from '../../ground/objects.ts';
import { listening } from '../../service/listening.ts';
import { ConnectionPlaces } from './connection-places.ts';
import type { Answer, Exchange } from './exchange.ts';
import { IncomingBody } from './incoming-body.ts';
import { enableList } from './list-method.ts';
import { type ListenAddress, printAddress } from './listen-address.ts';
import { answerAndHangUp, type BusySocket, hangUp, sendAnswer } from './send-answer.ts';
import { TrustedProxies } from './trusted-proxies.ts';

interface HttpServerOptions {
  /** PEM texts. */
  readonly tls?: TlsCertificate | undefined;
  readonly maxRequestBytes: number;
  /** Answers a request. Never throws. */
  readonly answer: (exchange: Exchange) => Promise<Answer>;
  /** Shared by the listeners of a process; default: a separate one. */
  readonly connections?: ConnectionPlaces;
  /** Default: none. */
  readonly proxies?: TrustedProxies | undefined;
}

export interface TlsCertificate {
  readonly certificate: string;
  readonly key: string;
  readonly clients: ClientCertificatePolicy;
  /** Expiration time of the certificate in Unix seconds, for monitoring. */
  readonly ends?: number;
}

/**
 * Client certificate mode. `asked`: a client may present one, and any is accepted, because it only matters for logins.
 * With `authorities` (PEM), only clients with a certificate of theirs can connect.
 * @see docs/decisions/0183
 */
export type ClientCertificatePolicy = 'asked' | 'not asked' | { readonly authorities: string };

/** Timeouts in milliseconds for a whole request, the same as in Vault, and for its head. */
const REQUEST_TIMEOUT_MS = 90_000;
const HEADERS_TIMEOUT_MS = 20_000;
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
const TIMEOUT_CHECK_MS = 2_000;
const MAX_HEADER_BYTES = 16 * 1024;
/** Interval in milliseconds at which a closing server checks for idle connections. */
const CLOSE_CHECK_MS = 20;

/**
 * Server of one listener.
 * @see docs/decisions/0061
 */
export class HttpServer {
  readonly server: Server;
  /** Scheme, host and port for links; known once it is listening. */
  origin = '';
  readonly #answer: HttpServerOptions['answer'];
  readonly #maxRequestBytes: number;
  readonly #sockets = new Set<BusySocket>();
  readonly #peers = new PeerCertificates();
  readonly #connections: ConnectionPlaces;
  readonly #proxies: TrustedProxies;
  /** Whether clients have an address. Known once it is listening. */
  #isTcp = true;
  #isClosing = false;

  constructor(options: HttpServerOptions) {
    this.#answer = options.answer;
    this.#maxRequestBytes = options.maxRequestBytes;
    this.#proxies = options.proxies ?? new TrustedProxies([]);
    this.#connections = options.connections ?? new ConnectionPlaces();
    this.server = nodeServer(options.tls);
    this.server.once('listening', () => {
      const address = this.server.address();
      // That of a Unix socket is its path, or null if another process made it, such as a service manager.
      this.#isTcp = typeof address === 'object' && address !== null;
    });
    this.server.on('connection', (socket: BusySocket) => this.#connections.met(socket));
    this.server.on(options.tls === undefined ? 'connection' : 'secureConnection', (socket: BusySocket) => {
      this.#sockets.add(socket);
      if (socket instanceof TLSSocket) this.#peers.met(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    this.server.on('request', (request, response) => void this.#respond(request, response, nothing));
    // A client that waits for 100 Continue gets it when the body is about to be read, or else only the error response.
    this.server.on(
      'checkContinue',
      (request, response) => void this.#respond(request, response, () => response.writeContinue()),
    );
    enableList(this.server, hangUp);
  }

  async #respond(request: IncomingMessage, response: ServerResponse, invite: () => void): Promise<void> {
    // The connection was reset. Without an address, its client would count as one of a Unix socket.
    if (this.#isTcp && request.socket.remoteAddress === undefined) return void request.destroy();
    // The response closes exactly once.
    response.on('close', this.#connections.asked(request.socket));
    const body = new IncomingBody(request, this.#maxRequestBytes, invite);
    const clientCertificates = this.#peers.of(request.socket);
    const answer = await this.#answer({
      method: request.method ?? '',
      ...addressed(request),
      body,
      onGone: (listener) => void response.once('close', listener),
      remoteAddress: this.#proxies.clientOf(request.socket.remoteAddress, forwardedFor(request)),
      clientCertificates,
      origin: this.origin,
    });
    if (body.isLeftBehind) answerAndHangUp(response, answer);
    else sendAnswer(response, answer, this.#isClosing);
  }

  /** Stops accepting connections, finishes requests in progress, and closes all connections. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const closed = new Promise((resolve) => this.server.close(resolve));
    const idle = setInterval(() => this.#closeIdle(), CLOSE_CHECK_MS);
    const limit = setTimeout(() => this.server.closeAllConnections(), REQUEST_TIMEOUT_MS);
    this.#closeIdle();
    await closed;
    clearInterval(idle);
    clearTimeout(limit);
  }

  /** Closes idle connections; Node would wait for connections without any request. */
  #closeIdle(): void {
    for (const socket of this.#sockets) {
      if (!socket._httpMessage) socket.destroy();
    }
  }
}

const nothing = (): void => undefined;

/** Scheme and host before the path, as clients write them for a proxy (RFC 9112, 3.2.2). */
const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;

/** Returns path and headers of a request; a host in the target counts instead of the header. */
function addressed({ url = '/', headers }: IncomingMessage): Pick<Exchange, 'target' | 'headers'> {
  const [whole, host] = (url.startsWith('/') ? undefined : ABSOLUTE.exec(url)) ?? [];
  if (whole === undefined) return { target: url, headers };
  const path = url.slice(whole.length);
  return { target: path.startsWith('/') ? path : `/${path}`, headers: { ...headers, host } };
}

/** Returns the header, several of it joined, as Node does with this one. */
const forwardedFor = ({ headers }: IncomingMessage): string | undefined =>
  headers['x-forwarded-for']?.toString();

function nodeServer(tls: TlsCertificate | undefined): Server {
  const options = {
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    noDelay: true,
  };
  if (tls === undefined) return createServer(options);
  const handshakeTimeout = HEADERS_TIMEOUT_MS;
  return createSecureServer({
    ...options,
    handshakeTimeout,
    ...secureContext(tls),
    requestCert: tls.clients !== 'not asked',
    rejectUnauthorized: typeof tls.clients === 'object',
  });
}

/** Returns the TLS settings for new connections. */
const secureContext = ({ certificate, key, clients }: TlsCertificate): SecureContextOptions => ({
  cert: certificate,
  key,
  minVersion: 'TLSv1.2',
  ca: typeof clients === 'object' ? clients.authorities : undefined,
});

/** Like `answer` of `HttpServerOptions`, with the listen address of the request. */
type AnswerThere = (exchange: Exchange, address: ListenAddress) => Promise<Answer>;

interface ListenerOptions {
  readonly tls?: TlsCertificate | undefined;
  readonly answer: AnswerThere;
  /** Default: none. */
  readonly proxies?: TrustedProxies;
}

/** All listeners of one process. */
export class Listeners {
  readonly #servers: HttpServer[] = [];
  readonly #options: ListenerOptions;
  readonly #connections: ConnectionPlaces;
  /** `http://127.0.0.1:8200`, `unix:/run/coffer.sock` and so on, once they are listening. */
  readonly addresses: string[] = [];

  private constructor(options: ListenerOptions) {
    this.#options = options;
    this.#connections = new ConnectionPlaces(undefined, options.proxies);
  }

  /**
   * Opens the listeners.
   * @throws `unavailable` naming the address that cannot be used; none is open then
   */
  static async open(listen: readonly ListenAddress[], options: ListenerOptions): Promise<Listeners> {
    const listeners = new Listeners(options);
    try {
      for (const address of listen) await listeners.#add(address);
    } catch (error) {
      await listeners.close();
      throw error;
    }
    return listeners;
  }

  async #add(address: ListenAddress): Promise<void> {
    const { tls, answer, proxies } = this.#options;
    const secure = tls !== undefined && 'host' in address;
    const http = new HttpServer({
      maxRequestBytes: address.maxRequestBytes,
      answer: (exchange) => answer(exchange, address),
      connections: this.#connections,
      proxies,
      tls: secure ? tls : undefined,
    });
    await listening(http.server, address);
    this.#servers.push(http);
    if ('host' in address) {
      const { port } = http.server.address() as AddressInfo;
      http.origin = printAddress(address.host, port, secure);
      this.addresses.push(http.origin);
    } else {
      http.origin = 'http://localhost';
      if ('socket' in address) this.addresses.push(`unix:${resolve(address.socket)}`);
    }
  }

  /** Uses a new certificate for new connections. */
  renewCertificate(tls: TlsCertificate): void {
    for (const { server } of this.#servers) {
      if (server instanceof SecureServer) server.setSecureContext(secureContext(tls));
    }
  }

  /** Finishes requests in progress, and closes the listeners. */
  async close(): Promise<void> {
    await Promise.all(this.#servers.map((http) => http.close()));
  }
}

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
    if (sent.length > 0) setAmong(this.#intermediates, REMEMBERED, name, sent);
    this.#bySocket.set(socket, [own, ...(this.#intermediates.get(name) ?? [])]);
  }

  /** Returns the certificates, leaf first, base64 of DER; undefined if there are none. */
  of(socket: Socket): readonly string[] | undefined {
    return this.#bySocket.get(socket);
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
