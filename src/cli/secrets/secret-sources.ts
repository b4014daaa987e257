import { isAscii } from 'node:buffer';
import { existsSync, type Stats } from 'node:fs';
import { wipe } from '../../ground/bytes.ts';
import { asCofferError, invalid, unavailable, withOtherHint } from '../../ground/errors.ts';
import { refuseExposed } from '../../ground/private-files.ts';
import { parseMasterKey, tryParseMasterKey } from '../../store/master-key.ts';
import type { SlotRequest } from '../../store/slots/slot-kind.ts';
import { MIN_KEY_FILE_BYTES, withoutLineBreak } from '../../store/slots/slot-secret.ts';
import type { Credential } from '../../store/slots/unlock.ts';
import { readFileWhole } from '../files/in-file.ts';
import { inputText } from '../files/input.ts';
import { type Environment, variable } from '../given.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { type UNLOCK_VARIABLES, withoutOwnSecrets } from './secret-variables.ts';

/** Sources of secrets: environment variables, files and commands. */

const MAX_SECRET_BYTES = 1 << 20;

/** Environment variable that may unlock a store. */
interface UnlockSource {
  readonly variable: (typeof UNLOCK_VARIABLES)[number];
  /** Description for `coffer help environment`. */
  readonly meaning: string;
  /**
   * Returns the possible credentials for an existing store.
   * @param source name of the variable, for messages
   */
  credentials(value: string, source: string, environment: Environment): readonly Credential[];
  /** Returns the slot of a new store that its value opens. Recovery shares are generated together with their slot. */
  slot?(value: string, source: string, environment: Environment): SlotRequest;
}

/** Sources in the order in which a new store takes its first slot from them. */
export const unlockSources: readonly UnlockSource[] = [
  {
    variable: 'COFFER_MASTER_KEY',
    meaning: 'master key: 32 bytes in base64 or hex, as "coffer keygen" prints it',
    // The slot may also have been created with the key as the content of a key file.
    credentials: (text, source) => [
      { source, kind: 'raw', reveal: () => parseMasterKey(text, source) },
      { source, kind: 'key-file', reveal: () => parseMasterKey(text, source) },
    ],
    slot: (text, source) => ({ kind: 'raw', key: parseMasterKey(text, source) }),
  },
  {
    variable: 'COFFER_MASTER_KEY_FILE',
    meaning: 'file with the master key, or a key file',
    // The file may be the key file of a slot, or hold the master key of a slot made from COFFER_MASTER_KEY.
    credentials: (path, source) => [
      { source, kind: 'key-file', reveal: () => wholeKeyFile(path, source) },
      { source, kind: 'raw', reveal: () => masterKeyIn(readKeyFile(path, source)) },
    ],
    slot(path, source) {
      const content = newKeyFile(path, source);
      const key = tryParseMasterKey(content);
      return key === undefined ? { kind: 'key-file', content } : { kind: 'raw', key };
    },
  },
  {
    variable: 'COFFER_MASTER_KEY_COMMAND',
    meaning: 'command that prints the master key or passphrase, e.g. a password manager',
    credentials: (command, source, environment) => [
      { source, kind: 'command', reveal: () => outputOf(command, environment) },
    ],
    slot: (command, _, environment) => ({ kind: 'command', output: outputOf(command, environment) }),
  },
  {
    variable: 'COFFER_PASSPHRASE',
    meaning: 'passphrase that unlocks the store',
    credentials: (passphrase, source) => [{ source, kind: 'passphrase', reveal: () => passphrase }],
    slot: (passphrase) => ({ kind: 'passphrase', passphrase }),
  },
  {
    variable: 'COFFER_PASSPHRASE_FILE',
    meaning: 'file with the passphrase',
    credentials: (path, source) => [{ source, kind: 'passphrase', reveal: () => passphraseIn(path, source) }],
    slot: (path, source) => ({ kind: 'passphrase', passphrase: passphraseIn(path, source) }),
  },
  {
    variable: 'COFFER_SHARES_FILE',
    meaning: 'file with recovery shares, one per line',
    credentials: (path, source) => [
      { source, kind: 'shares', reveal: () => shareLines(secretText(path, source)) },
    ],
  },
];

