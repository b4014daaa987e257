import { type HttpServeOptions, type HttpServing, requireServable, serve } from '../../doors/http/serve.ts';
import { invalid } from '../../ground/errors.ts';
import { trimSlashes } from '../../ground/trim.ts';
import { socketPath } from '../../service/socket-file.ts';
import type { Backend } from '../../store/backends/backend.ts';
import { uselessSecrets, withBackendAt } from '../../store/backends/registry.ts';
import { readHeader } from '../../store/header.ts';
import { type OptionSpec, type OwnCommand, switching, taking, takingFile } from '../command.ts';
import { type Given, numberOption, textOption, textsOption, variable } from '../given.ts';
import { compareWithLastSeen } from '../last-seen.ts';
import { dialectOf, dialectOption } from '../parse/dialect-option.ts';
import { AUDIT_LOG, auditOption } from '../parse/everywhere.ts';
import { serviceManager } from '../processes/service-manager.ts';
import { programAfterNode } from '../program.ts';
import { forgetVariables } from '../secrets/own-environment.ts';
import { secretVariables } from '../secrets/secret-variables.ts';
import { credentialsFor } from '../secrets/unlock.ts';
import type { Session } from '../session.ts';
import { isInBackground } from '../terminal/prompt.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { SERVE_WORKER } from './serve-worker.ts';

const SEALED = 'sealed';
const DEFAULT_LISTEN = '127.0.0.1:8200';

const options: readonly OptionSpec[] = [
  taking('listen', 'HOST:PORT', 'Address to listen on (port 0: any free port). Can be repeated.', {
    takes: 'values',
    fallback: `${DEFAULT_LISTEN}, unless --socket is given`,
  }),
  taking('socket', 'PATH', 'Unix socket to listen on, in addition to any --listen.', { offers: 'file' }),
  takingFile('tls-cert', 'TLS certificate chain of the server, PEM.'),
  takingFile('tls-key', 'Private key of the TLS certificate of the server, PEM.'),
  takingFile('tls-client-ca', 'Require each client to have a certificate of one of the CAs in FILE, PEM.'),
  switching('tls-no-client-certs', 'Do not request client certificates (disables the "cert" login method).', {
    excludes: ['tls-client-ca'],
  }),
  taking(
    'trusted-proxy',
    'ADDRESS',
    'Take the address of clients from X-Forwarded-For in requests of this proxy: an address, a CIDR block, or "unix" ' +
      'for --socket. Can be repeated.',
    { takes: 'values' },
  ),
  switching('allow-insecure-listen', 'Allow HTTP without TLS on addresses that other machines can reach.'),
  taking('workers', 'N', 'Number of processes that handle requests.', { fallback: '1' }),
  taking('max-request-size', 'BYTES', 'Refuse requests larger than this.', { fallback: '32 MiB' }),
  dialectOption,
  switching(SEALED, 'Start locked (sealed), even if a secret is available, and wait for "coffer unseal".'),
  auditOption,
];

export const command: OwnCommand = {
  options,
  details:
    'Prints each address it listens on. Append "?max-request-size=BYTES" to an address to set another limit for it, or ' +
    '"?unauthenticated-metrics-access=true" to serve /v1/sys/metrics at this address without a token, even while ' +
    'sealed. SIGINT and SIGTERM finish requests in flight and exit; SIGHUP reloads the certificate and reopens ' +
    'the audit log; SIGUSR1 is ignored. Supports systemd readiness and watchdog notifications (Type=notify, ' +
    'NotifyAccess=all). If no secret is available and the server cannot prompt, it starts sealed and waits for ' +
    '"coffer unseal".',
  examples: [
    ['coffer serve', `Listen on ${DEFAULT_LISTEN}`],
    ['coffer serve --socket /run/coffer.sock', 'Listen only on a Unix socket'],
    [
      'coffer serve --listen 0.0.0.0:8200 --tls-cert cert.pem --tls-key key.pem --workers 2',
      'Listen on the network with TLS',
    ],
  ],
  labelOf: (field) => LABELS[field],
  async run(session, { options: given }) {
    refuseAddress(session);
    session.refuseRemote();
    await lookBack(session);
    const needed = variablesSet(session);
    const serving = await start(session, given);
    for (const address of serving.addresses) session.streams.out.write(`${address}\n`);
    const [address = ''] = serving.addresses;
    const server = shellWord(address);
    if (serving.sealed)
      session.warn(
        `the server starts sealed${whySealed(session, given)}; run "coffer unseal --address ${server}"`,
      );
    else session.remark(greeting(session, address, needed));
    const manager = serviceManager(session.environment, (text) => session.warn(text));
    manager?.ready();
    await untilToldToStop(serving, () => manager?.stopping());
  },
};

/** @throws `invalid` for the option of commands that use a server */
function refuseAddress({ settings: { address }, addressVariable }: Session): void {
  if (address === undefined || addressVariable !== undefined) return;
  throw invalid('--address is the server that commands use', {
    hint: `to listen on it, use --listen ${shellWord(trimSlashes(address.replace(/^https?:/, '')))}`,
  });
}

