import type { Core, ServerState } from '../../operations/declaration/operation.ts';
import type { ServedRoute } from '../../operations/routes.ts';
import type { Member } from '../../service/control.ts';
import type { Log } from '../../service/log.ts';
import { Metrics, type Snapshot } from '../../service/metrics.ts';
import type { UnsealKey } from '../../service/unseal-keys.ts';
import type { Store } from '../../store/store.ts';
import { ApiHost, type StoreSettings } from './api-host.ts';
import { apiOf } from './apis.ts';
import { BatchLane } from './batch-lane.ts';
import type { Answer, Exchange } from './exchange.ts';
import { LARGE_BODY_BYTES, MAX_SYSTEM_BODY_BYTES, type TlsCertificate } from './http-server.ts';
import { errorDocument } from './json-api/documents.ts';
import type { ListenAddress } from './listen-address.ts';
import { Listeners } from './listeners.ts';
import { errorBody } from './vault/envelope.ts';
import { isAnswer, readDataRequest, tokenOf } from './vault/request.ts';
import { DATA_PREFIX } from './vault/vault-api.ts';

/** What a process that answers requests needs to know; plain JSON. */
export interface AnsweringSettings extends StoreSettings {
  readonly listen: readonly ListenAddress[];
  readonly tls?: TlsCertificate;
  /** What follows Node itself on the command line of a process that calls `serveAsWorker`. */
  readonly workerCommand: readonly string[];
}

export interface AnsweringOptions {
  readonly settings: AnsweringSettings;
  readonly routes: readonly ServedRoute[];
  readonly server: ServerState;
  readonly log: Log;
}

const SYSTEM_PATH = /^(?:sys|auth)\//;
/** Expired tokens are cleared away so often. */
const SWEEP_EVERY_MS = 10 * 60 * 1000;
/** Keys whose period has passed are looked for so often, as the shortest period is an hour. */
const ROTATE_EVERY_MS = 60 * 60 * 1000;

/** The part of a server that listens and answers. There is one in each process that does. */
export class AnsweringProcess implements Member {
  readonly #settings: AnsweringSettings;
  readonly #host: ApiHost;
  readonly #metrics: Metrics;
  readonly #log: Log;
  readonly #sweeping: NodeJS.Timeout;
  readonly #rotating: NodeJS.Timeout;
  #listeners: Listeners | undefined;
  #lane: BatchLane | undefined;

  private constructor({ settings, log }: AnsweringOptions, host: ApiHost, metrics: Metrics) {
    this.#settings = settings;
    this.#host = host;
    this.#metrics = metrics;
    this.#log = log;
    this.#sweeping = setInterval(() => void this.#sweep(), SWEEP_EVERY_MS).unref();
    this.#rotating = setInterval(() => void this.#rotateDueKeys(), ROTATE_EVERY_MS).unref();
  }

  /** Sealed, and not listening yet. */
  static async create(options: AnsweringOptions): Promise<AnsweringProcess> {
    const metrics = new Metrics();
    const host = await ApiHost.create({ ...options, onDefect: () => metrics.defect() });
    return new AnsweringProcess(options, host, metrics);
  }

