import { asCofferError, invalid } from '../../ground/errors.ts';
import { isLoopback } from '../../ground/loopback.ts';
import { catalogue } from '../../operations/catalogue.ts';
import { loadRoutes, type ServedRoute } from '../../operations/routes.ts';
import { Control } from '../../service/control.ts';
import { Log } from '../../service/log.ts';
import { remembering, type UnsealKey } from '../../service/unseal-keys.ts';
import { openStore } from '../../store/open.ts';
import type { Credential } from '../../store/slots/credential.ts';
import type { Store } from '../../store/store.ts';
import type { Dialect } from '../../transit/engine.ts';
import { AnsweringProcess, type AnsweringSettings } from './answering-process.ts';
import type { TlsCertificate } from './http-server.ts';
import { DEFAULT_MAX_REQUEST_BYTES, type ListenAddress, parseListenAddress } from './listen-address.ts';
import { describeApi } from './openapi.ts';
import { makeWay } from './socket-file.ts';
import { readTlsFiles, type TlsFiles } from './tls-files.ts';

export interface ServeOptions {
  /** The store (a directory or `postgres://…`), and what may unlock it; when nothing is offered, the server starts sealed. */
  readonly directory: string;
  readonly credentials: readonly Credential[];
  /** `HOST:PORT`, `[IPV6]:PORT`; port 0 takes a free one. `?max-request-size=BYTES` sets that listener's own limit. */
  readonly listen: readonly string[];
  /** A Unix socket to listen on as well, made with mode 0600. */
  readonly socket?: string;
  /** All TCP listeners then speak TLS. */
  readonly tls?: TlsFiles;
  /** Allows plain HTTP on an address that others on the network reach. */
  readonly allowInsecureListen?: boolean;
  /** How many processes answer; default 1, which is this one. */
  readonly workers?: number;
  /** Largest body in bytes; default 32 MiB. */
  readonly maxRequestBytes?: number;
  readonly dialect?: Dialect;
  /** A file that gets one JSON line for every request, before it is answered. */
  readonly auditFile?: string;
  /** What this program is started with again, after Node itself, to become a process that calls `serveAsWorker`. */
  readonly workerCommand: readonly string[];
  /** Takes one line of JSON, without a newline. */
  readonly log: (line: string) => void;
}

/** A running server. */
export interface Serving {
  /** Where it listens: `http://127.0.0.1:8200`, `unix:/run/coffer.sock`. */
  readonly addresses: readonly string[];
  readonly sealed: boolean;
  /** Takes up a new certificate, and goes on in a new audit file when the old one was moved away (SIGHUP). */
  reload(): Promise<void>;
  /** Stops taking requests, finishes those in flight, and resolves when all is closed. */
  close(): Promise<void>;
}

const MAX_WORKERS = 256;

/**
 * Serves both APIs until `close`.
 * @throws `invalid` for an address, a certificate or a number that can't be; `denied` when a key was given and opens
 * nothing; `unavailable` when an address can't be had; and as `openStore` does.
 */
export async function serve(options: ServeOptions): Promise<Serving> {
  const settings = settingsOf(options);
  const workers = options.workers ?? 1;
  if (!Number.isSafeInteger(workers) || workers < 1 || workers > MAX_WORKERS) {
    throw invalid(`the number of workers must be 1 to ${MAX_WORKERS}`, { field: 'workers' });
  }
  const log = new Log(options.log);
  const routes = await loadRoutes(catalogue);
  const control = new Control(
    options.directory,
    log,
    lazily(() => describeApi(routes)),
  );
  const { keys, store } = await openOrStaySealed(options);
  // What runs on below keeps this part of the options only: the others may hold secrets.
  const { tls } = options;
  if (options.socket !== undefined) await makeWay(options.socket);
  const running =
    workers === 1
      ? await runHere({ settings, routes, control, log }, store, keys)
      : await runWorkers(settings, workers, control, log, store, keys);
  log.info('listening', { addresses: running.addresses, workers, sealed: store === undefined });
  return {
    addresses: running.addresses,
    sealed: store === undefined,
    async reload() {
      await control.reload();
      if (tls !== undefined) await running.renewCertificate(readTlsFiles(tls));
      log.info('reloaded');
    },
    async close() {
      await running.close();
      log.info('closed');
    },
  };
}

