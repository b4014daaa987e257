import { invalid } from '../../ground/errors.ts';
import { isLoopback } from '../../ground/loopback.ts';
import { ownWords } from '../../ground/own-words.ts';
import { Log } from '../../service/log.ts';
import { type Serving as ServingThrough, serveStore } from '../../service/serve.ts';
import type { ServiceSettings } from '../../service/service.ts';
import { makeWay } from '../../service/socket-file.ts';
import type { Location } from '../../store/backends/backend-kind.ts';
import type { Credential } from '../../store/slots/credential.ts';
import type { Dialect } from '../../transit/engine.ts';
import { type HttpSettings, httpDoor } from './http-door.ts';
import { DEFAULT_MAX_REQUEST_BYTES, type ListenAddress, parseListenAddress } from './listen-address.ts';
import { readTlsFiles, type TlsFiles } from './tls-files.ts';

export interface HttpServeOptions {
  /** Location of the store, and credentials to unlock it; without any, the server starts sealed. */
  readonly location: Location;
  readonly credentials: readonly Credential[];
  /**
   * `HOST:PORT`, `[IPV6]:PORT`; port 0 selects a free one. `?max-request-size=BYTES` and
   * `unauthenticated-metrics-access=true` apply to that listener only.
   */
  readonly listen: readonly string[];
  /** Additional Unix socket to listen on, created with mode 0600. */
  readonly socket?: string | undefined;
  /** TLS certificate and key for all TCP listeners. */
  readonly tls?: TlsFiles | undefined;
  /** Whether to allow plain HTTP on a non-loopback address. */
  readonly allowInsecureListen?: boolean | undefined;
  /** Number of processes that answer requests. Default: 1, which is this one. */
  readonly workers?: number | undefined;
  /** Maximum body size in bytes. Default: 32 MiB. */
  readonly maxRequestBytes?: number | undefined;
  readonly dialect?: Dialect | undefined;
  /** File to which one JSON line is written for every request, before it is answered. */
  readonly auditFile?: string | undefined;
  /** Command line, after Node itself, that starts this program as a process that calls `serveAsWorker`. */
  readonly workerCommand: readonly string[];
  /** Receives one line of JSON, without a newline. */
  readonly log: (line: string) => void;
}

/** Running server. */
export interface HttpServing extends Omit<ServingThrough<HttpSettings>, 'renew'> {
  /** Reloads the certificate, and reopens the audit file after it was moved (SIGHUP). */
  reload(): Promise<void>;
}

/**
 * Serves both APIs until `close`.
 * @throws `invalid` for an impossible address, certificate or number; `denied` if a key was given and opens nothing;
 * `unavailable` if an address cannot be used; and as `openStore`
 */
export async function serve(options: HttpServeOptions): Promise<HttpServing> {
  const { tls, workers = 1, socket } = options;
  const door = doorSettings(options);
  const log = new Log(options.log);
  if (socket !== undefined) await makeWay(socket);
  const { addresses, sealed, reload, renew, close } = await serveStore({
    settings: serviceSettings(options),
    credentials: options.credentials,
    kind: await httpDoor(),
    door,
    workers,
    log,
  });
  log.info('listening', { addresses, workers, sealed });
  return {
    addresses,
    sealed,
    async reload() {
      await reload();
      if (tls !== undefined) await renew({ ...door, tls: readTlsFiles(tls) });
      log.info('reloaded');
    },
    async close() {
      await close();
      log.info('closed');
    },
  };
}

const serviceSettings = ({
  location,
  workerCommand,
  dialect,
  auditFile,
}: HttpServeOptions): ServiceSettings => ({
  location,
  workerCommand,
  dialect,
  auditFile,
});

function doorSettings(options: HttpServeOptions): HttpSettings {
  const limit = options.maxRequestBytes ?? DEFAULT_MAX_REQUEST_BYTES;
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw invalid(ownWords('the largest request must be a number of bytes above 0'), {
      field: 'max-request-size',
    });
  }
  const listen: ListenAddress[] = options.listen.map((text) => parseListenAddress(text, limit));
  if (options.socket !== undefined) listen.push({ socket: options.socket, maxRequestBytes: limit });
  const tls = options.tls === undefined ? undefined : readTlsFiles(options.tls);
  if (tls === undefined && options.allowInsecureListen !== true) refuseExposed(listen);
  return { listen, tls };
}

/**
 * Refuses plain HTTP on the network.
 * @throws `invalid`: tokens and plaintexts could be read by anyone on the network
 */
function refuseExposed(listen: readonly ListenAddress[]): void {
  for (const address of listen) {
    if ('host' in address && !isLoopback(address.host)) {
      throw invalid(`refusing to listen on ${address.host} without TLS`, {
        field: 'listen',
        hint: 'use --tls-cert and --tls-key, or --allow-insecure-listen if the network is protected otherwise',
      });
    }
  }
}
