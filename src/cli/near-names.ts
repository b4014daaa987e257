import { type CofferError, withOtherHint } from '../ground/errors.ts';
import { meantText, nearest } from '../ground/nearness.ts';
import { trimSlashes } from '../ground/trim.ts';
import type { NewName, Runner } from '../operations/declaration/operation.ts';
import { kindNamed } from '../operations/declaration/resource-kinds.ts';
import type { ArgumentSpec, Invocation, OptionSpec } from './command.ts';
import { type OptionValue, textOption, textsOption, variable } from './given.ts';
import { listedFor, listingRunner, NameList, namesOf } from './listed-names.ts';
import { everywhereOptions } from './parse/everywhere.ts';
import { PATH } from './parse/operation-spec.ts';
import type { Session } from './session.ts';
import { shellWord } from './terminal/shell-word.ts';

/** Word of the command line, with the argument or option that it was given for. */
interface TypedWord {
  readonly word: string;
  readonly spec: ArgumentSpec | OptionSpec;
  /** Variable of the environment that has the word; undefined if it was typed. */
  readonly variable?: string;
}

/**
 * Adds the name that was probably meant to an error about one that does not exist, or about an unknown value of an
 * option. Names are listed by the operation that lists them, as the same caller: nothing is suggested that the caller
 * could not list.
 * @param session undefined if the options of the command line are themselves wrong
 * @param runner undefined if the command failed before it had one; then only values of options are suggested
 * @returns the error itself if nothing is near
 */
export async function withNearName(
  error: CofferError,
  invocation: Invocation,
  session: Session | undefined,
  runner: Runner | undefined,
): Promise<CofferError> {
  const said = `${error.message} ${error.hint ?? ''}`;
  const words = [...typedWords(invocation), ...wordsOfVariables(invocation, session)].filter(({ word }) =>
    mentions(said, word),
  );
  for (const typed of words) {
    const choices = choicesNear(typed.word, typed.spec.choices ?? []);
    if (choices.length > 0) return hinted(error, typed, choices);
    if (session === undefined || runner === undefined) continue;
    const names = await nearNames(session, invocation, runner, typed).catch(() => []);
    if (names.length > 0) return hinted(error, typed, names);
  }
  return (await withMissingNames(error, invocation, session)) ?? withList(error, invocation, words);
}

/** Adds the names that the value of a missing option could be, for a user at a terminal. */
async function withMissingNames(
  error: CofferError,
  invocation: Invocation,
  session: Session | undefined,
): Promise<CofferError | undefined> {
  if (error.kind !== 'invalid' || session?.streams.err.isTerminal !== true) return undefined;
  const { missingOption, withOptionCandidates } = await import('./candidates.ts');
  return missingOption(error) === undefined ? undefined : withOptionCandidates(error, invocation, session);
}

/** What arguments and options offer that are names of keys. */
const KEYS: ReadonlySet<unknown> = new Set(['key', 'signing-key']);

/** Adds the command that creates a key or lists the names of a kind, if one does not exist and nothing else says what to do. */
async function withList(
  known: CofferError,
  invocation: Invocation,
  words: readonly TypedWord[],
): Promise<CofferError> {
  const { hint } = known;
  if (!isAboutMissing(known)) return known;
  const [first] = words;
  const isPlain = hint === undefined || hint.includes('keys list"');
  if (isPlain && known.kind === 'not-found' && KEYS.has(first?.spec.offers)) {
    const { keyCreation } = await import('./key-creation.ts');
    const creation = keyCreation(invocation, first?.word ?? '');
    if (creation !== undefined) return withOtherHint(known, creation);
  }
  if (hint !== undefined)
    return words[0]?.variable === undefined ? known : withOtherHint(known, namedBy(words[0]) + hint);
  const [typed] = words.filter(({ spec }) => spec.offers !== undefined);
  const facts = typed === undefined ? undefined : kindNamed(typed.spec.offers ?? '');
  if (typed !== undefined && facts !== undefined) {
    const { list } = facts;
    return withOtherHint(known, `${namedBy(typed)}run "coffer ${list}" to list them`);
  }
  const listing = await listOfMethod(invocation, words);
  return listing === undefined ? known : withOtherHint(known, `run "${listing}" to list them`);
}

/** Whether an error is about a name that does not exist; some have another kind, as the API has another status. */
const isAboutMissing = ({ kind, message }: CofferError): boolean =>
  kind === 'not-found' || (kind === 'invalid' && / does not exist$|^unknown role /.test(message));

