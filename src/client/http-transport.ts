import {
  Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as plainRequest,
  type RequestOptions,
} from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import { getCACertificates } from 'node:tls';
import { CofferError, unavailable } from '../ground/errors.ts';
import { isLoopback } from '../ground/loopback.ts';
import { pause } from '../ground/pause.ts';
import { keepOwnAuthorities } from '../ground/tls-trust.ts';
import { type Address, parseAddress } from './address.ts';
import {
  ANSWER_WITHIN_MS,
  perhapsDone,
  STRANGER_HINT,
  type Transport,
  type WireAnswer,
  type WireRequest,
} from './transport.ts';

export interface TransportOptions {
  /** `http://host:port`, `https://host:port` or `unix:/path/to.sock`. */
  readonly address: string;
  /** Milliseconds to wait for the whole answer; default 90 seconds, as long as servers of the family take. */
  readonly timeoutMs?: number;
  /** Longer answers are refused; default 256 MiB. */
  readonly maxAnswerBytes?: number;
  /** PEM certificates to trust beside those of the platform. */
  readonly certificateAuthorities?: string;
  /** PEM of what we show a server that asks who we are, with the key for it. */
  readonly clientCertificate?: { readonly certificate: string; readonly key: string };
  /** Variables that name a proxy: `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`. Nothing for this machine goes there. */
  readonly proxyEnv?: NodeJS.ProcessEnv;
}

/** The largest signatures, for a batch of a thousand items, come to about 70 MiB. */
const DEFAULT_MAX_ANSWER_BYTES = 256 * 1024 * 1024;

/** Less than servers keep an idle connection, so that none is used in the moment in which it is closed. */
const IDLE_MS = 30_000;

const TOO_MANY = 429;
/** Where servers that are not ours bound how often they are asked. */
const LIMITED = '/api/v2/';
const MOST_ATTEMPTS = 10;
const MOST_WAIT_MS = 60_000;

interface LimitedAnswer extends WireAnswer {
  /** The server wants to be asked again, so much later. */
  readonly waitMs?: number;
}

/** Seconds, with a fraction, until more may be asked. */
function waitOf(headers: IncomingHttpHeaders): number {
  const seconds = Number(headers['x-ratelimit-reset'] ?? headers['retry-after']);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(MOST_WAIT_MS, Math.ceil(seconds * 1000)) : 1000;
}

/** Sends requests to one server over connections that it keeps. */
export class HttpTransport implements Transport {
  readonly #address: string;
  readonly #timeoutMs: number;
  readonly #maxAnswerBytes: number;
  readonly #agent: Agent;
  readonly #send: typeof plainRequest;
  readonly #target: RequestOptions;
  readonly #hasProxy: boolean;

