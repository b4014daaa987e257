import { asCofferError, CofferError, closing, withOtherHint } from '../ground/errors.ts';
import { inTime } from '../ground/pause.ts';
import type { Runner } from '../operations/declaration/operation.ts';
import type { ArgumentSpec, Invocation } from './command.ts';
import type { Environment, OptionValue } from './given.ts';
import {
  type ListedKind,
  listedFor,
  listingRunner,
  mayList,
  NameList,
  namesOf,
  openWithoutAsking,
} from './listed-names.ts';
import { everywhereOptions, invocation } from './parse/everywhere.ts';
import type { MissingArgument, MissingKey } from './parse/unfinished.ts';
import { environmentCredentials } from './secrets/secret-sources.ts';
import { Session } from './session.ts';
import { terminalPrompts } from './terminal/prompt.ts';
import type { Streams } from './terminal/streams.ts';
import { withPermission } from './with-permission.ts';

/* Names that a missing argument could be, for a user at a terminal. @see docs/decisions/0274 */

/** Maximum number of names, and of characters that they have together. */
const MOST_NAMES = 6;
const MOST_CHARACTERS = 60;

/** Maximum number of keys whose type is looked up. */
const MOST_EXAMINED = 20;

/** Verbs of commands whose name is a new one. */
const OF_NEW: ReadonlySet<string> = new Set(['add', 'create', 'enable', 'import']);

/** Plurals of what the lists have that are never empty, and so have no message for that. */
const NEVER_EMPTY: Readonly<Record<string, string>> = {
  login: 'login methods',
  mount: 'mounts',
  policy: 'policies',
};

/** Time that a server has to answer, in milliseconds: the mistake is reported without names then. */
const ANSWER_WITHIN_MS = 1500;

/**
 * Adds the names that a missing argument could be to the error, if they can be read without asking for anything: from
 * an agent, with a master key, or from a server that the token may list them on.
 * @returns the error itself if there are none
 */
export async function withCandidates(
  error: MissingArgument,
  streams: Streams,
  environment: Environment,
): Promise<CofferError> {
  const names = await candidatesFor(error, streams, environment).catch(() => undefined);
  if (names === undefined) return error;
  return new CofferError('invalid', error.message, { hint: `${names}; ${error.hint}` });
}

/** Option whose value is missing, in the message of an error. */
const MISSING_OPTION = /^missing required value --([a-z-]+)$/;
/** Message for a name without the organization that it is of. */
const NO_ORGANIZATION = /^(?:no organization given for |missing organization$)/;

/** Returns the flag of the option whose value is missing. */
export const missingOption = ({ message }: CofferError): string | undefined =>
  NO_ORGANIZATION.test(message) ? 'org' : MISSING_OPTION.exec(message)?.[1];

/**
 * Returns the only organization of a store, for an error about a missing one, and the runner of the store, which the
 * session that opened it closes.
 * @returns undefined for any other error, if there are several, or if they cannot be listed without asking for anything
 */
export async function onlyOrganization(
  error: unknown,
  session: Session,
): Promise<{ readonly organization: string; readonly runner: Runner } | undefined> {
  const known = asCofferError(error);
  if (known?.kind !== 'invalid' || missingOption(known) !== 'org' || !mayList(session)) return undefined;
  const opened = await session.runnerUnasked();
  if (opened === undefined) return undefined;
  const listing = await withPermission(session, opened);
  const list = await namesOf(listing, 'organization');
  const { names } = (await list.first().catch(() => undefined)) ?? { names: [] };
  const [organization] = names;
  if (organization === undefined || names.length > 1) return undefined;
  return { organization, runner: { ...opened, organization, close: () => undefined } };
}

/** Adds the names that the value of a missing option could be to the error; as `withCandidates`. */
export async function withOptionCandidates(
  error: CofferError,
  typed: Invocation,
  { streams, environment }: Session,
): Promise<CofferError> {
  const flag = missingOption(error);
  const spec = [...typed.command.options, ...everywhereOptions].find((option) => option.flag === flag);
  const listed = spec?.offers === undefined ? undefined : await listedFor(typed, spec);
  if (listed === undefined) return error;
  const names = await silently(typed, streams, environment, (session) =>
    namesText(session, listed, spec?.offers),
  ).catch(() => undefined);
  return names === undefined ? error : withOtherHint(error, `${names}; ${error.hint}`);
}

async function candidatesFor(
  { unfinished: { path, command, words, around } }: MissingArgument,
  streams: Streams,
  environment: Environment,
): Promise<string | undefined> {
  if (OF_NEW.has(path.at(-1) ?? '')) return undefined;
  const typed = invocation(path, command, words, around);
  const missing = command.arguments.find(({ required }, at) => required && words[at] === undefined);
  const kind = missing === undefined ? undefined : await listedFor(typed, missing);
  if (kind === undefined) return undefined;
  return silently(typed, streams, environment, (session) => namesText(session, kind, missing?.offers));
}

/**
 * Runs work in a session that neither asks nor prints anything, and runs no command for the secret.
 * @returns undefined if a server takes too long
 */
async function silently<T>(
  { everywhere }: Pick<Invocation, 'everywhere'>,
  streams: Streams,
  environment: Environment,
  work: (session: Session) => Promise<T>,
): Promise<T | undefined> {
  const quiet = new Map<string, OptionValue>([...everywhere, ['quiet', true], ['no-prompt', true]]);
  const silent = { ...environment, COFFER_MASTER_KEY_COMMAND: undefined };
  const session = new Session(streams, silent, quiet, terminalPrompts(streams), openAtHand);
  return closing(session, () => answered(session, work(session)));
}

