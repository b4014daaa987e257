import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import fastify, { type FastifyError, type FastifyReply, type FastifyRequest } from 'fastify';
import { answerClientErrors, type BusySocket } from './client-errors.ts';
import { errorBody } from './data-envelope.ts';
import { DOCUMENT_PREFIX } from './document-api.ts';
import type { Answer, Exchange } from './exchange.ts';
import { errorDocument } from './json-api.ts';
import { sendAnswer } from './send-answer.ts';

export interface HttpServerOptions {
  /** PEM texts. */
  readonly tls?: TlsCertificate;
  readonly maxRequestBytes: number;
  readonly answer: (exchange: Exchange) => Promise<Answer>;
}

export interface TlsCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** Time for a whole request, as long as peers give it, and for its head. */
const REQUEST_TIMEOUT_MS = 90_000;
const HEADERS_TIMEOUT_MS = 20_000;
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
const TIMEOUT_CHECK_MS = 2_000;
const MAX_HEADER_BYTES = 16 * 1024;
/** How often a closing server looks for connections that have become idle. */
const CLOSE_CHECK_MS = 20;

/** The server of one listener: Fastify takes in the requests, the APIs answer them. */
export class HttpServer {
  readonly server: Server;
  /** Scheme, host and port for links; known once it listens. */
  origin = '';
  readonly #answer: (exchange: Exchange) => Promise<Answer>;
  readonly #sockets = new Set<BusySocket>();
  #isClosing = false;

  private constructor(options: HttpServerOptions) {
    this.#answer = options.answer;
    this.server = nodeServer(options.tls);
    this.server.on(options.tls === undefined ? 'connection' : 'secureConnection', (socket: BusySocket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  static async create(options: HttpServerOptions): Promise<HttpServer> {
    const made = new HttpServer(options);
    await made.#attach(options.maxRequestBytes);
    return made;
  }

  async #attach(bodyLimit: number): Promise<void> {
    const app = fastify({
      serverFactory: (handler: RequestListener) =>
        this.server.on('request', (request, response) => {
          hideFromFramework(request);
          handler(request, response);
        }),
      bodyLimit,
      logger: false,
      exposeHeadRoutes: false,
      frameworkErrors: sendFrameworkError,
      routerOptions: { maxParamLength: MAX_HEADER_BYTES },
    });
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    app.setErrorHandler<FastifyError>(sendFrameworkError);
    const handler = (request: FastifyRequest, reply: FastifyReply) => this.#respond(request, reply);
    app.route({ method: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'], url: '/*', handler });
    app.setNotFoundHandler(handler);
    await app.ready();
    answerClientErrors(this.server);
  }

  async #respond(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { raw } = request;
    const answer = await this.#answer({
      method: methods.get(raw) ?? request.method,
      target: raw.url ?? '/',
      headers: raw.headers,
      contentType: contentTypes.get(raw),
      body: request.body instanceof Buffer ? request.body : undefined,
      remoteAddress: raw.socket.remoteAddress ?? '',
      origin: this.origin,
    });
    // The framework would add a charset to media types that have none.
    reply.hijack();
    sendAnswer(reply.raw, answer, this.#isClosing);
  }

  /** Stops taking connections, finishes the requests that have begun, and closes the connections. */
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

  /** Node itself would wait for connections on which nothing was ever asked. */
  #closeIdle(): void {
    for (const socket of this.#sockets) {
      if (!socket._httpMessage) socket.destroy();
    }
  }
}

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
    cert: tls.certificate,
    key: tls.key,
    minVersion: 'TLSv1.2',
  });
}

const methods = new WeakMap<IncomingMessage, string>();
const contentTypes = new WeakMap<IncomingMessage, string>();

/** The framework knows no method LIST, and refuses content types that the API takes. */
function hideFromFramework(request: IncomingMessage): void {
  if (request.method === 'LIST') {
    methods.set(request, 'LIST');
    request.method = 'GET';
  }
  const contentType = request.headers['content-type'];
  if (contentType === undefined) return;
  contentTypes.set(request, contentType);
  request.headers['content-type'] = undefined;
}

const FRAMEWORK_TEXTS: Readonly<Record<string, string>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'http: request body too large',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'the body is not as long as Content-Length says',
  FST_ERR_BAD_URL: 'the path is not percent-encoded UTF-8',
};

/** What the framework refuses before any API is asked. */
function sendFrameworkError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const status = error.statusCode ?? 500;
  const text = FRAMEWORK_TEXTS[error.code] ?? 'internal error';
  const isDocument = request.raw.url?.startsWith(DOCUMENT_PREFIX) === true;
  const answer = isDocument ? errorDocument(status, { detail: text }) : errorBody(status, [text]);
  // The connection stays open while the rest of a body that is too large is read and dropped: closing it now would
  // lose the answer on its way.
  reply.hijack();
  sendAnswer(reply.raw, answer, false);
}