  constructor(options: TransportOptions) {
    const { address, certificateAuthorities, clientCertificate, proxyEnv } = options;
    const parsed = parseAddress(address);
    const secure = parsed.kind === 'tcp' && parsed.secure;
    // What other programs take for their way out; nothing of this machine goes there.
    const proxy =
      proxyEnv !== undefined && parsed.kind === 'tcp' && !isLoopback(parsed.host) ? { proxyEnv } : {};
    const pool = { keepAlive: true, timeout: IDLE_MS, ...proxy };
    this.#address = address;
    this.#timeoutMs = options.timeoutMs ?? ANSWER_WITHIN_MS;
    this.#maxAnswerBytes = options.maxAnswerBytes ?? DEFAULT_MAX_ANSWER_BYTES;
    this.#agent = secure
      ? new SecureAgent({ ...pool, ...trust(certificateAuthorities), ...shown(clientCertificate) })
      : new Agent(pool);
    this.#send = secure ? secureRequest : plainRequest;
    this.#target = targetOf(parsed);
    const scheme = secure ? 'https' : 'http';
    this.#hasProxy = [`${scheme}_proxy`, `${scheme.toUpperCase()}_PROXY`].some(
      (name) => proxy.proxyEnv?.[name],
    );
  }

  /**
   * Who is asked too often answers 429, and has done nothing: it is asked again when it says so.
   * @throws `unavailable` when no answer comes; `unconfirmed` when what was asked for may be done all the same.
   */
  async send(request: WireRequest): Promise<WireAnswer> {
    for (let attempt = 1; ; attempt++) {
      const { waitMs, ...answer } = await this.#sendOnce(request);
      if (waitMs === undefined || attempt === MOST_ATTEMPTS || !request.target.startsWith(LIMITED))
        return answer;
      await pause(waitMs);
    }
  }

  async #sendOnce({ method, target, headers, body, changes }: WireRequest): Promise<LimitedAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const sent = this.#send(
      {
        ...this.#target,
        agent: this.#agent,
        method,
        path: target,
        headers: body === undefined ? headers : { ...headers, 'content-length': Buffer.byteLength(body) },
      },
      resolve,
    );
    const signal = AbortSignal.timeout(this.#timeoutMs);
    const onTimeout = () => sent.destroy(this.#failure('no answer in time'));
    signal.addEventListener('abort', onTimeout);
    sent.once('error', reject);
    // Without a listener Node closes such a connection without a word, and nothing would ever come of the request.
    sent.once('upgrade', (answer, socket) => {
      socket.destroy();
      reject(unavailable(`the answer is not one of Coffer's (status ${answer.statusCode})`, STRANGER_HINT));
    });
    sent.end(body);
    try {
      const answer = await promise;
      return {
        status: answer.statusCode ?? 0,
        contentType: answer.headers['content-type'] ?? '',
        body: await this.#bodyOf(answer),
        ...(answer.statusCode === TOO_MANY ? { waitMs: waitOf(answer.headers) } : {}),
      };
    } catch (error) {
      const known = error instanceof CofferError ? error : this.#failure(reasonOf(error), error);
      // All of it was on its way: who knows how far it came.
      if (!changes || !sent.writableFinished) throw known;
      throw perhapsDone(known);
    } finally {
      signal.removeEventListener('abort', onTimeout);
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  /** What listens at the address may be anything, so it gets no more memory than an honest answer needs. */
  async #bodyOf(answer: IncomingMessage): Promise<string> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > this.#maxAnswerBytes) {
        throw unavailable(
          `the answer of ${this.#address} is longer than ${this.#maxAnswerBytes} bytes`,
          STRANGER_HINT,
        );
      }
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  }

  #failure(reason: string, cause?: unknown): CofferError {
    return unavailable(`cannot reach ${this.#address}: ${reason}`, { hint: this.#hint(cause), cause });
  }

  #hint(cause: unknown): string {
    if (this.#hasProxy)
      return 'HTTPS_PROXY or HTTP_PROXY names a proxy: see that it is right, or name the host in NO_PROXY';
    const isPerhapsTls =
      !(this.#agent instanceof SecureAgent) &&
      MIXED_UP.has((cause as NodeJS.ErrnoException | undefined)?.code);
    return isPerhapsTls
      ? 'should TLS be spoken there, the address begins with https://'
      : 'see that "coffer serve" runs there, and that COFFER_ADDR or --address is right';
  }
}

/** A host without a name of its own is called localhost, as links then show it. */
const targetOf = (address: Address): RequestOptions =>
  address.kind === 'socket'
    ? { socketPath: address.path, headers: { host: 'localhost' } }
    : { host: address.host, port: address.port };

function trust(certificateAuthorities: string | undefined) {
  keepOwnAuthorities();
  return {
    rejectUnauthorized: true,
    ...(certificateAuthorities === undefined
      ? {}
      : { ca: [...getCACertificates('default'), certificateAuthorities] }),
  };
}

const shown = (own: TransportOptions['clientCertificate']) =>
  own === undefined ? {} : { cert: own.certificate, key: own.key };

/** What becomes of `http:` where only TLS is spoken: some answer nothing, some an alert, which is no HTTP. */
const MIXED_UP: ReadonlySet<unknown> = new Set(['ECONNRESET', 'HPE_INVALID_CONSTANT']);

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there',
  ECONNRESET: 'the connection was cut',
  EPROTO: 'what listens there does not speak TLS; its address begins with http://',
  HPE_INVALID_CONSTANT: 'what listens there does not speak HTTP',
  ENOTFOUND: 'no such host',
  ENOENT: 'no such socket',
  EACCES: 'permission denied',
  ETIMEDOUT: 'no answer in time',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not trusted; name its authority in COFFER_CACERT',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not trusted; name its authority in COFFER_CACERT',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not trusted; name its authority in COFFER_CACERT',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
};

function reasonOf(error: unknown): string {
  const { code, message, statusCode } = error as NodeJS.ErrnoException & { readonly statusCode?: number };
  if (code === 'ERR_PROXY_TUNNEL')
    return statusCode === undefined ? 'the proxy cut the connection' : `the proxy answers ${statusCode}`;
  return REASONS[code ?? ''] ?? code ?? message;
}
