import { nearest } from '../../ground/nearness.ts';
import { type Group, isGroup, nodeAt } from '../command.ts';
import { shellWord } from '../terminal/shell-word.ts';

/** Finds the whole command that was meant by words that are all right, but in another order or group. */

/** Groups of commands for what other programs name behind the verb: `describe key orders`. */
const NOUNS: ReadonlyMap<string, readonly string[]> = new Map([
  ['key', ['transit', 'keys']],
  ['policy', ['policy']],
  ['tag', ['tags']],
  ['workspace', ['workspaces']],
]);

/** Returns the group of commands for what a word of another program names, in the singular or plural. */
export const groupOf = (word: string): readonly string[] | undefined => NOUNS.get(word.replace(/s$/, ''));

const READING: ReadonlySet<string> = new Set(['get', 'show', 'describe']);

/** Words of other programs for deleting, which no group at the top has. */
const DELETING: ReadonlySet<string> = new Set(['rm', 'del', 'remove']);

/**
 * Returns the hint with the whole command that was meant by an unknown word and those after it.
 * @param path words of the group that does not know the word
 * @param words the unknown word, and the words after it
 * @returns undefined if the order of the words is not the mistake
 */
export function wholeCommand(
  tree: Group,
  path: readonly string[],
  words: readonly string[],
): string | undefined {
  const [word = '', name, ...others] = words;
  if (name === undefined || name === '' || [word, name].some((text) => text.startsWith('-')))
    return undefined;
  const place = path.join(' ');
  if (place === 'store' && (word === 'check' || word === 'doctor'))
    return command(['store', 'verify'], [name]);
  if (place === 'workspaces' && word === 'of') return command(['workspaces', 'list', '--where-tag'], [name]);
  if (place === '' && DELETING.has(word))
    return command([name.includes(':') ? 'tags' : 'transit keys', 'delete'], [name]);
  const group = nodeAt(tree, path);
  if (group === undefined || !isGroup(group)) return undefined;
  const ofNoun = [name, `${name}s`].find((noun) => hasCommand(group, noun, word));
  if (ofNoun !== undefined) return command([...path, ofNoun, word], others);
  const noun = groupOf(name);
  const verb = READING.has(word) ? 'read' : word;
  if (path.length === 0 && noun !== undefined && others.length > 0 && hasCommand(tree, ...noun, verb))
    return command([...noun, verb], others);
  const isName = path.length > 0 && nearest(word, Object.keys(group.children)).length === 0;
  const isKind = path[0] === 'auth' && OF_LOGINS.test(word) && others.length > 0;
  const rest = isKind ? others : [word, ...others];
  return isName && hasCommand(tree, ...path, name) ? command([...path, name], rest) : undefined;
}

/** What Vault's paths call the entries of a login method, whose commands leave the word out. */
const OF_LOGINS = /^(?:roles?|certs?|users?)$/;

const hasCommand = (group: Group, ...path: readonly string[]): boolean => {
  const node = nodeAt(group, path);
  return node !== undefined && !isGroup(node);
};

const command = (words: readonly string[], others: readonly string[]): string =>
  `did you mean "${['coffer', ...words, ...others.map(shellWord)].join(' ')}"?`;
