import {
  Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as plainRequest,
  type RequestOptions,
} from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import { getCACertificates } from 'node:tls';
import { elapsedMs } from '../ground/clock.ts';
import { attempt, CofferError, invalid, unavailable } from '../ground/errors.ts';
import { isLoopback } from '../ground/loopback.ts';
import { isObject } from '../ground/objects.ts';
import { pause } from '../ground/pause.ts';
import { keepOwnAuthorities } from '../ground/tls-trust.ts';
import type { Runner } from '../operations/declaration/operation.ts';
import type { RunnerOptions } from '../operations/runner.ts';
import { remoteRunner } from './remote-runner.ts';
import {
  ANSWER_WITHIN_MS,
  type Bearer,
  perhapsDone,
  STRANGER_HINT,
  TOO_MANY_REQUESTS,
  type Transport,
  type WireAnswer,
  type WireRequest,
} from './request.ts';

/** Address of a server. */
type ServerAddress =
  | { readonly kind: 'tcp'; readonly secure: boolean; readonly host: string; readonly port: number }
  | { readonly kind: 'socket'; readonly path: string };

const UNIX = /^unix:(?:\/\/)?(?<path>\/.+)$/;

/**
 * Parses `http://host:port`, `https://host:port` or `unix:/path/to.sock`.
 * @throws `invalid` for anything else
 */
export function parseAddress(text: string): ServerAddress {
  const path = UNIX.exec(text)?.groups?.['path'];
  if (path !== undefined) return { kind: 'socket', path };
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && (url.username !== '' || url.password !== '')) {
    // Error messages end up in logs, so the address is not repeated in them.
    throw invalid('a server address must not contain a user name or password', {
      field: 'address',
      hint: 'use http://HOST:PORT or https://HOST:PORT, and a token',
    });
  }
  const isPlain = url !== undefined && (url.pathname === '/' || url.pathname === '') && url.search === '';
  if (url === undefined || !isPlain || !['http:', 'https:'].includes(url.protocol)) {
    throw invalid(`invalid server address ${JSON.stringify(text)}`, {
      field: 'address',
      hint: 'use http://HOST:PORT, https://HOST:PORT or unix:/PATH',
    });
  }
  const secure = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return { kind: 'tcp', secure, host, port: url.port === '' ? (secure ? 443 : 80) : Number(url.port) };
}

/**
 * Whether traffic can be read by others on the network: without TLS, and not to this machine.
 * @throws as `parseAddress`
 */
export function isExposed(text: string): boolean {
  const address = parseAddress(text);
  return address.kind === 'tcp' && !address.secure && !isLoopback(address.host);
}

interface TransportOptions {
  /** `http://host:port`, `https://host:port` or `unix:/path/to.sock`. */
  readonly address: string;
  /** Timeout for the whole response, in milliseconds. Default: 90 seconds, the same as in Vault servers. */
  readonly timeoutMs?: number;
  /** Maximum size of a response. Default: 256 MiB. */
  readonly maxAnswerBytes?: number;
  /** PEM certificate authorities to trust in addition to the platform's. */
  readonly certificateAuthorities?: string | undefined;
  /** PEM client certificate, with its key. */
  readonly clientCertificate?: { readonly certificate: string; readonly key: string } | undefined;
  /** Environment variables of a proxy: `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`. Loopback addresses do not use it. */
  readonly proxyEnv?: NodeJS.ProcessEnv;
  /** Clock and pauses between attempts; replaced in tests. */
  readonly time?: WaitingTime;
}

interface WaitingTime {
  /** Returns milliseconds since any fixed moment. */
  now(): number;
  pause(milliseconds: number): Promise<void>;
}

const REAL_TIME: WaitingTime = { now: elapsedMs, pause };

/**
 * Default maximum size of a response, in bytes: the largest signatures, for a batch of a thousand items, are about 70
 * MiB.
 */
const DEFAULT_MAX_ANSWER_BYTES = 256 * 1024 * 1024;