/** Returns the command that lists the roles or users of a login method; undefined if the error is about none. */
async function listOfMethod(
  invocation: Invocation,
  words: readonly TypedWord[],
): Promise<string | undefined> {
  const { path, command, given } = invocation;
  const spec = words[0]?.spec;
  if (path[0] !== 'auth' || spec === undefined || spec !== command.arguments[0]) return undefined;
  const kind = await listedFor(invocation, spec).catch(() => undefined);
  if (kind === undefined) return undefined;
  const at = textOption(given.options, PATH);
  const place = at === undefined ? [] : [`--${PATH}`, at];
  return ['coffer', ...path.slice(0, -1), 'list', ...place].map(shellWord).join(' ');
}

/** Minimum length of a beginning that a value is recognized by. */
const LEAST_BEGINNING = 3;

/** Maximum number of values that begin with a word and are suggested for it. */
const MOST_BEGUN = 3;

/**
 * Returns the values that are similar to a word. If there are none, those that begin with it, or the only one that is
 * similar if digits count as letters: no other value has that number.
 */
function choicesNear(word: string, choices: readonly string[]): readonly string[] {
  const near = nearest(word, choices);
  if (near.length > 0 || word.length < LEAST_BEGINNING || choices.includes(word)) return near;
  const begun = choices.filter((choice) => choice.startsWith(word));
  if (begun.length > 0) return begun.length > MOST_BEGUN ? [] : begun;
  const inLetters = choices.filter((choice) => nearest(lettered(word), [lettered(choice)]).length > 0);
  return inLetters.length === 1 ? inLetters : [];
}

/** Replaces each digit by a letter of its own. */
const lettered = (text: string): string => text.replace(/\d/g, (digit) => 'àáâãäåæçèé'.charAt(Number(digit)));

/** Replaces the hint; names the word if the message itself does not, e.g. `key not found`. */
function hinted(known: CofferError, typed: TypedWord, meant: readonly string[]): CofferError {
  const { word, spec } = typed;
  const missing = mentions(known.message, word) ? '' : `no ${spec.offers ?? 'such name'} "${word}"; `;
  return withOtherHint(known, namedBy(typed) + missing + meantText(meant));
}

/** Says which variable has a name that was not typed. */
const namedBy = ({ variable: name }: TypedWord): string =>
  name === undefined ? '' : `the name is from ${name}; `;

/** Variables that name what a global option names. */
const VARIABLES: ReadonlyMap<string, string> = new Map([
  ['org', 'COFFER_ORG'],
  ['mount', 'COFFER_MOUNT'],
]);

/** Returns the names that the environment gives in place of options. */
const wordsOfVariables = ({ everywhere }: Invocation, session: Session | undefined): readonly TypedWord[] =>
  everywhereOptions.flatMap((spec) => {
    const name = VARIABLES.get(spec.flag);
    if (session === undefined || name === undefined || everywhere.has(spec.flag)) return [];
    const word = variable(session.environment, name);
    return word === undefined ? [] : [{ word, spec, variable: name }];
  });

/** Whether a text contains the word as a whole. */
function mentions(text: string, word: string): boolean {
  const at = text.indexOf(word);
  if (at < 0 || word === '') return false;
  const around = [text.charAt(at - 1), text.charAt(at + word.length)];
  return around.every((character) => !/[\w-]/.test(character));
}

function typedWords({ command, given, everywhere }: Invocation): readonly TypedWord[] {
  const ofArguments = given.arguments.flatMap((word, index) => {
    const spec = command.arguments[index] ?? command.arguments.findLast(({ many }) => many);
    return spec === undefined ? [] : [{ word, spec }];
  });
  const ofOptions = (specs: readonly OptionSpec[], options: ReadonlyMap<string, OptionValue>) =>
    specs.flatMap((spec) => textsOption(options, spec.flag).map((word) => ({ word, spec })));
  return [
    ...ofArguments,
    ...ofOptions(command.options, given.options),
    ...ofOptions(everywhereOptions, everywhere),
  ];
}

async function nearNames(
  session: Session,
  invocation: Invocation,
  runner: Runner,
  { word, spec }: TypedWord,
): Promise<readonly string[]> {
  const kind = await listedFor(invocation, spec);
  const listing = kind === undefined ? undefined : await listingRunner(session, runner);
  if (kind === undefined || listing === undefined) return [];
  const list = new NameList(listing, kind);
  const trimmed = trimSlashes(word);
  const near = nearest(trimmed, await list.near(trimmed));
  const others = invocation.given.arguments.filter((other) => other !== word && other !== '');
  const [value] = others;
  if (near.length > 0 || value === undefined || others.length > 1 || !isFirst(invocation, spec)) return near;
  return exchanged(value, list);
}

