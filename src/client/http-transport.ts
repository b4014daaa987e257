import { Agent, type IncomingMessage, request as plainRequest, type RequestOptions } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import { getCACertificates } from 'node:tls';
import { CofferError, unavailable, unconfirmed } from '../ground/errors.ts';
import { isLoopback } from '../ground/loopback.ts';
import { keepOwnAuthorities } from '../ground/tls-trust.ts';
import { type Address, parseAddress } from './address.ts';

export interface TransportOptions {
  /** `http://host:port`, `https://host:port` or `unix:/path/to.sock`. */
  readonly address: string;
  /** Milliseconds to wait for the whole answer; default 90 seconds, as long as servers of the family take. */
  readonly timeoutMs?: number;
  /** Longer answers are refused; default 256 MiB. */
  readonly maxAnswerBytes?: number;
  /** PEM certificates to trust beside those of the platform. */
  readonly certificateAuthorities?: string;
  /** Variables that name a proxy: `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`. Nothing for this machine goes there. */
  readonly proxyEnv?: NodeJS.ProcessEnv;
}

const DEFAULT_TIMEOUT_MS = 90_000;
/** The largest signatures, for a batch of a thousand items, come to about 70 MiB. */
const DEFAULT_MAX_ANSWER_BYTES = 256 * 1024 * 1024;

export interface WireRequest {
  readonly method: string;
  /** Path and query, encoded. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** What it asks for must not be done twice by whoever gets no answer. */
  readonly changes?: boolean;
}

export interface WireAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** Less than servers keep an idle connection, so that none is used in the moment in which it is closed. */
const IDLE_MS = 30_000;

export const STRANGER_HINT = { hint: 'see what listens at that address' } as const;

/** Sends requests to one server over connections that it keeps. */
export class HttpTransport {
  readonly #address: string;
  readonly #timeoutMs: number;
  readonly #maxAnswerBytes: number;
  readonly #agent: Agent;
  readonly #send: typeof plainRequest;
  readonly #target: RequestOptions;

  constructor(options: TransportOptions) {
    const { address, certificateAuthorities, proxyEnv } = options;
    const parsed = parseAddress(address);
    const secure = parsed.kind === 'tcp' && parsed.secure;
    // What other programs take for their way out; nothing of this machine goes there.
    const proxy =
      proxyEnv !== undefined && parsed.kind === 'tcp' && !isLoopback(parsed.host) ? { proxyEnv } : {};
    const pool = { keepAlive: true, timeout: IDLE_MS, ...proxy };
    this.#address = address;
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    this.#maxAnswerBytes = options.maxAnswerBytes ?? DEFAULT_MAX_ANSWER_BYTES;
    this.#agent = secure ? new SecureAgent({ ...pool, ...trust(certificateAuthorities) }) : new Agent(pool);
    this.#send = secure ? secureRequest : plainRequest;
    this.#target = targetOf(parsed);
  }

  /** @throws `unavailable` when no answer comes; `unconfirmed` when what was asked for may be done all the same. */
  async send({ method, target, headers, body, changes }: WireRequest): Promise<WireAnswer> {
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
      };
    } catch (error) {
      const known = error instanceof CofferError ? error : this.#failure(reasonOf(error), error);
      // All of it was on its way: who knows how far it came.
      if (!changes || !sent.writableFinished) throw known;
      throw unconfirmed(known.message, {
        hint: 'what was asked for may be done: look before you do it again',
        cause: error,
      });
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
    const isPerhapsTls =
      !(this.#agent instanceof SecureAgent) &&
      MIXED_UP.has((cause as NodeJS.ErrnoException | undefined)?.code);
    const hint = isPerhapsTls
      ? 'should TLS be spoken there, the address begins with https://'
      : 'see that "coffer serve" runs there, and that COFFER_ADDR or --address is right';
    return unavailable(`cannot reach ${this.#address}: ${reason}`, { hint, cause });
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
  const { code, message } = error as NodeJS.ErrnoException;
  return REASONS[code ?? ''] ?? code ?? message;
}
