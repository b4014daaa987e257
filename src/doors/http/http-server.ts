import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type SecureContextOptions, TLSSocket } from 'node:tls';
import { type BusySocket, hangUp } from './client-errors.ts';
import { ConnectionPlaces } from './connection-places.ts';
import type { Answer, Exchange } from './exchange.ts';
import { IncomingBody } from './incoming-body.ts';
import { enableList } from './list-method.ts';
import { PeerCertificates } from './peer-certificates.ts';
import { answerAndHangUp, sendAnswer } from './send-answer.ts';

export interface HttpServerOptions {
  /** PEM texts. */
  readonly tls?: TlsCertificate | undefined;
  readonly maxRequestBytes: number;
  /** Answers a request. Never throws. */
  readonly answer: (exchange: Exchange) => Promise<Answer>;
  /** Shared by the listeners of a process; default: a separate one. */
  readonly connections?: ConnectionPlaces;
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
  #isClosing = false;

  constructor(options: HttpServerOptions) {
    this.#answer = options.answer;
    this.#maxRequestBytes = options.maxRequestBytes;
    this.#connections = options.connections ?? new ConnectionPlaces();
    this.server = nodeServer(options.tls);
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
    // The response closes exactly once.
    response.on('close', this.#connections.asked(request.socket));
    const body = new IncomingBody(request, this.#maxRequestBytes, invite);
    const clientCertificates = this.#peers.of(request.socket);
    const answer = await this.#answer({
      method: request.method ?? '',
      target: request.url ?? '/',
      headers: request.headers,
      body,
      onGone: (listener) => void response.once('close', listener),
      remoteAddress: request.socket.remoteAddress ?? '',
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
export const secureContext = ({ certificate, key, clients }: TlsCertificate): SecureContextOptions => ({
  cert: certificate,
  key,
  minVersion: 'TLSv1.2',
  ca: typeof clients === 'object' ? clients.authorities : undefined,
});