/** Whether an argument is the first one of a command that takes one value after it. */
const isFirst = ({ command: { arguments: specs } }: Invocation, spec: TypedWord['spec']): boolean =>
  spec === specs[0] && specs.length === 2 && specs[1]?.offers !== spec.offers;

/** Returns a value that is an existing name, as if NAME and VALUE had been exchanged; otherwise none. */
const exchanged = async (value: string, list: NameList): Promise<readonly string[]> =>
  (await list.has(value)) ? [value] : [];

/**
 * Asks about new names that are nearly existing ones.
 * @param value as for `existingNear`
 * @returns whether all are meant as they are
 */
export async function isMeant(
  session: Session,
  runner: Runner,
  made: readonly NewName[],
  value: string | undefined,
): Promise<boolean> {
  for (const wanted of made) {
    const near = await existingNear(session, runner, wanted, value);
    const doubt = near.length > 0 ? meantText(near) : await asWorkspace(session, runner, wanted);
    const question = `Create ${wanted.kind} ${wanted.name}? It does not exist; ${doubt}`;
    if (doubt !== undefined && !(await session.confirmed(async () => question))) return false;
  }
  return true;
}

/**
 * Maximum number of names that a created one is compared with: a loop that creates many keys would otherwise list all of
 * them for each.
 */
export const MAX_COMPARED = 1000;

/**
 * Says what was created because its name did not exist, and which existing name was probably meant.
 * @param near further argument, as for `existingNear`; undefined if the user was asked about near names before
 * @param mount default: that of the runner
 */
export async function sayCreated(
  session: Session,
  created: readonly NewName[],
  near: { readonly value?: string | undefined } | undefined,
  mount?: string,
): Promise<void> {
  if (session.settings.quiet) return;
  const runner = await session.runner();
  const nearOf = (one: NewName) =>
    existingNear(session, runner, { ...one, mount, most: MAX_COMPARED }, near?.value);
  const meant = near === undefined ? [] : await Promise.all(created.map(nearOf));
  const others = meant.flat().filter((name) => !created.some((one) => one.name === name));
  const [first, ...more] = created.map(({ kind, name }, at) => (at === 0 ? `${kind} ${name}` : name));
  const names = more.length === 0 ? first : `${first?.replace(' ', 's ')}, ${more.join(', ')}`;
  const wrong = await Promise.all(
    near === undefined ? [] : created.map((one) => asWorkspace(session, runner, one)),
  );
  const doubt = others.length > 0 ? meantText(others) : wrong.find((text) => text !== undefined);
  session.say(`Created ${names}, which did not exist${doubt === undefined ? '.' : `; ${doubt}`}`);
}

/** Returns the command that adds tags to several workspaces, if a new tag has the name of a workspace. */
async function asWorkspace(
  session: Session,
  runner: Runner,
  { kind, name }: NewName,
): Promise<string | undefined> {
  const listing = kind === 'tag' ? await listingRunner(session, runner) : undefined;
  if (listing === undefined) return undefined;
  const list = await namesOf(listing, 'workspace');
  return (await list.has(name).catch(() => false))
    ? `${name} is the name of a workspace: to tag several workspaces, use "coffer tags attach TAG --workspace WS WS"`
    : undefined;
}

/** Name to compare with existing ones. */
interface WantedName extends NewName {
  /** Default: that of the runner. */
  readonly mount?: string | undefined;
  /** Maximum number of existing names; if there are more, none is near. Default: any number. */
  readonly most?: number;
}

/**
 * Returns the existing names of a kind of resource that are similar to a name.
 * @param value further argument, which is returned if it is an existing name: both may have been exchanged
 * @returns an empty list if no name is similar, or if the caller may not list them
 */
export async function existingNear(
  session: Session,
  runner: Runner,
  { kind, name, mount, most }: WantedName,
  value?: string,
): Promise<readonly string[]> {
  const listing = await listingRunner(session, runner, mount);
  if (listing === undefined) return [];
  const list = await namesOf(listing, kind, most);
  const found = await list.near(name).catch(() => []);
  const near = nearest(
    name,
    found.filter((other) => other !== name),
  );
  return near.length > 0 || value === undefined || value === ''
    ? near
    : exchanged(value, list).catch(() => []);
}