/** Variables with which this shell finds and unlocks the store. They are forgotten when the server starts. */
const variablesSet = ({ environment }: Session): readonly string[] =>
  ['COFFER_STORE', ...secretVariables].filter((name) => variable(environment, name) !== undefined);

/**
 * Says on a terminal what to do with the server now.
 * @param needed variables without which another shell could not create the token
 */
function greeting(session: Session, address: string, needed: readonly string[]): string {
  const before = needed.length === 0 ? '' : `, with ${needed.join(' and ')} set as here`;
  const create = ['coffer token create', ...session.placeOptions()].join(' ');
  return `Serving ${address}, until Ctrl-C. In another terminal${before}: export COFFER_ADDR=${address} COFFER_TOKEN=$(${create})`;
}

const whySealed = ({ prompts, streams }: Session, given: Given['options']): string =>
  given.has(SEALED) || prompts.available() || !streams.err.isTerminal || !isInBackground()
    ? ''
    : ': it cannot prompt in the background';

/** Checks the store against the state that earlier commands have seen: a server that starts has seen none itself. */
async function lookBack(session: Session): Promise<void> {
  const look = async (backend: Backend): Promise<void> => {
    const { id } = await readHeader(backend);
    await backend.state();
    await compareWithLastSeen(session, { id, backend });
  };
  // Errors are reported when the store is opened.
  await withBackendAt(session.settings.storeLocation, look).catch(() => undefined);
}

/** Starts the server. Separate, so that no secret stays in a variable of the command while the server runs. */
async function start(session: Session, given: Given['options']): Promise<HttpServing> {
  const options = serveOptions(session, given);
  if (options.credentials.length > 0 && session.prompts.available()) await requireServable(options);
  forgetVariables(process.env, [...secretVariables, ...uselessSecrets(options.location)]);
  return serve(options);
}

/** Fields of the server's errors, as flags. */
const LABELS: Readonly<Record<string, string>> = {
  listen: '--listen',
  socket: '--socket',
  workers: '--workers',
  tls: '--tls-cert',
  'tls-key': '--tls-key',
  'tls-client-ca': '--tls-client-ca',
  'trusted-proxy': '--trusted-proxy',
  audit: '--audit-log',
};

function serveOptions(session: Session, given: Given['options']): HttpServeOptions {
  const socket = textOption(given, 'socket');
  const listen = textsOption(given, 'listen');
  return {
    location: session.settings.storeLocation,
    credentials: given.has(SEALED) ? [] : credentialsFor(session),
    listen: listen.length === 0 && socket === undefined ? [DEFAULT_LISTEN] : listen,
    socket: socket === undefined ? undefined : socketPath(socket),
    workers: wholeNumber(given, 'workers'),
    maxRequestBytes: wholeNumber(given, 'max-request-size'),
    dialect: dialectOf(given),
    auditFile: textOption(given, AUDIT_LOG),
    tls: tlsFiles(given),
    trustedProxies: textsOption(given, 'trusted-proxy'),
    allowInsecureListen: given.has('allow-insecure-listen'),
    workerCommand: [...programAfterNode(), SERVE_WORKER],
    log: (line) => session.streams.err.write(`${line}\n`),
  };
}

function tlsFiles(given: Given['options']): HttpServeOptions['tls'] {
  const certificateFile = textOption(given, 'tls-cert');
  const keyFile = textOption(given, 'tls-key');
  const clientAuthoritiesFile = textOption(given, 'tls-client-ca');
  const asksNoClient = given.has('tls-no-client-certs');
  if (certificateFile === undefined && keyFile === undefined) {
    if (clientAuthoritiesFile === undefined && !asksNoClient) return undefined;
    const needing = asksNoClient ? '--tls-no-client-certs' : '--tls-client-ca';
    throw invalid(`${needing} needs --tls-cert and --tls-key`, {
      hint: `without TLS, leave out ${needing}`,
    });
  }
  if (certificateFile === undefined || keyFile === undefined) {
    throw invalid('--tls-cert and --tls-key must be used together', { hint: 'use both' });
  }
  return { certificateFile, keyFile, clientAuthoritiesFile, asksNoClient };
}

const wholeNumber = (given: Given['options'], flag: string): number | undefined =>
  numberOption(given, flag, /^[1-9]\d{0,14}$/, 'use an integer of at least 1');

/**
 * Waits until the server is told to stop. The first signal shuts it down gracefully; a second one ends the process at
 * once, as by default.
 */
function untilToldToStop(serving: HttpServing, stopping: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    // The log has the error already.
    const reload = (): void => void serving.reload().catch(() => undefined);
    const stop = (): void => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop);
      process.off('SIGHUP', reload);
      stopping();
      serving.close().then(resolve, reject);
    };
    process.once('SIGINT', stop);
    process.once('SIGTERM', stop);
    process.on('SIGHUP', reload);
  });
}