/** Returns the credentials in the environment, without prompts. */
export const environmentCredentials = (environment: Environment): readonly Credential[] =>
  unlockSources.flatMap(({ variable: name, credentials }) => {
    const value = variable(environment, name);
    return value === undefined ? [] : credentials(value, name, environment);
  });

/** Returns the slot of a new store for the secret already in the environment. */
export function environmentSlot(environment: Environment): SlotRequest | undefined {
  for (const { variable: name, slot } of unlockSources) {
    const value = variable(environment, name);
    if (value !== undefined && slot !== undefined) return slot(value, name, environment);
  }
  return undefined;
}

/**
 * Reads a key file.
 * @throws `invalid` if it does not exist; `unavailable` if other users can read or write it
 */
export const readKeyFile = (path: string, label: string): Buffer =>
  readFileWhole(path, label, MAX_SECRET_BYTES, refusePublic);

const creating = (path: string): string => `create one with "coffer keygen --out ${shellWord(path)}"`;

/**
 * Reads a file whose content is a key.
 * @param isNew whether the key is of a new slot
 * @throws also `invalid` if it is too short
 */
function wholeKeyFile(path: string, label: string, isNew = false): Buffer {
  const content = readKeyFile(path, label);
  if (content.length >= MIN_KEY_FILE_BYTES) return content;
  const creatingOne = creating(`${path}.new`);
  const size = content.length === 1 ? '1 byte' : `${content.length} bytes`;
  throw invalid(`${path} is not a key file: it has ${size}, a key file has at least ${MIN_KEY_FILE_BYTES}`, {
    field: label,
    hint: isNew ? creatingOne : `an existing store needs its own key; for a new store, ${creatingOne}`,
  });
}

/**
 * Reads the key file of a new slot.
 * @throws as `wholeKeyFile`; also says how such a file is created, if there is none
 */
export function newKeyFile(path: string, label: string): Buffer {
  try {
    return wholeKeyFile(path, label, true);
  } catch (error) {
    const known = asCofferError(error);
    if (known === undefined || known.hint !== undefined || existsSync(path)) throw error;
    throw withOtherHint(known, creating(path));
  }
}

/** Ending of public keys of SSH, which others may read, beside the private key. */
const PUBLIC_KEY = /\.pub$/;

/** Refuses a file that other users can read or write, which a public key is for. */
function refusePublic(path: string, stats: Stats, field: string): void {
  try {
    refuseExposed(path, stats, field);
  } catch (error) {
    if (!PUBLIC_KEY.test(path)) throw error;
    const hint = `use the private key, ${path.replace(PUBLIC_KEY, '')}`;
    throw invalid(`${path} is a public key`, { field, hint, cause: error });
  }
}

/** Parses a file as a master key; undefined if it is not one. The content is overwritten. */
function masterKeyIn(content: Buffer): Buffer | undefined {
  const key = tryParseMasterKey(content);
  wipe(content);
  return key;
}

/** Reads a passphrase from a file, if possible as bytes, which can be overwritten. */
export function passphraseIn(path: string, label: string): string | Uint8Array {
  const bytes = readKeyFile(path, label);
  return isAscii(bytes) ? withoutLineBreak(bytes) : inputText(bytes, label);
}

/** Reads a secret from a file, without the newline at its end. */
export const secretText = (path: string, label: string): string => inputText(readKeyFile(path, label), label);

const shareLines = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/**
 * Returns the output of a command. Its standard input is empty, because that of this process may contain data; its
 * standard error is shown. Its environment lacks Coffer's other secrets, which it would pass on to its child processes.
 * @throws `unavailable` if it fails
 */
export function outputOf(command: string, environment: Environment): Buffer {
  // Loaded on use because it costs more than the rest of unlocking.
  const { execSync } = process.getBuiltinModule('node:child_process');
  const env = withoutOwnSecrets(environment);
  try {
    return execSync(command, { stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: MAX_SECRET_BYTES, env });
  } catch (error) {
    const status = (error as { readonly status?: unknown }).status;
    throw unavailable(`the command failed${typeof status === 'number' ? ` with exit code ${status}` : ''}`, {
      field: 'COFFER_MASTER_KEY_COMMAND',
      hint: 'run the command by hand to see why',
    });
  }
}
