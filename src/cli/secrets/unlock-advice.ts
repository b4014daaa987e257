import { existsSync } from 'node:fs';
import { connectToAgent } from '../../client/agent.ts';
import { alternatives } from '../../ground/alternatives.ts';
import { CofferError } from '../../ground/errors.ts';
import { UNLIKELY } from '../../ground/private-files.ts';
import type { Location } from '../../store/backends/backend-kind.ts';
import { type Credential, kindNames } from '../../store/slots/unlock.ts';
import type { Environment } from '../given.ts';
import type { Session } from '../session.ts';
import { agentDirectory } from './agent-directory.ts';
import { environmentCredentials, unlockSources } from './secret-sources.ts';

/* Extends the errors about a store that stays locked by what the user can type next. */

/** Slot kinds whose secret a user remembers or has on paper. */
const OF_PEOPLE = /passphrase|shares/;
/** Slot kinds whose key is used only after the user has named it once. */
const OF_KEYS = /identity/;

/** Variables for the secrets that are never asked for, by their names in errors. */
const VARIABLES: readonly (readonly [secret: string, setting: string])[] = [
  [kindNames.raw, 'COFFER_MASTER_KEY_FILE=FILE'],
  [kindNames['key-file'], 'COFFER_MASTER_KEY_FILE=FILE'],
  [kindNames.command, 'COFFER_MASTER_KEY_COMMAND=COMMAND'],
];
const PASSPHRASE_FILE = 'COFFER_PASSPHRASE_FILE=FILE';
/** Variables for all secrets. */
const ALL_VARIABLES = [
  [kindNames.passphrase, PASSPHRASE_FILE],
  ...VARIABLES,
  [kindNames.recipient, 'COFFER_IDENTITY_FILE=FILE'],
  [kindNames.shares, 'COFFER_SHARES_FILE=FILE'],
] as const;

/**
 * Extends the error of a command that manages a store, and needs its secret even while an agent has it open: a script
 * that unlocked the store again would get the same error again.
 * @param location location of the store; undefined for one that is not there yet
 * @param only kind of the only secret that the command accepts; by default any
 */
export async function advisedToManage(
  session: Session,
  error: unknown,
  location: Location | undefined,
  only?: Credential['kind'],
): Promise<unknown> {
  if (!(error instanceof CofferError) || error.kind !== 'sealed') return error;
  if (session.prompts.available()) return advised(session, error);
  const isOpen = location !== undefined && (await isOpenInAgent(session, location));
  if (only === 'passphrase' && !isOpen) return withoutPassphrase(error);
  const ways = only === 'passphrase' ? kindNames.passphrase : error.hint;
  const hint = hintOfUseless(session, settingHint(ways, isOpen ? undefined : error.hint));
  if (!isOpen) return withHint(error, hint);
  return unlockedAlready(error, hint);
}

/** Returns the error of a command that an agent with the open store does not help. */
const unlockedAlready = (cause: CofferError, hint: string | undefined): CofferError =>
  new CofferError('sealed', 'the store is unlocked, but this command always needs a secret that unlocks it', {
    hint,
    cause,
  });

/** Describes that a passphrase is needed, whatever else unlocks the store. */
function withoutPassphrase(cause: CofferError): CofferError {
  const others = Object.values(kindNames).filter((name) => name !== kindNames.passphrase);
  const forgotten = others.some((name) => cause.hint?.includes(name))
    ? '; if you forgot the passphrase, add another one with "coffer slots add --passphrase", which takes any other secret of the store'
    : '';
  return new CofferError(
    'sealed',
    'the current passphrase is needed, even if another secret unlocks the store',
    {
      hint: `${settingHint(kindNames.passphrase, undefined)}${forgotten}`,
      cause,
    },
  );
}

/**
 * Returns the hint with the variables for a secret, where unlocking the store for later commands would not help.
 * @param ways text with the kinds of the secrets
 * @param before text before the variables
 */
