import { invalid } from '../../ground/errors.ts';
import type { Details } from '../../operations/declaration/table.ts';
import { type OwnCommand, switching, takingFile } from '../command.ts';
import { DONE, exitCodeOf, FAILED } from '../exit-codes.ts';
import { readFileWhole } from '../files/in-file.ts';
import { inputText, readStandardInput } from '../files/input.ts';
import { printResult } from '../files/output.ts';
import { textOption } from '../given.ts';
import { requireServer } from '../other-server.ts';
import { IN } from '../parse/operation-spec.ts';
import type { Session } from '../session.ts';

/* Commands for a running server; a local store has no seal status. */

const NOT_HERE = 'no server given: only a server can be sealed or unsealed';

interface SealState {
  readonly sealed: boolean;
  readonly progress?: number;
  readonly t?: number;
}

export const seal: OwnCommand = {
  details:
    'The server drops its key from memory and refuses requests (status 503) until it is unsealed. Requires a ' +
    'token with the capabilities update and sudo on sys/seal, such as a root token.',
  examples: [
    [
      'coffer seal --address https://coffer.example.com:8200',
      'Lock the store of a server until "coffer unseal"',
    ],
  ],
  async run(session) {
    requireServer(session, NOT_HERE);
    session.requireConsent();
    const question = async () =>
      `Seal ${session.settings.address}? It refuses all requests until it is unsealed.`;
    if (!(await session.confirmed(question))) return FAILED;
    const runner = await session.runner();
    await runner.run('sys seal', {});
    if (session.settings.format === 'json') await printResult(session, { sealed: true }, {});
    session.say(`Sealed ${session.settings.address}.`);
    return DONE;
  },
};

const RESET = 'reset';
const MAX_SECRET_BYTES = 1 << 20;

export const unseal: OwnCommand = {
  options: [
    takingFile(IN, 'Read the secret from FILE.', { fallback: 'prompt on a terminal, else standard input' }),
    switching(RESET, 'Discard the recovery shares provided so far.', { excludes: [IN] }),
  ],
  details:
    'The secret is a master key, a passphrase, the contents of a text key file, or one recovery share; run the ' +
    'command once per share. The secret is read from the terminal, a file or standard input, never from an ' +
    'argument, which other users can see.',
  examples: [
    ['coffer unseal --address https://coffer.example.com:8200', 'Unseal; prompts for the secret'],
    [
      'coffer unseal --address unix:/run/coffer/coffer.sock --in share.txt',
      'Provide one recovery share from a file',
    ],
  ],
  async run(session, { options }) {
    requireServer(session, NOT_HERE);
    const asked = options.has(RESET)
      ? { reset: true }
      : { key: await secretOf(session, textOption(options, IN)) };
    const runner = await session.runner();
    const { data } = await runner.run('sys unseal', asked);
    const state = data as SealState;
    if (session.settings.format === 'json') await printResult(session, state, {});
    session.say(sayingOf(state, options.has(RESET)));
  },
};

async function secretOf(session: Session, file: string | undefined): Promise<string> {
  if (file !== undefined && file !== '-') return inputText(readFileWhole(file, IN, MAX_SECRET_BYTES), IN);
  if (!session.streams.in.isTerminal) {
    const secret = inputText(readStandardInput(session), 'the secret');
    if (secret.trim() !== '') return secret;
    throw invalid('no secret on standard input', {
      hint: 'pass a master key, passphrase or recovery share on standard input or with --in',
    });
  }
  if (session.prompts.available()) return session.prompts.secret('Key, passphrase or recovery share');
  throw invalid('cannot prompt for the secret', { hint: 'pass it on standard input or with --in' });
}

function sayingOf({ sealed, progress = 0, t = 0 }: SealState, isReset: boolean): string {
  if (!sealed) return 'The server is unsealed.';
  if (isReset)
    return 'The recovery shares that had been provided were discarded; they can be provided again.';
  return `Received ${progress} of ${t} recovery shares.`;
}

/** Status codes requested from a sealed server, so that its answer can be read. */
const READABLE = { sealedcode: 200, standbycode: 200, performancestandbycode: 200 };

/** How a terminal shows the health of a server: without what only clusters of Vault have. */
const HEALTH: Details = {
  labels: { server_time_utc: 'Server time' },
  unset: {
    standby: false,
    performance_standby: false,
    replication_performance_mode: 'disabled',
    replication_dr_mode: 'disabled',
  },
};

export const health: OwnCommand = {
  details:
    'Needs no token. Exits with 0 if the server is healthy, 4 if it is sealed, and 1 if it cannot be reached or cannot access its store. ' +
    'Does not see whether the audit log can be written, without which all other requests fail.',
  examples: [['coffer health --address http://127.0.0.1:8200 --quiet', 'Use in a monitoring check']],
  async run(session) {
    requireServer(session, 'no server given: for a local store, run "coffer doctor"');
    const runner = await session.runner();
    const { data } = await runner.run('sys health', READABLE);
    await printResult(session, data, { details: HEALTH });
    return (data as SealState).sealed ? exitCodeOf.sealed : DONE;
  },
};