/** Opens the store if that takes no time: stretching a passphrase takes most of a second. */
const openAtHand = (session: Session): Promise<Runner> =>
  openWithoutAsking(
    session,
    environmentCredentials(session.environment).filter(({ kind }) => kind === 'raw' || kind === 'key-file'),
  );

async function namesText(
  session: Session,
  kind: ListedKind,
  offers: ArgumentSpec['offers'],
): Promise<string | undefined> {
  const listing = await listingRunner(session, await session.runner());
  return listing === undefined ? undefined : listText(listing, kind, offers);
}

/** Puts the keys that there are into an error about a command that lacks one; as `withCandidates`. */
export async function withKeys(
  error: MissingKey,
  streams: Streams,
  environment: Environment,
): Promise<CofferError> {
  const hint = error.hint ?? '';
  const filled = await silently(error, streams, environment, (session) => hintWithKeys(session, hint));
  return withOtherHint(error, filled ?? hint);
}

/**
 * Puts the keys that there are into a hint with a command for any key, for a user at a terminal.
 * @returns the same hint if they cannot be listed without asking for anything
 */
export async function hintWithKeys(session: Session, hint: string): Promise<string> {
  if (!session.streams.err.isTerminal) return hint;
  const runner = await openAtHand(session.quietly()).catch(() => undefined);
  return closing(runner, () => (runner === undefined ? hint : filledWithKeys(session, runner, hint)));
}

/** Placeholder for the key in a command. */
const ANY_KEY = /(?<= )KEY(?= )/;
/** Name of the first key in advice, as in the examples of help. */
const FIRST_KEY = 'app';

/**
 * Puts the only key in the place of the word KEY in the command of a hint. Of several keys it says the names, and
 * without any, how one is created.
 * @returns the same hint if the caller may not list keys
 */
export async function filledWithKeys(session: Session, runner: Runner, hint: string): Promise<string> {
  if (!ANY_KEY.test(hint)) return hint;
  const listing = await listingRunner(session, runner);
  const list = listing && (await namesOf(listing, 'key'));
  const { names, total } = (await list?.first().catch(() => undefined)) ?? {};
  if (names === undefined) return hint;
  const [first] = names;
  if (first === undefined)
    return `first create a key with "coffer transit keys create ${FIRST_KEY}"; ${hint.replace(ANY_KEY, FIRST_KEY)}`;
  if (names.length === 1) return hint.replace(ANY_KEY, () => first);
  return `${shownText(names, { total: total ?? names.length, what: 'keys' })}; ${hint}`;
}

/** Some names, in an error. */
export interface NamesShown {
  /** Empty if there are none. */
  readonly text: string;
  /** The only one that there is. */
  readonly only: string | undefined;
}

/**
 * Returns the keys that are suited, by default those that values in files can be encrypted with, for a user at a
 * terminal; undefined if the store cannot be opened without asking for anything.
 */
export async function keysShown(session: Session, isSuited = isForValues): Promise<NamesShown | undefined> {
  if (!session.streams.err.isTerminal) return undefined;
  const find = async (runner: Runner): Promise<NamesShown> => {
    const { names, total } = await (await namesOf(runner, 'key')).first();
    const examined = names.slice(0, MOST_EXAMINED);
    const suited = await Promise.all(examined.map((name) => isSuited(runner, name)));
    const shown = examined.filter((_, at) => suited[at]);
    return namesShown(shown, { total: shown.length + total - examined.length, what: 'keys' });
  };
  const runner = await openAtHand(session).catch(() => undefined);
  return runner && closing(runner, find).catch(() => undefined);
}

/** Whether a key encrypts values each bound to its name: signing keys and RSA keys do not. */
async function isForValues(runner: Runner, name: string): Promise<boolean> {
  const { data } = await runner.run('transit keys read', { name });
  const { supports_encryption, supports_derivation, convergent_encryption } = data as Record<string, unknown>;
  return supports_encryption === true && supports_derivation === true && convergent_encryption !== true;
}

async function listText(
  listing: Runner,
  kind: ListedKind,
  offers: ArgumentSpec['offers'],
): Promise<string | undefined> {
  const { names, total } = await new NameList(listing, kind).first();
  const what = kind.operation.cli?.empty?.what ?? NEVER_EMPTY[offers ?? ''] ?? 'existing';
  return shownText(names, { total, what });
}

/** Formats the first of some names. */
export const namesShown = (names: readonly string[], about: Parameters<typeof shownText>[1]): NamesShown => ({
  text: shownText(names, about) ?? '',
  only: about.total === 1 ? names[0] : undefined,
});

/** Formats the first of some names; undefined if there are none. */
function shownText(
  names: readonly string[],
  { total, what }: { readonly total: number; readonly what: string },
): string | undefined {
  let characters = 0;
  const shown = names.slice(0, MOST_NAMES).filter((name) => {
    characters += name.length;
    return characters <= MOST_CHARACTERS;
  });
  if (shown.length === 0) return undefined;
  const rest = total > shown.length ? ` and ${total - shown.length} more` : '';
  return `${what}: ${shown.join(', ')}${rest}`;
}

/** Waits for a server only so long; a local store answers by itself. */
async function answered<T>({ settings }: Session, answer: Promise<T>): Promise<T | undefined> {
  return settings.address === undefined ? answer : inTime(answer, ANSWER_WITHIN_MS, () => undefined);
}