function settingHint(ways: string | undefined, before: string | undefined): string {
  const settings = ALL_VARIABLES.flatMap(([kind, setting]) => (ways?.includes(kind) ? [setting] : []));
  const terminal = OF_PEOPLE.test(ways ?? '') ? ['run this command on a terminal'] : [];
  const steps = settings.length === 0 ? [] : [`set ${alternatives([...new Set(settings)])}`];
  const list = 'see "coffer help environment"';
  const advice = [[...steps, ...terminal].join(', or '), list].filter((part) => part !== '').join('; ');
  return before === undefined ? advice : `${before}: ${advice}`;
}

/**
 * Extends an error of unlocking.
 * @returns the error itself if there is nothing to add
 */
export async function advised(session: Session, error: unknown): Promise<unknown> {
  if (!(error instanceof CofferError)) return error;
  if (error.kind === 'denied') return aboutFiles(session, await afterWrongSecret(session, error), error.hint);
  if (error.kind !== 'sealed') return aboutFile(error);
  const isOpen = !session.prompts.available() && (await isOpenInAgent(session));
  const variables = sourcesOf(session.environment);
  // Unlocking the store again would change nothing. The agent refuses what can be used even while the store is locked.
  if (isOpen && variables.length === 0) return unlockedAlready(error, settingHint(error.hint, undefined));
  const hint = isOpen
    ? `the agent has the store unlocked: run "unset ${variables.join(' ')}" to use the agent`
    : sealedHint(session, error.hint);
  return withHint(error, hintOfUseless(session, hint));
}

/** Describes how to use the agent or a variable: on a terminal the secret is asked for, if it is one to remember. */
function sealedHint(session: Session, hint: string | undefined): string | undefined {
  if (session.prompts.available()) return hint === undefined ? hint : withVariable(hint);
  const list = 'see "coffer help environment"';
  const isAskedFor = OF_PEOPLE.test(hint ?? '') && agentDirectory(session) !== undefined;
  const isKeyFirst = OF_KEYS.test(hint ?? '') && !hint?.includes(kindNames.passphrase);
  const first = isKeyFirst ? ' --identity FILE' : '';
  const variables = sourcesOf(session.environment).join(' ');
  const unset = variables === '' ? '' : `"unset ${variables}", then `;
  const advice =
    isAskedFor || first !== '' ? `run ${unset}"coffer unlock${first}" on a terminal, or ${list}` : list;
  return hint === undefined ? advice : `${hint}: ${advice}`;
}

/** Names the variables whose secret is of no use, since the store has no slot of that kind. */
function hintOfUseless({ environment }: Session, hint: string | undefined): string | undefined {
  const sources = sourcesOf(environment);
  if (sources.length === 0) return hint;
  const others = sources.filter((name) => !OF_FILE.test(name));
  const useless = [
    ...(others.length === 0
      ? []
      : [`${others.join(' and ')} ${others.length === 1 ? 'does' : 'do'} not unlock the store`]),
    ...wrongFiles(environment, sources),
  ].join('; ');
  return hint === undefined ? useless : `${useless}; ${hint}`;
}

/** Returns the variables that have a secret, which takes precedence over the agent. */
const sourcesOf = (environment: Environment): readonly string[] => [
  ...new Set(environmentCredentials(environment).map(({ source }) => source)),
];

/** Variables with the path of a file that holds a secret. */
const OF_FILE = /^COFFER_(?:MASTER_KEY|PASSPHRASE|SHARES)_FILE$/;

/** Says of each file in a variable whose secret is wrong whether it exists. */
export function wrongFiles(environment: Environment, sources: readonly string[]): readonly string[] {
  return sources.flatMap((name) => {
    const path = OF_FILE.test(name) ? environment[name] : undefined;
    if (path === undefined) return [];
    return [existsSync(path) ? `${path} does not unlock the store` : `${path} does not exist`];
  });
}

/**
 * Names the files of a wrong secret, and what to do without them.
 * @param others hint before it was extended, with the kinds of secrets that were not tried
 */