  /** @returns the addresses, with the ports that were chosen. */
  async listen(): Promise<readonly string[]> {
    const { listen, tls } = this.#settings;
    this.#listeners = await Listeners.open(listen, tls, {
      answer: (exchange) => this.#answer(exchange),
      takesLargeBody: (exchange) => this.#takesLargeBody(exchange),
    });
    return this.#listeners.addresses;
  }

  async unseal(keys: readonly UnsealKey[]): Promise<void> {
    await this.#host.unseal(keys);
    this.#openLane(keys);
  }

  /** As `unseal`, with a store that is open already. */
  async adopt(store: Store, keys: readonly UnsealKey[]): Promise<void> {
    await this.#host.adopt(store);
    this.#openLane(keys);
  }

  async seal(): Promise<void> {
    this.#host.seal();
    await this.#lane?.seal();
    this.#lane = undefined;
  }

  async reload(): Promise<void> {
    await this.#host.reload();
    await this.#lane?.close();
  }

  renewCertificate(tls: TlsCertificate): void {
    this.#listeners?.renewCertificate(tls);
  }

  async snapshot(): Promise<Snapshot> {
    return this.#metrics.snapshot();
  }

  /** Finishes the requests that have begun. */
  async close(): Promise<void> {
    clearInterval(this.#sweeping);
    clearInterval(this.#rotating);
    await this.#listeners?.close();
    await this.#lane?.close();
    await this.#host.close();
  }

  #openLane(keys: readonly UnsealKey[]): void {
    void this.#lane?.close();
    const { directory, dialect, auditFile, workerCommand } = this.#settings;
    const store: StoreSettings = {
      directory,
      ...(dialect === undefined ? {} : { dialect }),
      ...(auditFile === undefined ? {} : { auditFile }),
    };
    this.#lane = new BatchLane(workerCommand, store, keys);
  }

  async #answer(exchange: Exchange): Promise<Answer> {
    const start = performance.now();
    this.#metrics.begin();
    const { body } = exchange;
    const answer =
      body === undefined || (body.length < LARGE_BODY_BYTES && !this.#host.unfolds(exchange))
        ? await this.#host.answer(exchange)
        : await this.#answerLarge(exchange, body.length);
    this.#metrics.end(apiOf(exchange), exchange.method, answer.status, (performance.now() - start) / 1000);
    return answer;
  }

  /** Of those without a good token only what may be unsealing, which is never large (its limit is in `HttpServer`). */
  async #takesLargeBody(exchange: Exchange): Promise<boolean> {
    return isAboutSystem(exchange) || this.#hasGoodToken(exchange);
  }

  /** A store that can't be read has its error told when the request is answered. */
  async #hasGoodToken(exchange: Exchange): Promise<boolean> {
    const token = tokenOf(exchange);
    if (token === undefined) return false;
    const identity = await this.#host.served?.access.identify({ token }).catch(() => undefined);
    return identity !== undefined;
  }

  /** A large body is worked on by another process; so is one that may unfold to as much. */
  async #answerLarge(exchange: Exchange, bytes: number): Promise<Answer> {
    if (isAboutSystem(exchange)) {
      if (bytes > MAX_SYSTEM_BODY_BYTES) return errorBody(413, ['http: request body too large']);
      return this.#host.answer(exchange);
    }
    const isWelcome = await this.#hasGoodToken(exchange);
    const lane = this.#lane;
    if (lane === undefined || !isWelcome) return this.#host.answer({ ...exchange, body: undefined });
    try {
      return await lane.answer(exchange);
    } catch (error) {
      const text = this.#host.failed(error)?.message ?? 'internal error';
      return exchange.target.startsWith(DATA_PREFIX)
        ? errorBody(503, [text])
        : errorDocument(503, { detail: text });
    }
  }

  async #sweep(): Promise<void> {
    try {
      await this.#host.served?.access.sweep();
    } catch (error) {
      this.#log.defect('clearing away expired tokens failed', error);
    }
  }

  /** Keys rotate when they are used; this is for those that nobody uses. Each process looks, and one of them rotates. */
  async #rotateDueKeys(): Promise<void> {
    const core = this.#host.served?.core;
    if (core === undefined) return;
    try {
      for (const { path } of await core.mounts.list('transit')) await this.#rotateDueKeysOf(core, path);
    } catch (error) {
      this.#log.defect('looking for keys that are due failed', error);
    }
  }

  async #rotateDueKeysOf(core: Core, mount: string): Promise<void> {
    try {
      const rotated = await (await core.transit(mount)).rotateDueKeys();
      if (rotated.length > 0) this.#log.info('keys rotated', { mount, count: rotated.length });
    } catch (error) {
      this.#log.defect('rotating keys that are due failed', error);
    }
  }
}

/** However the path is encoded: what is about the server itself is answered by the server. */
function isAboutSystem(exchange: Exchange): boolean {
  if (!exchange.target.startsWith(DATA_PREFIX)) return false;
  const request = readDataRequest(exchange, DATA_PREFIX);
  return !isAnswer(request) && SYSTEM_PATH.test(request.path);
}
