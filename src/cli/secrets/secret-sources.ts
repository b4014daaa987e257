import { isAscii } from 'node:buffer';
import { wipe } from '../../ground/bytes.ts';
import { unavailable } from '../../ground/errors.ts';
import { refuseExposed } from '../../ground/private-files.ts';
import { parseMasterKey, tryParseMasterKey } from '../../store/master-key.ts';
import type { Credential } from '../../store/slots/credential.ts';
import type { SlotRequest } from '../../store/slots/slot-kind.ts';
import { withoutLineBreak } from '../../store/slots/slot-secret.ts';
import { readFileWhole } from '../files/in-file.ts';
import { inputText } from '../files/input.ts';
import { type Environment, variable } from '../given.ts';
import { type UNLOCK_VARIABLES, withoutOwnSecrets } from './secret-variables.ts';

/** Where secrets come from: variables of the environment, files, and commands. */

const MAX_SECRET_BYTES = 1 << 20;

/** A variable that may unlock a store. */
interface UnlockSource {
  readonly variable: (typeof UNLOCK_VARIABLES)[number];
  /** What it holds, as `coffer help environment` says it. */
  readonly meaning: string;
  /** What its value may be in a store that there is. @param source the variable, for messages. */
  credentials(value: string, source: string, environment: Environment): readonly Credential[];
  /** The slot that its value opens in a new store; recovery shares are made with theirs. */
  slot?(value: string, source: string, environment: Environment): SlotRequest;
}

/** In the order in which a new store takes its first slot from them. */
export const unlockSources: readonly UnlockSource[] = [
  {
    variable: 'COFFER_MASTER_KEY',
    meaning: 'master key: 32 bytes in base64 or hex, as "coffer keygen" prints it',
    // The key may also have been a key file's content when the slot was made.
    credentials: (text, source) => [
      { source, kind: 'raw', reveal: () => parseMasterKey(text, source) },
      { source, kind: 'key-file', reveal: () => parseMasterKey(text, source) },
    ],
    slot: (text, source) => ({ kind: 'raw', key: parseMasterKey(text, source) }),
  },
  {
    variable: 'COFFER_MASTER_KEY_FILE',
    meaning: 'file that holds the master key, or the key file of a slot',
    // The file may be the key file of a slot, or hold the master key of a slot made from COFFER_MASTER_KEY.
    credentials: (path, source) => [
      { source, kind: 'key-file', reveal: () => readKeyFile(path, source) },
      { source, kind: 'raw', reveal: () => masterKeyIn(readKeyFile(path, source)) },
    ],
    slot(path, source) {
      const content = readKeyFile(path, source);
      const key = tryParseMasterKey(content);
      return key === undefined ? { kind: 'key-file', content } : { kind: 'raw', key };
    },
  },
  {
    variable: 'COFFER_MASTER_KEY_COMMAND',
    meaning: 'command that prints the master key or passphrase, e.g. of a password manager',
    credentials: (command, source, environment) => [
      { source, kind: 'command', reveal: () => outputOf(command, environment) },
    ],
    slot: (command, _, environment) => ({ kind: 'command', output: outputOf(command, environment) }),
  },
  {
    variable: 'COFFER_PASSPHRASE',
    meaning: 'passphrase',
    credentials: (passphrase, source) => [{ source, kind: 'passphrase', reveal: () => passphrase }],
    slot: (passphrase) => ({ kind: 'passphrase', passphrase }),
  },
  {
    variable: 'COFFER_PASSPHRASE_FILE',
    meaning: 'file that holds the passphrase',
    credentials: (path, source) => [{ source, kind: 'passphrase', reveal: () => passphraseIn(path, source) }],
    slot: (path, source) => ({ kind: 'passphrase', passphrase: passphraseIn(path, source) }),
  },
  {
    variable: 'COFFER_SHARES_FILE',
    meaning: 'file with recovery shares, one a line',
    credentials: (path, source) => [
      { source, kind: 'shares', reveal: () => shareLines(secretText(path, source)) },
    ],
  },
];

/** What the environment gives, without asking anybody. */
export const environmentCredentials = (environment: Environment): readonly Credential[] =>
  unlockSources.flatMap(({ variable: name, credentials }) => {
    const value = variable(environment, name);
    return value === undefined ? [] : credentials(value, name, environment);
  });

/** The slot of a new store for the secret that the environment holds already. */
export function environmentSlot(environment: Environment): SlotRequest | undefined {
  for (const { variable: name, slot } of unlockSources) {
    const value = variable(environment, name);
    if (value !== undefined && slot !== undefined) return slot(value, name, environment);
  }
  return undefined;
}

/** The content of a key file. @throws `invalid` when there is no such file, `unavailable` when others may read or write it. */
export const readKeyFile = (path: string, label: string): Buffer =>
  readFileWhole(path, label, MAX_SECRET_BYTES, refuseExposed);

/** The master key that a file's content is, or undefined. The content is overwritten. */
function masterKeyIn(content: Buffer): Buffer | undefined {
  const key = tryParseMasterKey(content);
  wipe(content);
  return key;
}

/** A passphrase kept in a file: where that is possible, as bytes that can be overwritten. */
export function passphraseIn(path: string, label: string): string | Uint8Array {
  const bytes = readKeyFile(path, label);
  return isAscii(bytes) ? withoutLineBreak(bytes) : inputText(bytes, label);
}

/** A secret kept in a file, without the newline at its end. */
export const secretText = (path: string, label: string): string => inputText(readKeyFile(path, label), label);

const shareLines = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/**
 * What a command prints. Its standard input stays empty, because ours may carry data; what it says to people is shown.
 * It gets the environment without our other secrets, which are none of its business and would pass on to whatever it starts.
 * @throws `unavailable` when it fails.
 */
export function outputOf(command: string, environment: Environment): Buffer {
  // Loading this module costs more than the rest of an unlock.
  const { execSync } = process.getBuiltinModule('node:child_process');
  const env = withoutOwnSecrets(environment);
  try {
    return execSync(command, { stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: MAX_SECRET_BYTES, env });
  } catch (error) {
    const status = (error as { readonly status?: unknown }).status;
    throw unavailable(`the command failed${typeof status === 'number' ? ` with exit code ${status}` : ''}`, {
      field: 'COFFER_MASTER_KEY_COMMAND',
      hint: 'run it by hand to see why',
    });
  }
}
