import { CofferError, withOtherHint } from '../ground/errors.ts';
import type { Runner } from '../operations/declaration/operation.ts';
import { type Invocation, typedOptions } from './command.ts';
import { type OptionValue, textOption, textsOption } from './given.ts';
import { listingRunner, namesOf } from './listed-names.ts';
import type { Session } from './session.ts';
import { shellWord } from './terminal/shell-word.ts';

/** Kind of what has tags, by its option in `tags attach` and `tags detach`. */
type TaggedKind = 'workspace' | 'key';

/** Names of a command line, as they were probably meant: each kind was given in the place of the other. */
interface Exchanged {
  readonly kind: TaggedKind;
  /** Names in the places of tags. */
  readonly names: readonly string[];
  /** Names in the places of workspaces or keys. */
  readonly tags: readonly string[];
}

/**
 * Returns the error for a tag and a workspace, or a tag and a key, that were exchanged, with the right command. The hint
 * to create the missing tag would create one with the name of the workspace.
 * @returns undefined if the error is about anything else, or if the caller may not list the names
 */
export async function withTagsExchanged(
  error: CofferError,
  invocation: Invocation,
  session: Session | undefined,
  runner: Runner | undefined,
): Promise<CofferError | undefined> {
  const exchanged = exchangedIn(invocation);
  if (exchanged === undefined || session === undefined) return undefined;
  if (runner === undefined) return beforeAStore(error, invocation, exchanged);
  const { kind, names, tags } = exchanged;
  const listing = await listingRunner(session, runner);
  if (listing === undefined) return undefined;
  const named = await namesOf(listing, kind);
  const pool = await namesOf(listing, 'tag');
  // Only names of tags have colons.
  const isTag = async (word: string) => word.includes(':') || pool.has(word);
  const isSure = (await areAll(names, (word) => named.has(word))) && (await areAll(tags, isTag));
  if (!isSure) return undefined;
  const said = `${quoted(names)} ${names.length === 1 ? `is a ${kind}` : `are ${kind}s`} and ${quoted(tags)} ${tags.length === 1 ? 'a tag' : 'tags'}`;
  return new CofferError(error.kind, said, {
    hint: `run "${rightCommand(invocation, exchanged).map(shellWord).join(' ')}"`,
    cause: error,
  });
}

/** Returns the error of a command that refused a name with a colon before it opened a store: keys have no such names. */
function beforeAStore(
  error: CofferError,
  invocation: Invocation,
  exchanged: Exchanged,
): CofferError | undefined {
  const { kind, names, tags } = exchanged;
  const isSure = tags.every((tag) => tag.includes(':')) && !names.some((name) => name.includes(':'));
  if (kind !== 'key' || !isSure || !error.message.startsWith('invalid value')) return undefined;
  return withOtherHint(
    error,
    `the key comes first, then its tags: run "${rightCommand(invocation, exchanged).map(shellWord).join(' ')}"`,
  );
}

const quoted = (words: readonly string[]): string => words.map((word) => `"${word}"`).join(', ');

async function areAll(words: readonly string[], is: (word: string) => Promise<boolean>): Promise<boolean> {
  const found = await Promise.all(words.map((word) => is(word).catch(() => false)));
  return found.every((isFound) => isFound);
}

/** Commands that take a workspace or key first, then tags. */
const NAME_FIRST: Readonly<Record<string, TaggedKind>> = {
  'workspaces tag': 'workspace',
  'workspaces untag': 'workspace',
  'workspaces retag': 'workspace',
  'transit keys tag': 'key',
  'transit keys untag': 'key',
};

/**
 * Returns the names that were given in each other's places (tags, and workspaces or keys); undefined for other commands.
 */
function exchangedIn({ path, given }: Invocation): Exchanged | undefined {
  const command = path.join(' ');
  const [first, ...others] = given.arguments;
  if (first === undefined) return undefined;
  const kind = NAME_FIRST[command];
  if (kind !== undefined) return others.length === 0 ? undefined : { kind, names: others, tags: [first] };
  if (command !== 'tags attach' && command !== 'tags detach') return undefined;
  for (const flag of ['workspace', 'key'] as const) {
    const tags = textsOption(given.options, flag);
    if (tags.length > 0) return { kind: flag, names: given.arguments, tags };
  }
  return undefined;
}

/** Returns the words of the command that was meant. */
function rightCommand(
  { path, command, given, everywhere }: Invocation,
  { kind, names, tags }: Exchanged,
): readonly string[] {
  const organization = textOption(everywhere, 'org');
  const org = organization === undefined ? [] : ['--org', organization];
  // Some commands have this option themselves.
  const withOrganization = (options: readonly string[]): readonly string[] =>
    options.includes('--org') ? options : [...options, ...org];
  const [name = '', ...more] = names;
  if (path[0] === 'tags') {
    const options = new Map<string, OptionValue>(given.options).set(kind, names);
    return ['coffer', ...path, ...tags, ...withOrganization(typedOptions(command, options))];
  }
  if (more.length === 0)
    return ['coffer', ...path, name, ...tags, ...withOrganization(typedOptions(command, given.options))];
  const act = path.at(-1) === 'untag' ? 'detach' : 'attach';
  return ['coffer', 'tags', act, ...tags, `--${kind}`, ...names, ...org];
}
