import { nearest } from '../../ground/nearness.ts';
import { formatOf } from '../../secret-files/formats.ts';
import { type Group, isGroup, nodeAt } from '../command.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { ELSEWHERE, INSTEAD } from './elsewhere.ts';
import { IN } from './operation-spec.ts';

/** Verbs with the same meaning in other programs; each group here has at most one of each line. */
const SAME_MEANING: readonly (readonly string[])[] = [
  ['list', 'ls'],
  ['read', 'get', 'show', 'lookup', 'info', 'inspect', 'describe'],
  ['create', 'add', 'write', 'new', 'put'],
  ['delete', 'remove', 'revoke', 'rm', 'del', 'destroy'],
  ['config', 'configure', 'update', 'edit', 'set'],
];

/**
 * Word for another verb in some programs. If there is a command of that name, it opens an editor, and no other verb
 * means that.
 */
const EDITOR = 'edit';

/**
 * Words that mean nothing here, although commands of other programs and of other groups have them: a plausible but
 * wrong command is worse than none.
 */
const NOTHING_HERE: ReadonlySet<string> = new Set(['get', 'info', 'set']);

/** Commands for one value of a file, which some type at the top: nothing else is meant before such a file, or alone. */
const FOR_NAMED_VALUE: ReadonlySet<string> = new Set(['get', 'set', 'unset']);

/** Words for reading, of which the one at the top may mean a key or a value of a file. */
const FOR_READING: ReadonlySet<string> = new Set(['get', 'show', 'describe']);
const FOR_ONE_VALUE = 'secrets get FILE NAME';

/**
 * Commands of a longer path that are meant as often as those of the shortest: a file is encrypted by an
 * envelope, and a tag is added to the pool, or to a workspace.
 */
const ALSO_MEANT: ReadonlyMap<string, string> = new Map([
  ['encrypt', 'transit envelope encrypt'],
  ['decrypt', 'transit envelope decrypt'],
  ['export', 'transit keys export'],
  ['tags add', 'tags attach'],
  ['tags remove', 'tags detach'],
]);

/** Groups with commands for files: for those whose values are encrypted one by one, and for any other. */
const FOR_VALUES = 'secrets ';
const FOR_FILES = 'transit envelope ';
/** Group with commands for keys, which are meant more often than tags and workspaces. */
const FOR_KEYS = 'transit keys ';

/** Word after an unknown one. */
export interface NextWord {
  readonly word?: string | undefined;
  /** Whether it is the path of an existing file. */
  readonly isFile: boolean;
  /** First word after it that is the path of an existing file, if it is none itself. */
  readonly file?: string | undefined;
}

/** Minimum number of letters of a command of which the rest was left out. */
const LEAST_BEGUN = 2;

/** Maximum number of suggestions that are helpful. */
const MOST_PLACES = 3;

/**
 * Returns what was probably meant by a word that a group does not know: the word that other programs have for it, the
 * group's own verb, the same word for several, a command of the group that is nearly spelled so, or else the commands
 * of that name elsewhere in the tree, those of the shortest path. Within a group, only commands at the top and those
 * of the same top group are meant: another group's command of that name does something else. If none has that name, the
 * same is looked up for the nearest name that one has.
 * @param path of the group
 * @param next word after it, for commands of other programs that have two, and for files
 * @returns commands or groups, each as all its words after `coffer`; empty if nothing is certain enough
 */
export function suggestionFor(
  tree: Group,
  path: readonly string[],
  word: string,
  next: NextWord = { isFile: false },
): readonly string[] {
  const meant = suggestionAsSpelled(tree, path, word, next);
  if (meant.length > 0) return meant;
  const near = nearest(word, wordsKnownBelow(tree, path));
  const places = new Set(near.flatMap((spelling) => suggestionAsSpelled(tree, path, spelling, next)));
  return places.size > MOST_PLACES ? [] : [...places];
}

/** Returns the words that a suggestion can be looked up for, and those for which none is certain enough. */
function wordsKnownBelow(tree: Group, path: readonly string[]): readonly string[] {
  const prefix = path.map((word) => `${word} `).join('');
  const elsewhere = [...ELSEWHERE.keys(), ...INSTEAD.keys()]
    .filter((words) => words.startsWith(prefix))
    .map((words) => words.slice(prefix.length))
    .filter((word) => !word.includes(' '));
  const [top] = path;
  const group = top === undefined ? tree : nodeAt(tree, [top]);
  const below = group !== undefined && isGroup(group) ? namesIn(group) : [];
  return [...new Set([...below, ...visibleWords(tree.children), ...elsewhere, ...NOTHING_HERE])];
}

/** Returns the names of all commands and groups. */
const namesIn = ({ children }: Group): readonly string[] => [
  ...visibleWords(children),
  ...Object.values(children).flatMap((node) => (isGroup(node) ? namesIn(node) : [])),
];

