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

export interface ServeOptions {
  /** The store, and what may unlock it; when nothing is offered, the server starts sealed. */
  readonly location: Location;
  readonly credentials: readonly Credential[];
  /** `HOST:PORT`, `[IPV6]:PORT`; port 0 takes a free one. `?max-request-size=BYTES` and `unauthenticated-metrics-access=true` are that listener's own. */
  readonly listen: readonly string[];
  /** A Unix socket to listen on as well, made with mode 0600. */
  readonly socket?: string | undefined;
  /** All TCP listeners then speak TLS. */
  readonly tls?: TlsFiles | undefined;
  /** Allows plain HTTP on an address that others on the network reach. */
  readonly allowInsecureListen?: boolean | undefined;
  /** How many processes answer; default 1, which is this one. */
  readonly workers?: number | undefined;
  /** Largest body in bytes; default 32 MiB. */
  readonly maxRequestBytes?: number | undefined;
  readonly dialect?: Dialect | undefined;
  /** A file that gets one JSON line for every request, before it is answered. */
  readonly auditFile?: string | undefined;
  /** What this program is started with again, after Node itself, to become a process that calls `serveAsWorker`. */
  readonly workerCommand: readonly string[];
  /** Takes one line of JSON, without a newline. */
  readonly log: (line: string) => void;
}

/** A running server. */
export interface Serving extends Omit<ServingThrough<HttpSettings>, 'renew'> {
  /** Takes up a new certificate, and goes on in a new audit file when the old one was moved away (SIGHUP). */
  reload(): Promise<void>;
}

/**
 * Serves both APIs until `close`.
 * @throws `invalid` for an address, a certificate or a number that can't be; `denied` when a key was given and opens
 * nothing; `unavailable` when an address can't be had; and as `openStore` does.
 */
export async function serve(options: ServeOptions): Promise<Serving> {
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

const serviceSettings = ({ location, workerCommand, dialect, auditFile }: ServeOptions): ServiceSettings => ({
  location,
  workerCommand,
  ...(dialect === undefined ? {} : { dialect }),
  ...(auditFile === undefined ? {} : { auditFile }),
});

function doorSettings(options: ServeOptions): HttpSettings {
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
  return { listen, ...(tls === undefined ? {} : { tls }) };
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