/**
 * Idle timeout of a connection in milliseconds: less than that of servers, so that a connection is not used while it is
 * being closed.
 */
const IDLE_MS = 30_000;

/** API that foreign servers limit the rate of. Its commands send many requests, and would stop half done. */
const DOCUMENT_API = '/api/v2/';
const DATA_API = '/v1/';
const MOST_ATTEMPTS = 10;
const MOST_WAIT_MS = 60_000;

/** Returns the wait from the headers, which contain seconds with a fraction, in milliseconds. */
function waitOf(headers: IncomingHttpHeaders): number {
  const seconds = Number(headers['x-ratelimit-reset'] ?? headers['retry-after']);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.ceil(seconds * 1000) : 1000;
}

/** Times in milliseconds. */
interface Spent {
  /** Sum of the pauses. */
  readonly waited: number;
  /** Time since the request was first sent: pauses and responses, which can be slow as well. */
  readonly inAll: number;
}

/** Returns the time to wait before the request is sent again; undefined if it is not, or not so late. */
function pauseBefore({ target }: WireRequest, { waitMs, body }: WireAnswer, { waited, inAll }: Spent) {
  if (waitMs === undefined) return undefined;
  if (target.startsWith(DOCUMENT_API)) return Math.min(MOST_WAIT_MS, waitMs);
  const isRefused = target.startsWith(DATA_API) && !isState(body);
  return isRefused && inAll <= MOST_WAIT_MS && waited + waitMs <= MOST_WAIT_MS ? waitMs : undefined;
}

/** Whether it is no error: a batch with failed items, and the health of a standby of Vault, can have the same status. */
function isState(body: string): boolean {
  const value: unknown = attempt(() => JSON.parse(body));
  return isObject(value) && !Object.hasOwn(value, 'errors');
}

/** Sends requests to one server over persistent connections. */
export class HttpTransport implements Transport {
  readonly #address: string;
  readonly #timeoutMs: number;
  readonly #maxAnswerBytes: number;
  readonly #agent: Agent;
  readonly #send: typeof plainRequest;
  readonly #target: RequestOptions;
  readonly #hasProxy: boolean;
  readonly #time: WaitingTime;

  constructor(options: TransportOptions) {
    const { address, certificateAuthorities, clientCertificate, proxyEnv } = options;
    const parsed = parseAddress(address);
    const secure = parsed.kind === 'tcp' && parsed.secure;
    // Other programs use these variables as well; loopback addresses do not use the proxy.
    const proxy =
      proxyEnv !== undefined && parsed.kind === 'tcp' && !isLoopback(parsed.host) ? { proxyEnv } : {};
    const pool = { keepAlive: true, timeout: IDLE_MS, ...proxy };
    this.#address = address;
    this.#timeoutMs = options.timeoutMs ?? ANSWER_WITHIN_MS;
    this.#maxAnswerBytes = options.maxAnswerBytes ?? DEFAULT_MAX_ANSWER_BYTES;
    this.#agent = secure
      ? new SecureAgent({ ...pool, ...trust(certificateAuthorities), ...shown(clientCertificate) })
      : new Agent(pool);
    this.#time = options.time ?? REAL_TIME;
    this.#send = secure ? secureRequest : plainRequest;
    this.#target = targetOf(parsed);
    const scheme = secure ? 'https' : 'http';
    const variables = [`${scheme}_proxy`, `${scheme.toUpperCase()}_PROXY`];
    this.#hasProxy =
      parsed.kind === 'tcp' &&
      variables.some((name) => proxy.proxyEnv?.[name]) &&
      !isExempt(parsed, proxy.proxyEnv);
  }

