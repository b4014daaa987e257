import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import fastify, { type FastifyError, type FastifyReply, type FastifyRequest } from 'fastify';
import { answerClientErrors, type BusySocket } from './client-errors.ts';
import type { Answer, Exchange } from './exchange.ts';
import { errorDocument } from './json-api/documents.ts';
import { DOCUMENT_PREFIX } from './json-api/json-api.ts';
import { sendAnswer } from './send-answer.ts';
import { errorBody } from './vault/envelope.ts';

export interface HttpServerOptions {
  /** PEM texts. */
  readonly tls?: TlsCertificate;
  readonly maxRequestBytes: number;
  readonly answer: (exchange: Exchange) => Promise<Answer>;
  /** Whether the body of a request, large or of unknown length, is to be taken in; `answer` gets none otherwise. */
  readonly takesLargeBody: (exchange: Exchange) => Promise<boolean>;
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
/** A body from here on is large. */
export const LARGE_BODY_BYTES = 64 * 1024;
/** Nothing under these paths has a use for more than so many bytes. */
const SYSTEM_URLS = ['/v1/sys/*', '/v1/auth/*'];
export const MAX_SYSTEM_BODY_BYTES = 1024 * 1024;
/** How often a closing server looks for connections that have become idle. */
const CLOSE_CHECK_MS = 20;

/** The server of one listener: Fastify takes in the requests, the APIs answer them. */
export class HttpServer {
  readonly server: Server;
  /** Scheme, host and port for links; known once it listens. */
  origin = '';
  readonly #answer: HttpServerOptions['answer'];
  readonly #takesLargeBody: HttpServerOptions['takesLargeBody'];
  readonly #sockets = new Set<BusySocket>();
  #isClosing = false;

  private constructor(options: HttpServerOptions) {
    this.#answer = options.answer;
    this.#takesLargeBody = options.takesLargeBody;
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
          if (bringsLargeBody(request)) void this.#admit(request, response, handler);
          else handler(request, response);
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
    const all = { method: METHODS, handler };
    app.route({ ...all, url: '/*' });
    const systemLimit = Math.min(bodyLimit, MAX_SYSTEM_BODY_BYTES);
    for (const url of SYSTEM_URLS) app.route({ ...all, url, bodyLimit: systemLimit });
    app.setNotFoundHandler(handler);
    await app.ready();
    answerClientErrors(this.server);
  }

  async #respond({ raw, method, body }: FastifyRequest, reply: FastifyReply): Promise<void> {
    const answer = await this.#answer(
      this.#exchangeOf(raw, method, body instanceof Buffer ? body : undefined),
    );
    // The framework would add a charset to media types that have none.
    reply.hijack();
    sendAnswer(reply.raw, answer, this.#isClosing);
  }

  /** Else strangers could fill the memory: what is refused anyway is answered at once, and its body read by nobody. */
  async #admit(request: IncomingMessage, response: ServerResponse, handler: RequestListener): Promise<void> {
    const exchange = this.#exchangeOf(request, request.method ?? '', undefined);
    if (await this.#takesLargeBody(exchange)) handler(request, response);
    else sendAnswer(response, await this.#answer(exchange), this.#isClosing);
  }

  #exchangeOf(raw: IncomingMessage, method: string, body: Buffer | undefined): Exchange {
    return {
      method: methods.get(raw) ?? method,
      target: raw.url ?? '/',
      headers: raw.headers,
      contentType: contentTypes.get(raw),
      body,
      remoteAddress: raw.socket.remoteAddress ?? '',
      origin: this.origin,
    };
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

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

const bringsLargeBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) >= LARGE_BODY_BYTES;

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
