import { isObject } from '../../ground/objects.ts';
import type { Runner } from '../../operations/declaration/operation.ts';
import { type KindFacts, kindNamed, RESOURCE_KINDS } from '../../operations/declaration/resource-kinds.ts';
import { onlyOrganization } from '../candidates.ts';
import { argument, type Command, type Group, isGroup, takesWord } from '../command.ts';
import { notations } from '../completions/model.ts';
import { DONE } from '../exit-codes.ts';
import { missingOrganization } from '../files/operation-values.ts';
import type { Environment, OptionValue } from '../given.ts';
import { listedKind, NameList, openWithoutAsking } from '../listed-names.ts';
import { everywhereOptions } from '../parse/everywhere.ts';
import { silentCredentials } from '../secrets/unlock.ts';
import { Session } from '../session.ts';
import { visible } from '../terminal/visible.ts';

/** Returns `coffer complete` for a command tree. */
export const completeOf = (tree: Group): Command => ({
  arguments: [
    argument('KIND', 'Kind of resource to list.', {
      choices: [...Object.keys(RESOURCE_KINDS), ...Object.keys(LISTERS)],
    }),
    { metavar: 'WORD', help: 'Words of the command line so far.', required: false, many: true },
  ],
  options: [],
  examples: [],
  /** Prints nothing for an error: a message would appear in the middle of the line being typed. */
  async run(session, { arguments: [kind = '', ...typedWords] }) {
    const words = typedWords.map((word) => inHome(word, session.environment));
    const facts = kindNamed(kind);
    const lister = LISTERS[kind];
    const { streams, environment, prompts } = session;
    const typed = new Session(streams, environment, optionsIn(words), prompts, openQuietly);
    try {
      const line = lister && (await typedLine(tree, words));
      const names = facts
        ? await namesLike(typed, facts, words.at(-1) ?? '')
        : ((line && (await lister(typed, line))) ?? []);
      // Other users chose the names, and control characters could change the terminal.
      const shown = names.filter((name) => visible(name) === name);
      streams.out.write(shown.map((name) => `${name}\n`).join(''));
    } catch {
      // A locked store, an unknown organization or a missing answer: there is nothing to complete.
    } finally {
      await typed.close();
    }
    return DONE;
  },
});

/** Returns a word with the home directory at its start, which shells pass on as it was typed. */
const inHome = (word: string, { HOME }: Environment): string =>
  HOME === undefined ? word : word.replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/)/, () => HOME);

/** Returns the names of a kind that may begin with the typed text, of the only organization if none is named. */
async function namesLike(typed: Session, facts: KindFacts, prefix: string): Promise<readonly string[]> {
  const kind = await listedKind(facts);
  const runner = await typed.runner();
  const isOfOrganization = Object.values(kind.operation.params).some(({ cli }) => cli.flag === 'org');
  const only =
    isOfOrganization && runner.organization === undefined
      ? await onlyOrganization(missingOrganization(), typed)
      : undefined;
  return new NameList(only?.runner ?? runner, kind).containing(prefix.startsWith('-') ? '' : prefix);
}

/** Opens the store or connects to the server, without a secret that a command prints. */
const openQuietly = (session: Session): Promise<Runner> =>
  openWithoutAsking(session, silentCredentials(session.environment));

/** Returns the global options with a value, as far as they were typed; without warnings. */
function optionsIn(words: readonly string[]): ReadonlyMap<string, OptionValue> {
  const found = new Map<string, OptionValue>();
  for (const { flag, takes } of everywhereOptions) {
    if (takes === 'nothing') continue;
    words.forEach((word, index) => {
      const next = words[index + 1];
      if (word === `--${flag}` && next !== undefined) found.set(flag, next);
      if (word.startsWith(`--${flag}=`)) found.set(flag, word.slice(flag.length + 3));
    });
  }
  found.delete('output');
  found.set('quiet', true);
  found.set('no-prompt', true);
  return found;
}

/* Names that depend on what is typed before them, or on the working directory. */

type Lister = (session: Session, line: TypedLine) => Promise<readonly string[]>;

/** Returns the names of the values of the file that the line names. Values are not decrypted. */
const valuesOf: Lister = async (session, { arguments: [path], options }) => {
  if (path === undefined) return [];
  const { Files } = await import('../secret-files/files.ts');
  const { file } = await new Files(session, options).open(path);
  return file.places.map(({ name }) => name);
};

const membersHere: Lister = async ({ environment }) => {
  const { keyringInSight } = await import('../team/memory.ts');
  const cards = keyringInSight(environment)?.cards() ?? [];
  return [...new Set(cards.map(({ card }) => card.name))];
};

/** Returns the versions of the key that the line names. */
const versionsOf: Lister = async (session, { command, arguments: words }) => {
  const name = words[command.arguments.findIndex(({ offers }) => offers === 'key')];
  if (name === undefined) return [];
  const { data } = await (await session.runner()).run('transit keys read', { name });
  const keys = isObject(data) ? data['keys'] : undefined;
  return isObject(keys) ? Object.keys(keys) : [];
};

const signingKeysHere: Lister = async (session) => {
  const { signingKeys } = await import('../signatures/signing-keys.ts');
  return signingKeys(await session.runner());
};

/** Lists by the kind of their names. */
const LISTERS: Readonly<Record<string, Lister>> = {
  'signing-key': signingKeysHere,
  value: valuesOf,
  member: membersHere,
  'key-version': versionsOf,
};

/** Command line that is being typed. */
interface TypedLine {
  readonly command: Command;
  readonly arguments: readonly string[];
  /** Options with a value. */
  readonly options: ReadonlyMap<string, OptionValue>;
}

/**
 * Returns the command line before the word that is being completed; undefined before its command is complete.
 * @param words from `coffer` on, the last one being completed
 */
async function typedLine(tree: Group, words: readonly string[]): Promise<TypedLine | undefined> {
  let place: Group = tree;
  let command: Command | undefined;
  const found: string[] = [];
  const options = new Map<string, OptionValue>();
  const before = words.slice(1, -1);
  for (let at = 0; at < before.length; at += 1) {
    const word = before[at] ?? '';
    if (word.startsWith('-') && word !== '-') {
      const [notation = '', ...value] = word.split('=');
      const spec = [...everywhereOptions, ...(command?.options ?? [])].find((option) =>
        notations(option).includes(notation),
      );
      if (spec === undefined || !takesWord(spec)) continue;
      if (value.length === 0) at += 1;
      options.set(spec.flag, value.length === 0 ? (before[at] ?? '') : value.join('='));
    } else if (command !== undefined) found.push(word);
    else {
      const child = Object.hasOwn(place.children, word) ? place.children[word] : undefined;
      if (child === undefined) return undefined;
      if (isGroup(child)) place = child;
      else command = await child.load();
    }
  }
  return command && { command, arguments: found, options };
}