function aboutFiles(session: Session, error: CofferError, others = ''): CofferError {
  const { hint = '', message } = error;
  const sources = unlockSources
    .map(({ variable }) => variable)
    .filter((name) => OF_FILE.test(name) && message.includes(name));
  const facts = wrongFiles(session.environment, sources).join('; ');
  if (facts === '') return error;
  const variables = sources.join(' ');
  if (hint.includes(LOST)) return withHint(error, `${facts}: set ${variables} to the right file; ${hint}`);
  const isPassphrase = /passphrase/i.test(message + others);
  const isAskedFor = (isPassphrase || OF_PEOPLE.test(others)) && agentDirectory(session) !== undefined;
  if (!isAskedFor) return withHint(error, `${facts}; ${hint}`);
  const step = `run "unset ${variables}", then "coffer unlock"`;
  const typed = isPassphrase ? 'the passphrase' : kindNames.shares;
  // The hint may end with another step already.
  return withHint(
    error,
    hint === others ? `${facts}; ${hint}: ${step}` : `${facts}; ${hint}; to type ${typed}, ${step}`,
  );
}

/** Says what to do about a file with a secret that cannot be read, or is no file with a secret. */
function aboutFile(error: CofferError): CofferError {
  const { field: variables = '', hint } = error;
  if (!OF_FILE.test(variables) || (hint !== undefined && !hint.includes(UNLIKELY))) return error;
  const step = `set ${variables} to the file that unlocks this store; if you have no such file, run "unset ${variables}", then "coffer unlock"`;
  return withHint(error, hint === undefined ? step : `${hint}; ${step}`);
}

/**
 * Extends the error after a wrong secret: by the variable of another one that unlocks the store, or by what is left if
 * the passphrase was forgotten.
 */
export async function afterWrongSecret(session: Session, error: CofferError): Promise<CofferError> {
  const { hint, message } = error;
  if (hint === undefined) return error;
  const isPassphrase = /passphrase/i.test(message);
  const withSetting = withVariable(hint);
  if (withSetting !== hint) {
    const renewal = isPassphrase
      ? '; if the passphrase is forgotten, then run "coffer slots add --passphrase"'
      : '';
    return withHint(error, withSetting + renewal);
  }
  if (!hint.includes(LOST)) return error;
  const wrong = wrongSecrets(message);
  if (!isPassphrase) return withHint(error, `${wrong}${hint}`);
  const rescue = (await isOpenInAgent(session))
    ? `no other secret unlocks the store, but the agent still has the store unlocked: before the agent locks, ${stepOfRescue(message)}`
    : `${hint}; see "coffer help unlocking"`;
  return withHint(error, `${wrong}${rescue}`);
}

/** Variables that do not hold the secret itself. */
const OF_ELSEWHERE = /_(?:FILE|COMMAND|FD)$/;

const variablesIn = (message: string): readonly string[] =>
  message.split(/,? /).filter((word) => word.startsWith('COFFER_'));

/** Describes how to decrypt files by the agent, over which a wrong secret in a variable takes precedence. */
function stepOfRescue(message: string): string {
  const names = variablesIn(message);
  const unset = names.length === 0 ? '' : `"unset ${names.join(' ')}", then `;
  return `run ${unset}"coffer secrets decrypt FILE" for each file that you need`;
}

/** Says that variables in the message have a wrong secret; empty without any that hold one. */
function wrongSecrets(message: string): string {
  const names = variablesIn(message).filter((name) => !OF_ELSEWHERE.test(name));
  return names.length === 0
    ? ''
    : `the value of ${names.join(' and ')} is wrong, or belongs to another store (use --store or COFFER_STORE); `;
}

/** Part of the hint for a store that nothing else unlocks. */
const LOST = 'its data is lost';

function withVariable(hint: string): string {
  const [, setting] = VARIABLES.find(([secret]) => hint.includes(secret)) ?? [];
  return setting === undefined ? hint : `${hint}: set ${setting} and try again`;
}

const withHint = ({ kind, texts, cause, field }: CofferError, hint: string | undefined): CofferError =>
  new CofferError(kind, texts.message, { hint, cause, field });

/** Whether an agent has the store unlocked, although a command needs its secret again. */
async function isOpenInAgent(
  { environment, settings }: Session,
  storeLocation = settings.storeLocation,
): Promise<boolean> {
  const directory = agentDirectory({ environment, settings: { ...settings, storeLocation } });
  if (!directory?.isInUse) return false;
  try {
    directory.verify();
    const connection = await connectToAgent(directory.socket);
    if (connection === undefined) return false;
    const { locked } = await connection.status().finally(() => connection.close());
    return !locked;
  } catch {
    return false;
  }
}
