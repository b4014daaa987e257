import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { AuditLog } from '../../access/audit-log.ts';
import { asCofferError, CofferError, invalid, ownWords, placed, unavailable } from '../../ground/errors.ts';
import { isLoopback } from '../../ground/loopback.ts';
import { CERTIFICATE_HINT, pemBlocks } from '../../ground/pem.ts';
import { readPrivateFile } from '../../ground/private-files.ts';
import { checkedPair, firstCertificate } from '../../ground/tls-pair.ts';
import { listening } from '../../service/listening.ts';
import { Log } from '../../service/log.ts';
import { type Serving as ServingThrough, serveStore } from '../../service/serve.ts';
import type { ServiceSettings } from '../../service/service.ts';
import { makeWay } from '../../service/socket-file.ts';
import { diskReason } from '../../store/backends/files/disk-errors.ts';
import type { Credential } from '../../store/slots/unlock.ts';
import { type HttpSettings, httpDoor } from './http-door.ts';
import type { ClientCertificatePolicy, TlsCertificate } from './http-server.ts';
import { DEFAULT_MAX_REQUEST_BYTES, type ListenAddress, parseListenAddress } from './listen-address.ts';
import { parseTrustedProxies } from './trusted-proxies.ts';

export interface HttpServeOptions extends ServiceSettings {
  /** Credentials to unlock the store; without any, the server starts sealed. */
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
  /** Proxies whose `X-Forwarded-For` is believed, as in {@link parseTrustedProxies}. */
  readonly trustedProxies?: readonly string[] | undefined;
  /** Number of processes that answer requests. Default: 1, which is this one. */
  readonly workers?: number | undefined;
  /** Maximum body size in bytes. Default: 32 MiB. */
  readonly maxRequestBytes?: number | undefined;
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
  const { tls, workers = 1, socket, location, workerCommand, dialect, auditFile } = options;
  const door = doorSettings(options);
  const log = new Log(options.log);
  if (socket !== undefined) await makeWay(socket);
  const { addresses, sealed, reload, renew, close } = await serveStore({
    settings: { location, workerCommand, dialect, auditFile },
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
      try {
        await reload();
        if (tls !== undefined) await renew({ ...door, tls: readTlsFiles(tls) });
      } catch (error) {
        const known = asCofferError(error);
        const message = `cannot reload${tls === undefined ? '' : ': the old certificate stays in use'}`;
        if (known === undefined) log.defect(message, error);
        else log.alarm(message, { reason: known.message, remedy: known.hint });
        throw error;
      }
      log.info('reloaded');
    },
    async close() {
      await close();
      log.info('closed');
    },
  };
}

/**
 * Checks addresses, certificate and audit file, before a person is asked for the secret of the store.
 * @throws as {@link serve}
 */
export async function requireServable(options: HttpServeOptions): Promise<void> {
  for (const place of doorSettings(options).listen) {
    if (!('host' in place)) continue;
    const trial = createServer();
    await listening(trial, place);
    await new Promise((resolve) => trial.close(resolve));
  }
  if (options.auditFile !== undefined) await (await AuditLog.open(options.auditFile)).close();
}

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
  return { listen, tls, trustedProxies: parseTrustedProxies(options.trustedProxies ?? []) };
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

/** PEM files of a server's certificate. */
interface TlsFiles {
  /** Server certificate first, then its intermediates. */
  readonly certificateFile: string;
  readonly keyFile: string;
  /** Authorities of required client certificates. */
  readonly clientAuthoritiesFile?: string | undefined;
  /** Whether client certificates are not requested. */
  readonly asksNoClient?: boolean | undefined;
}

/**
 * Reads a certificate and its key, and checks that they work.
 * @throws `unavailable` for an unreadable file, or a key that other users can read or write; `invalid` for a malformed
 * certificate or key, or if they do not match
 */
function readTlsFiles({ certificateFile, keyFile, ...clients }: TlsFiles): TlsCertificate {
  const certificate = readPem(certificateFile, 'tls');
  const key = readPem(keyFile, 'tls-key', readPrivateFile);
  const first = checkedPair(
    { file: certificateFile, pem: certificate, field: 'tls' },
    { file: keyFile, pem: key, field: 'tls-key' },
  );
  return { certificate, key, clients: readClients(clients), ends: first.validToDate.getTime() / 1000 };
}

function readClients({
  clientAuthoritiesFile: file,
  asksNoClient,
}: Pick<TlsFiles, 'clientAuthoritiesFile' | 'asksNoClient'>): ClientCertificatePolicy {
  if (file === undefined) return asksNoClient ? 'not asked' : 'asked';
  const authorities = readPem(file, 'tls-client-ca');
  const { blocks } = pemBlocks(authorities);
  if (blocks.length === 0)
    throw invalid(placed`no certificate in ${{ file }}`, { field: 'tls-client-ca', hint: CERTIFICATE_HINT });
  for (const { bytes } of blocks) firstCertificate({ file, pem: bytes, field: 'tls-client-ca' });
  return { authorities };
}

function readPem(path: string, field: string, read = readPublicFile): string {
  try {
    return read(path, field);
  } catch (error) {
    if (error instanceof CofferError) throw error;
    throw unavailable(placed`cannot read ${{ file: path }}: ${diskReason(error)}`, { field, cause: error });
  }
}

const readPublicFile = (path: string, _field: string): string => readFileSync(path, 'utf8');
