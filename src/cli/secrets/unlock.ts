import { isAscii } from 'node:buffer';
import { wipe } from '../../ground/bytes.ts';
import { CofferError, unavailable } from '../../ground/errors.ts';
import { parseMasterKey, tryParseMasterKey } from '../../store/master-key.ts';
import { openStore } from '../../store/open.ts';
import type { SealedStore } from '../../store/sealed/sealed-store.ts';
import type { Credential } from '../../store/slots/credential.ts';
import { withoutLineBreak } from '../../store/slots/slot-secret.ts';
import { type Environment, variable, withoutSecrets } from '../environment.ts';
import { readFileWhole } from '../files/in-file.ts';
import { inputText } from '../files/input.ts';
import type { Session } from '../session.ts';

const MAX_SECRET_FILE_BYTES = 1 << 20;
const ATTEMPTS = 3;

/** Environment variables that may unlock a store, with what they hold; shown by `coffer help environment`. */
export const unlockVariables: readonly (readonly [name: string, meaning: string])[] = [
  ['COFFER_MASTER_KEY', 'master key: 32 bytes in base64 or hex, as "coffer keygen" prints it'],
  ['COFFER_MASTER_KEY_FILE', 'file that holds the master key, or the key file of a slot'],
  [
    'COFFER_MASTER_KEY_COMMAND',
    'command that prints the master key or passphrase, e.g. of a password manager',
  ],
  ['COFFER_PASSPHRASE', 'passphrase'],
  ['COFFER_PASSPHRASE_FILE', 'file that holds the passphrase'],
  ['COFFER_SHARES_FILE', 'file with recovery shares, one a line'],
];

/**
 * Opens the store with what the environment gives, or else with what the person at the terminal types;
 * a mistyped passphrase is asked for again.
 */
export async function unlockStore(session: Session): Promise<SealedStore> {
  const location = session.settings.storeLocation;
  for (let attempt = 1; ; attempt++) {
    let asked = false;
    const credentials = credentialsFor(session, () => {
      if (!asked && attempt === 1) warnOfWrongSecrets(session);
      asked = true;
    });
    try {
      return await openStore({ location, credentials });
    } catch (error) {
      if (!session.prompts.available()) throw withAdvice(error);
      const wrong = error instanceof CofferError && error.kind === 'denied';
      if (!wrong || !asked || attempt === ATTEMPTS) throw error;
      session.streams.err.write('That did not unlock the store; again.\n');
    }
  }
}

/** Where nobody can be asked, a store without a secret needs a variable, so the way to their list is told. */
function withAdvice(error: unknown): unknown {
  if (!(error instanceof CofferError) || error.kind !== 'sealed') return error;
  const { kind, message, hint, cause } = error;
  const advice = 'see "coffer help environment"';
  return new CofferError(kind, message, { hint: hint === undefined ? advice : `${hint}: ${advice}`, cause });
}

/** Who is asked although the environment has a secret must learn that it is a wrong one. */
function warnOfWrongSecrets(session: Session): void {
  const sources = [...new Set(environmentCredentials(session.environment).map(({ source }) => source))];
  if (sources.length > 0) session.warn(`this store does not open with ${sources.join(' or ')}`);
}

/** Everything that may unlock a store: the environment first, questions last. */
export function credentialsFor(session: Session, onAsked: () => void = () => {}): readonly Credential[] {
  const fromEnvironment = environmentCredentials(session.environment);
  if (!session.prompts.available()) return fromEnvironment;
  return [...fromEnvironment, ...promptCredentials(session, onAsked)];
}

/** Without a command, which may ask somebody, and without questions: what completion may use. */
export function silentCredentials(environment: Environment): readonly Credential[] {
  return environmentCredentials(environment).filter(({ kind }) => kind !== 'command');
}