interface Running {
  readonly addresses: readonly string[];
  renewCertificate(tls: TlsCertificate): Promise<void> | void;
  close(): Promise<void>;
}

interface Here {
  readonly settings: AnsweringSettings;
  readonly routes: readonly ServedRoute[];
  readonly control: Control;
  readonly log: Log;
}

async function runHere(
  { control, ...options }: Here,
  store: Store | undefined,
  keys: readonly UnsealKey[],
): Promise<Running> {
  const member = await control.add(async () => {
    const made = await AnsweringProcess.create({ ...options, server: control });
    if (store !== undefined) await made.adopt(store, keys);
    return made;
  });
  if (store !== undefined) control.unsealedWith(keys);
  try {
    const addresses = await member.listen();
    return {
      addresses,
      renewCertificate: (tls) => member.renewCertificate(tls),
      close: () => member.close(),
    };
  } catch (error) {
    await member.close();
    throw error;
  }
}

async function runWorkers(
  settings: AnsweringSettings,
  count: number,
  control: Control,
  log: Log,
  store: Store | undefined,
  keys: readonly UnsealKey[],
): Promise<Running> {
  // It was opened to see whether the keys are right; each worker opens it for itself.
  store?.close();
  if (store !== undefined) control.unsealedWith(keys);
  const { WorkerPool } = await import('./worker-pool.ts');
  const pool = new WorkerPool(settings, control, log);
  try {
    await pool.start(count);
  } catch (error) {
    await pool.close();
    throw error;
  }
  return pool;
}

async function openOrStaySealed({
  directory,
  credentials,
}: ServeOptions): Promise<{ readonly keys: readonly UnsealKey[]; readonly store: Store | undefined }> {
  const keys: UnsealKey[] = [];
  try {
    const store = await openStore({
      directory,
      credentials: remembering(credentials, (key) => keys.push(key)),
    });
    return { keys, store };
  } catch (error) {
    if (asCofferError(error)?.kind !== 'sealed') throw error;
    return { keys: [], store: undefined };
  }
}

function settingsOf(options: ServeOptions): AnsweringSettings {
  const limit = options.maxRequestBytes ?? DEFAULT_MAX_REQUEST_BYTES;
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw invalid('the largest request must be a number of bytes above 0', { field: 'max-request-size' });
  }
  const listen: ListenAddress[] = options.listen.map((text) => parseListenAddress(text, limit));
  if (options.socket !== undefined) listen.push({ socket: options.socket, maxRequestBytes: limit });
  const tls = options.tls === undefined ? undefined : readTlsFiles(options.tls);
  if (tls === undefined && options.allowInsecureListen !== true) refuseExposed(listen);
  return {
    directory: options.directory,
    listen,
    workerCommand: options.workerCommand,
    ...(tls === undefined ? {} : { tls }),
    ...(options.dialect === undefined ? {} : { dialect: options.dialect }),
    ...(options.auditFile === undefined ? {} : { auditFile: options.auditFile }),
  };
}

/** @throws `invalid`: tokens and plaintexts would cross the network for all to read. */
function refuseExposed(listen: readonly ListenAddress[]): void {
  for (const address of listen) {
    if ('host' in address && !isLoopback(address.host)) {
      throw invalid(`refusing to listen on ${address.host} without TLS`, {
        field: 'listen',
        hint: 'give --tls-cert and --tls-key, or --allow-insecure-listen when something else protects the network',
      });
    }
  }
}

function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