/** Returns the same without a regard for slips of the finger, except in names of the group itself. */
function suggestionAsSpelled(
  tree: Group,
  path: readonly string[],
  word: string,
  next: NextWord,
): readonly string[] {
  const group = nodeAt(tree, path);
  const known = group !== undefined && isGroup(group) ? group.children : {};
  const here = (own: string): readonly string[] => [[...path, own].join(' ')];
  if (Object.hasOwn(known, `${word}s`)) return here(`${word}s`);
  const words = [...path, word];
  const ofFile = next.isFile && next.word !== undefined && formatOf(next.word) !== undefined;
  if (path.length === 0 && FOR_NAMED_VALUE.has(word)) {
    if (ofFile) return [`${FOR_VALUES}${word} ${shellWord(next.word)} NAME`];
    if (next.word === undefined) return [`${FOR_VALUES}${word}`];
    // With dotenvx, the name comes first: get NAME -f FILE.
    if (next.file !== undefined && formatOf(next.file) !== undefined)
      return [`${FOR_VALUES}${word} ${[next.file, next.word].map(shellWord).join(' ')}`];
  }
  if (path.length === 0 && word === 'show' && ofFile) {
    const file = shellWord(next.word);
    return [`${FOR_VALUES}list ${file}`, `${FOR_VALUES}decrypt ${file} --stdout`];
  }
  const elsewhere = ELSEWHERE.get([...words, next.word ?? ''].join(' ')) ?? ELSEWHERE.get(words.join(' '));
  if (elsewhere !== undefined) {
    const there = elsewhere.find((place) => nodeAt(tree, commandIn(place)) !== undefined);
    if (there === undefined) return [];
    const isNamed = WITH_NAME.has(words.join(' ')) && next.word !== undefined;
    return [isNamed ? `${there} ${shellWord(next.word)}` : there];
  }
  if (path.length === 0 && FOR_READING.has(word) && !next.isFile)
    return [`${FOR_KEYS}read${next.word === undefined ? '' : ` ${shellWord(next.word)}`}`, FOR_ONE_VALUE];
  const meaning = path.length === 0 ? undefined : SAME_MEANING.find((same) => same.includes(word));
  if (meaning !== undefined) {
    const own = meaning.find((same) => same !== EDITOR && Object.hasOwn(known, same));
    const also = ALSO_MEANT.get(words.join(' '));
    return own === undefined ? [] : [...here(own), ...(also === undefined ? [] : [also])];
  }
  if (NOTHING_HERE.has(word)) return [];
  const near = nearest(word, visibleWords(known)).flatMap(here);
  if (near.length > 0) return near;
  const begun = word.length < LEAST_BEGUN ? [] : visibleWords(known).filter((own) => own.startsWith(word));
  if (begun.length === 1) return begun.flatMap(here);
  const places = placesOf(tree, word, []).filter(
    ([top = '', ...below]) => path.length === 0 || below.length === 0 || top === path[0],
  );
  const depth = Math.min(...places.map(({ length }) => length));
  const shortest = places.filter(({ length }) => length === depth).map((place) => place.join(' '));
  const also = path.length === 0 ? ALSO_MEANT.get(word) : undefined;
  const meant =
    also === undefined || !places.some((place) => place.join(' ') === also)
      ? shortest
      : also.startsWith(FOR_KEYS)
        ? [also, ...shortest]
        : [...shortest, also];
  if (meant.length > MOST_PLACES) return [];
  if (also?.startsWith(FOR_FILES) !== true) return meant;
  if (next.isFile && next.word !== undefined) return forFile(word, next.word);
  return next.file === undefined ? meant : forFile(word, next.file, next.word);
}

/** Words whose commands here take the next word as the name of a key. */
const WITH_NAME: ReadonlySet<string> = new Set([
  'create',
  ...['read', 'get', 'show'].map((word) => `transit ${word}`),
]);

/** Placeholder for the key in a suggestion. */
export const ANY_KEY = 'KEY';

/** Returns the whole commands to encrypt or decrypt a file: first, if its values can be, those for its values. */
function forFile(verb: string, path: string, key?: string): readonly string[] {
  const file = shellWord(path);
  const isEncryption = verb === 'encrypt';
  // In a script, a name alone would be that of the key to decrypt with.
  const whole = `${FOR_FILES}${verb} ${isEncryption ? (key ?? ANY_KEY) : `--${IN}`} ${file}`;
  if (formatOf(path) === undefined) return [whole];
  const withKey = isEncryption && key !== undefined ? ` --key ${key}` : '';
  return [`${FOR_VALUES}${verb} ${file}${withKey}`, whole];
}

/** Returns the words of the command in a suggestion, which may go on with options. */
const commandIn = (place: string): readonly string[] => (place.split(' --', 1)[0] ?? '').split(' ');

const visibleWords = (children: Group['children']): readonly string[] =>
  Object.entries(children).flatMap(([name, node]) => (isGroup(node) || node.hidden !== true ? [name] : []));

/** Returns the paths of all commands and groups of that name. */
function placesOf(group: Group, word: string, path: readonly string[]): readonly (readonly string[])[] {
  return Object.entries(group.children).flatMap(([name, node]) => {
    if (!isGroup(node) && node.hidden === true) return [];
    const here = [...path, name];
    const inside = isGroup(node) ? placesOf(node, word, here) : [];
    return name === word ? [here, ...inside] : inside;
  });
}
