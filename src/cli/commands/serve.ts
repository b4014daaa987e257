import { type ServeOptions, type Serving, serve } from '../../doors/http/serve.ts';
import { invalid } from '../../ground/errors.ts';
import type { Backend } from '../../store/backends/backend.ts';
import { uselessSecrets, withBackendAt } from '../../store/backends/registry.ts';
import { readHeader } from '../../store/header.ts';
import type { Command, OptionSpec } from '../command.ts';
import { DONE } from '../exit-codes.ts';
import { type Given, numberOption, textOption, textsOption } from '../given.ts';
import { compareWithLastSeen } from '../last-seen.ts';
import { AUDIT_LOG, auditOption } from '../parse/audit-option.ts';
import { dialectOf, dialectOption } from '../parse/dialect-option.ts';
import { switching, taking, takingFile } from '../parse/everywhere.ts';
import { serviceManager } from '../processes/service-manager.ts';
import { programAfterNode } from '../program.ts';
import { forgetVariables } from '../secrets/own-environment.ts';
import { secretVariables } from '../secrets/secret-variables.ts';
import { credentialsFor } from '../secrets/unlock.ts';
import type { Session } from '../session.ts';
import { isInBackground } from '../terminal/prompt.ts';
import { SERVE_WORKER } from './serve-worker.ts';

const SEALED = 'sealed';
const DEFAULT_LISTEN = '127.0.0.1:8200';

const options: readonly OptionSpec[] = [
  {
    flag: 'listen',
    takes: 'values',
    metavar: 'HOST:PORT',
    help: 'Address to listen on; port 0 takes a free one.',
    fallback: `${DEFAULT_LISTEN}, without --socket`,
  },
  taking('socket', 'PATH', 'Unix socket to listen on.', { offers: 'file' }),
  takingFile('tls-cert', 'Certificate chain, PEM.'),
  takingFile('tls-key', 'Private key of the certificate, PEM.'),
  takingFile('tls-client-ca', 'Take nobody without a certificate that one of these authorities signed, PEM.'),
  {
    ...switching(
      'tls-no-client-certs',
      'Ask nobody for a certificate: the login method "cert" is of no use then.',
    ),
    excludes: ['tls-client-ca'],
  },
  switching('allow-insecure-listen', 'Allow plain HTTP on an address that others on the network reach.'),
  taking('workers', 'N', 'Processes that answer requests.', { fallback: '1' }),
  taking('max-request-size', 'BYTES', 'Largest request.', { fallback: '32 MiB' }),
  dialectOption,
  switching(SEALED, 'Start sealed, whatever secret is at hand, and ask for none.'),
  auditOption,
];

export const command: Command = {
  arguments: [],
  options,
  details:
    'Prints each address it listens on. An address followed by "?max-request-size=BYTES" has a limit of its own; one followed by ' +
    '"?unauthenticated-metrics-access=true" gives /v1/sys/metrics to whoever reaches it, sealed or not. ' +
    'SIGINT and SIGTERM finish what is in flight and end it; SIGHUP takes up a new certificate and a fresh audit file; ' +
    'SIGUSR1 does nothing. A service manager that asks for it is told when it listens and that it lives (Type=notify with NotifyAccess=all). Without a secret at hand, in the background too, where nobody can be asked, it starts sealed, until "coffer unseal".',
  examples: [
    ['coffer serve', `On ${DEFAULT_LISTEN}, for programs on this machine`],
    ['coffer serve --socket /run/coffer.sock', 'On a Unix socket alone'],
    [
      'coffer serve --listen 0.0.0.0:8200 --tls-cert cert.pem --tls-key key.pem --workers 2',
      'For the network',
    ],
  ],
  labelOf: (field) => LABELS[field],
  async run(session, { options: given }) {
    session.refuseRemote();
    await lookBack(session);
    const serving = await start(session, given);
    for (const address of serving.addresses) session.streams.out.write(`${address}\n`);
    if (serving.sealed)
      session.warn(
        `the store is sealed until somebody unseals it with "coffer unseal"${whySealed(session, given)}`,
      );
    const manager = serviceManager(session.environment, (text) => session.warn(text));
    manager?.ready();
    await untilToldToStop(session, serving, () => manager?.stopping());
    return DONE;
  },
};

const whySealed = ({ prompts, streams }: Session, given: Given['options']): string =>
  given.has(SEALED) || prompts.available() || !streams.err.isTerminal || !isInBackground()
    ? ''
    : ": in the background it can't ask for a secret";

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
async function start(session: Session, given: Given['options']): Promise<Serving> {
  const options = serveOptions(session, given);
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
  audit: '--audit-log',
};

function serveOptions(session: Session, given: Given['options']): ServeOptions {
  const socket = textOption(given, 'socket');
  const listen = textsOption(given, 'listen');
  return {
    location: session.settings.storeLocation,
    credentials: given.has(SEALED) ? [] : credentialsFor(session),
    listen: listen.length === 0 && socket === undefined ? [DEFAULT_LISTEN] : listen,
    socket,
    workers: wholeNumber(given, 'workers'),
    maxRequestBytes: wholeNumber(given, 'max-request-size'),
    dialect: dialectOf(given),
    auditFile: textOption(given, AUDIT_LOG),
    tls: tlsFiles(given),
    allowInsecureListen: given.has('allow-insecure-listen'),
    workerCommand: [...programAfterNode(), SERVE_WORKER],
    log: (line) => session.streams.err.write(`${line}\n`),
  };
}

function tlsFiles(given: Given['options']): ServeOptions['tls'] {
  const certificateFile = textOption(given, 'tls-cert');
  const keyFile = textOption(given, 'tls-key');
  const clientAuthoritiesFile = textOption(given, 'tls-client-ca');
  const asksNoClient = given.has('tls-no-client-certs');
  if (certificateFile === undefined && keyFile === undefined) {
    if (clientAuthoritiesFile === undefined && !asksNoClient) return undefined;
    throw invalid('there are certificates of clients only where there is one of the server', {
      hint: 'give --tls-cert and --tls-key',
    });
  }
  if (certificateFile === undefined || keyFile === undefined) {
    throw invalid('--tls-cert and --tls-key go together', { hint: 'give both' });
  }
  return { certificateFile, keyFile, clientAuthoritiesFile, asksNoClient };
}

const wholeNumber = (given: Given['options'], flag: string): number | undefined =>
  numberOption(given, flag, /^[1-9]\d{0,14}$/, 'give a whole number from 1');

/**
 * Waits until the server is told to stop. The first signal shuts it down gracefully; a second one ends the process at
 * once, as by default.
 */
function untilToldToStop(session: Session, serving: Serving, stopping: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const reload = (): void => void serving.reload().catch((error: Error) => session.fail(error.message));
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