/** What the environment gives, without asking anybody. */
export function environmentCredentials(environment: Environment): readonly Credential[] {
  const credentials: Credential[] = [];
  const add = (name: string, make: (value: string) => readonly Credential[]): void => {
    const value = variable(environment, name);
    if (value !== undefined) credentials.push(...make(value));
  };
  add('COFFER_MASTER_KEY', masterKey);
  add('COFFER_MASTER_KEY_FILE', masterKeyFile);
  add('COFFER_MASTER_KEY_COMMAND', (command) => [
    { source: 'COFFER_MASTER_KEY_COMMAND', kind: 'command', reveal: () => outputOf(command, environment) },
  ]);
  add('COFFER_PASSPHRASE', (text) => [
    { source: 'COFFER_PASSPHRASE', kind: 'passphrase', reveal: () => text },
  ]);
  add('COFFER_PASSPHRASE_FILE', (path) => [
    {
      source: 'COFFER_PASSPHRASE_FILE',
      kind: 'passphrase',
      reveal: () => passphraseIn(path, 'COFFER_PASSPHRASE_FILE'),
    },
  ]);
  add('COFFER_SHARES_FILE', (path) => [
    {
      source: 'COFFER_SHARES_FILE',
      kind: 'shares',
      reveal: () => shareLines(secretText(path, 'COFFER_SHARES_FILE')),
    },
  ]);
  return credentials;
}

/** The key may also have been a key file's content when the slot was made. */
function masterKey(text: string): readonly Credential[] {
  const source = 'COFFER_MASTER_KEY';
  const reveal = (): Buffer => parseMasterKey(text, source);
  return [
    { source, kind: 'raw', reveal },
    { source, kind: 'key-file', reveal },
  ];
}

/** The file may be the key file of a slot, or hold the master key of a slot made from COFFER_MASTER_KEY. */
function masterKeyFile(path: string): readonly Credential[] {
  const source = 'COFFER_MASTER_KEY_FILE';
  const content = (): Buffer => readKeyFile(path, source);
  return [
    { source, kind: 'key-file', reveal: content },
    { source, kind: 'raw', reveal: () => masterKeyIn(content()) },
  ];
}

/** The content of a key file. @throws `invalid` when there is no such file. */
export const readKeyFile = (path: string, label: string): Buffer =>
  readFileWhole(path, label, MAX_SECRET_FILE_BYTES);

/** The master key that a file's content is, or undefined. The content is overwritten. */
function masterKeyIn(content: Buffer): Buffer | undefined {
  const key = tryParseMasterKey(content);
  wipe(content);
  return key;
}

/** A passphrase kept in a file: where that is possible, as bytes that can be overwritten. */
export function passphraseIn(path: string, label: string): string | Uint8Array {
  const bytes = readFileWhole(path, label, MAX_SECRET_FILE_BYTES);
  return isAscii(bytes) ? withoutLineBreak(bytes) : inputText(bytes, label);
}

/** A secret kept in a file, without the newline at its end. */
export const secretText = (path: string, label: string): string =>
  inputText(readFileWhole(path, label, MAX_SECRET_FILE_BYTES), label);

export const shareLines = (text: string): readonly string[] =>
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
  try {
    return execSync(command, {
      stdio: ['ignore', 'pipe', 'inherit'],
      maxBuffer: MAX_SECRET_FILE_BYTES,
      env: withoutSecrets(environment),
    });
  } catch (error) {
    const status = (error as { readonly status?: unknown }).status;
    throw unavailable(`the command failed${typeof status === 'number' ? ` with exit code ${status}` : ''}`, {
      field: 'COFFER_MASTER_KEY_COMMAND',
      hint: 'run it by hand to see why',
    });
  }
}

/** A passphrase, or, for who gives none, recovery shares; of these only what the store has a slot for is asked. */
function promptCredentials(session: Session, onAsked: () => void): readonly Credential[] {
  const ask = async (question: string): Promise<string | undefined> => {
    onAsked();
    const answer = await session.prompts.secret(question);
    return answer === '' ? undefined : answer;
  };
  let answered = false;
  const passphrase = async (): Promise<string | undefined> => {
    const answer = await ask('Passphrase');
    answered = answer !== undefined;
    return answer;
  };
  const shares = async (): Promise<readonly string[] | undefined> => {
    if (answered) return undefined;
    const texts: string[] = [];
    for (;;) {
      const text = await ask(`Recovery share ${texts.length + 1} (Enter when there are no more)`);
      if (text === undefined) return texts.length === 0 ? undefined : texts;
      texts.push(text);
    }
  };
  return [
    { source: 'the passphrase', kind: 'passphrase', asks: true, reveal: passphrase },
    { source: 'the recovery shares', kind: 'shares', asks: true, reveal: shares },
  ];
}