  /**
   * Retries requests that were rejected with 429, after the time the server asks for.
   * @throws `unavailable` if there is no response; `unconfirmed` if the request may have been carried out
   */
  async send(request: WireRequest): Promise<WireAnswer> {
    const { now, pause } = this.#time;
    const start = now();
    let waited = 0;
    for (let attempts = 1; ; attempts++) {
      const answer = await this.#sendOnce(request);
      const spent = { waited, inAll: now() - start };
      const wait = attempts < MOST_ATTEMPTS ? pauseBefore(request, answer, spent) : undefined;
      if (wait === undefined) return answer;
      await pause(wait);
      waited += wait;
    }
  }

  async #sendOnce({ method, target, headers, body, changes }: WireRequest): Promise<WireAnswer> {
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
    const onTimeout = () => sent.destroy(this.#failure('timed out'));
    signal.addEventListener('abort', onTimeout);
    sent.once('error', reject);
    // Without a listener, Node closes such a connection silently, and the request would never settle.
    sent.once('upgrade', (answer, socket) => {
      socket.destroy();
      reject(
        unavailable(`the server gave an unexpected response (status ${answer.statusCode})`, STRANGER_HINT),
      );
    });
    sent.end(body);
    try {
      const answer = await promise;
      return {
        status: answer.statusCode ?? 0,
        contentType: answer.headers['content-type'] ?? '',
        body: await this.#bodyOf(answer),
        waitMs: answer.statusCode === TOO_MANY_REQUESTS ? waitOf(answer.headers) : undefined,
      };
    } catch (error) {
      const known = error instanceof CofferError ? error : this.#failure(reasonOf(error), error);
      // The request was sent completely, so it may have been carried out.
      if (!changes || !sent.writableFinished) throw known;
      throw perhapsDone(known);
    } finally {
      signal.removeEventListener('abort', onTimeout);
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Reads the response with a size limit, because anything may be listening at the address. */
  async #bodyOf(answer: IncomingMessage): Promise<string> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > this.#maxAnswerBytes) {
        throw unavailable(
          `the response from ${this.#address} exceeds ${this.#maxAnswerBytes} bytes`,
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
    const code = (cause as NodeJS.ErrnoException | undefined)?.code ?? '';
    const aboutCertificate = REASONS[code] === NOT_TRUSTED ? ADD_AUTHORITY : CERTIFICATE_HINTS[code];
    if (aboutCertificate !== undefined) return aboutCertificate;
    const alert = alertIn(cause);
    if (alert !== undefined) return alert === OLD_VERSION ? ALLOW_NEWER : SHOW_CERTIFICATE;
    if (this.#hasProxy) return 'check the proxy in HTTPS_PROXY or HTTP_PROXY, or add the host to NO_PROXY';
    if (code === 'ENOTFOUND') return 'check the name of the host (--address, COFFER_ADDR, VAULT_ADDR)';
    if (OFFLINE.has(code))
      return 'check the network connection, and the address: --address, COFFER_ADDR or VAULT_ADDR';
    if (code === 'EPROTO') return `use ${this.#address.replace(/^https:/, 'http:')}`;
    return !(this.#agent instanceof SecureAgent) && MIXED_UP.has(code)
      ? `if the server uses TLS, use ${this.#address.replace(/^http:/, 'https:')}`
      : 'check that "coffer serve" is running and that the address is correct: --address, COFFER_ADDR or VAULT_ADDR';
  }
}

/** Whether NO_PROXY lists a server by its name or domain. Ranges of addresses, which Node also reads, are not seen. */
function isExempt({ host, port }: { readonly host: string; readonly port: number }, env?: NodeJS.ProcessEnv) {
  const name = host.toLowerCase();
  return (env?.['no_proxy'] || env?.['NO_PROXY'] || '')
    .toLowerCase()
    .split(',')
    .map((rule) => rule.trim())
    .some((rule) =>
      /^\*?\./.test(rule)
        ? `.${name}`.endsWith(rule.replace('*', ''))
        : ['*', name, `${name}:${port}`].includes(rule),
    );
}

/** Errors of a connection that did not get as far as the server's machine. */
const OFFLINE: ReadonlySet<unknown> = new Set(['EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/** Returns the connection options; a Unix socket has the host name localhost, which links then show. */
const targetOf = (address: ServerAddress): RequestOptions =>
  address.kind === 'socket'
    ? { socketPath: address.path, headers: { host: 'localhost' } }
    : { host: address.host, port: address.port };

function trust(certificateAuthorities: string | undefined) {
  keepOwnAuthorities();
  return {
    rejectUnauthorized: true,
    ca:
      certificateAuthorities === undefined
        ? undefined
        : [...getCACertificates('default'), certificateAuthorities],
  };
}

const shown = (own: TransportOptions['clientCertificate']) =>
  own === undefined ? {} : { cert: own.certificate, key: own.key };

/** Errors of plain HTTP to a TLS port: some servers do not respond, some send an alert, which is not HTTP. */
const MIXED_UP: ReadonlySet<unknown> = new Set(['ECONNRESET', 'HPE_INVALID_CONSTANT']);

const NOT_TRUSTED = "the server's certificate is not trusted";
const ADD_AUTHORITY = 'set COFFER_CACERT to a file with the CA certificate of the server';

/** Hints for certificates that are refused though their authority is trusted. */
const CERTIFICATE_HINTS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'renew that certificate, or correct the clock of this machine',
  CERT_NOT_YET_VALID: 'correct the clock of this machine, or of the one that created the certificate',
  ERR_TLS_CERT_ALTNAME_INVALID: 'in --address or COFFER_ADDR, use a host name that is in the certificate',
};

/** TLS alert of a server that allows only versions that this client does not, in OpenSSL's words. */
const OLD_VERSION = 'protocol version';
const ALLOW_NEWER = 'the server must allow TLS 1.2 or later';
const SHOW_CERTIFICATE =
  'if the server requires a client certificate, set COFFER_CLIENT_CERT and COFFER_CLIENT_KEY to one that it trusts';

/** Returns the TLS alert with which a server refused the connection, in OpenSSL's words. */
function alertIn(error: unknown): string | undefined {
  const { code = '', message = '' } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  return code === 'EPROTO' || code.startsWith('ERR_SSL_') ? ALERT.exec(message)?.[1] : undefined;
}

const ALERT = /:(?:tlsv\d+|ssl\/tls|sslv3) alert ([a-z ]+)(?=:|$)/;

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was cut',
  EPROTO: 'the server does not use TLS',
  HPE_INVALID_CONSTANT: 'the server does not speak HTTP',
  EAI_AGAIN: 'the name server does not answer',
  EHOSTUNREACH: 'host not reachable',
  ENETUNREACH: 'network not reachable',
  ENOTFOUND: 'host not found',
  ENOENT: 'socket not found',
  EACCES: 'permission denied',
  ETIMEDOUT: 'timed out',
  DEPTH_ZERO_SELF_SIGNED_CERT: NOT_TRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: NOT_TRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: NOT_TRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: NOT_TRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: NOT_TRUSTED,
  CERT_HAS_EXPIRED: "the server's certificate, or that of its CA, has expired",
  CERT_NOT_YET_VALID: "the server's certificate is not valid yet",
  ERR_TLS_CERT_ALTNAME_INVALID: "the server's certificate is for another host",
};

function reasonOf(error: unknown): string {
  const { code, message, statusCode } = error as NodeJS.ErrnoException & { readonly statusCode?: number };
  if (code === 'ERR_PROXY_TUNNEL')
    return statusCode === undefined
      ? 'the proxy cut the connection'
      : `the proxy responded with status ${statusCode}`;
  const alert = alertIn(error);
  if (alert !== undefined) return `the server refused the TLS connection: ${alert}`;
  return REASONS[code ?? ''] ?? code ?? message;
}

/**
 * Creates a runner for a server. Nothing is sent before the first operation.
 * @throws `invalid` for an impossible address
 */
export const connect = (options: RunnerOptions & TransportOptions & Partial<Bearer>): Runner => {
  const { token, namespace } = options;
  return remoteRunner(new HttpTransport(options), { token, namespace }, options);
};
