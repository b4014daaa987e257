import { resolve } from 'node:path';
import { usualUses } from '../../doors/agent/agent-door.ts';
import { openDoorServer } from '../../doors/agent/door-server.ts';
import { kms } from '../../doors/agent/kms/kms.ts';
import { loggedBy, remoteDesk } from '../../doors/agent/remote-desk.ts';
import { asCofferError, invalid } from '../../ground/errors.ts';
import type { Runner } from '../../operations/declaration/operation.ts';
import { Log } from '../../service/log.ts';
import { makeWay, socketPath } from '../../service/socket-file.ts';
import { uselessSecrets } from '../../store/backends/registry.ts';
import { checkKey } from '../agent/offers.ts';
import { type OwnCommand, taking } from '../command.ts';
import { textOption } from '../given.ts';
import { forgetVariables } from '../secrets/own-environment.ts';
import { FAMILY_TOKEN, secretVariables } from '../secrets/secret-variables.ts';
import type { Session } from '../session.ts';

const SOCKET = 'socket';
const KEY = 'key';

/** Kinds of errors that occur again until the command line or configuration is changed. */
const LASTING: ReadonlySet<string> = new Set(['invalid', 'unsupported', 'not-found']);

/** KMS plugin that the Kubernetes API server calls to encrypt its secrets. */
export const command: OwnCommand = {
  options: [
    taking(SOCKET, 'PATH', 'Unix socket to listen on for the Kubernetes API server.', { offers: 'file' }),
    taking(KEY, 'NAME', 'Key of the store or server to encrypt Kubernetes secrets with.', { offers: 'key' }),
  ],
  details:
    'Lets the Kubernetes API server encrypt secrets with a key of the store, or of a server (--address). The key ' +
    'ID changes with the key version: after "coffer transit keys rotate" the API server uses the new version ' +
    'within a minute. While the store is locked or the server is sealed, the plugin reports itself unhealthy; ' +
    'afterwards, it recovers on its own. Exits on SIGINT, SIGTERM or SIGHUP.',
  examples: [
    [
      'coffer kms --socket /run/coffer/kms.sock --key cluster',
      'Use a key of the local store, which COFFER_PASSPHRASE_FILE or another variable unlocks',
    ],
    [
      'coffer kms --socket /run/coffer/kms.sock --key cluster --address unix:/run/coffer.sock',
      'Use a key of a Coffer server on this machine',
    ],
  ],
  async run(session, { options }) {
    const socket = socketPath(required(textOption(options, SOCKET), SOCKET));
    const key = required(textOption(options, KEY), KEY);
    const { mount } = session.settings;
    const log = new Log((line) => session.streams.err.write(`${line}\n`));
    const runner = await lastingRunner(session);
    forgetVariables(process.env, [
      ...secretVariables,
      FAMILY_TOKEN,
      ...uselessSecrets(session.settings.storeLocation),
    ]);
    try {
      await checkKey(runner, [kms], key);
    } catch (error) {
      const known = asCofferError(error);
      if (known === undefined || LASTING.has(known.kind)) throw error;
      log.warn('the key cannot be used yet', { reason: known.message });
    }
    const offer = { mount, key, uses: usualUses(kms), confirm: false };
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    await makeWay(socket);
    const desk = remoteDesk(kms, [offer], runner, { ask: undefined, ...loggedBy(log) });
    const close = await openDoorServer(kms, desk, { socket });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end());
    session.streams.out.write(`unix://${resolve(socket)}\n`);
    await ended;
    close();
    if (session.settings.address !== undefined) runner.close();
  },
};

async function lastingRunner(session: Session): Promise<Runner> {
  const { address } = session.settings;
  if (address === undefined) return session.runner();
  const { openLasting } = await import('../runner-lasting.ts');
  return openLasting(session, address);
}

function required(value: string | undefined, flag: string): string {
  if (value !== undefined) return value;
  throw invalid(`missing required option --${flag}`, {
    hint: 'e.g. "coffer kms --socket /run/coffer/kms.sock --key NAME"',
  });
}
