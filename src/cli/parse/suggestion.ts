import { type Group, isGroup, nodeAt } from '../command.ts';

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

/** Commands of other programs, with the equivalent ones here; the first that exists is suggested. */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  run: ['exec'],
  'exec-env': ['exec'],
  'exec-file': ['exec'],
  kv: ['secrets', 'transit encrypt'],
  secret: ['secrets', 'transit encrypt'],
  key: ['transit keys'],
  keys: ['transit keys'],
  operator: ['unseal', 'seal', 'init'],
  server: ['serve'],
  generate: ['keygen'],
  'generate-key': ['keygen'],
  updatekeys: ['slots add'],
  passwd: ['slots add'],
  lease: ['token renew'],
  ping: ['health'],
};

const NOTHING: readonly string[] = [];

/** Maximum number of suggestions that are helpful. */
const MOST_PLACES = 3;

/**
 * What was probably meant by a word that a group does not know: the group's own verb for it, the same word for
 * several, what other programs call so, or else the commands of that
 * name elsewhere in the tree, those of the shortest path. Slips of the finger are commander's.
 * @param path of the group.
 * @returns commands or groups, each as all its words after `coffer`; empty for a word that is no slip, but stands for nothing here;
 * undefined for any other.
 */
export function suggestionFor(
  tree: Group,
  path: readonly string[],
  word: string,
): readonly string[] | undefined {
  const group = nodeAt(tree, path);
  const known = group !== undefined && isGroup(group) ? group.children : {};
  const here = (own: string): readonly string[] => [[...path, own].join(' ')];
  if (Object.hasOwn(known, `${word}s`)) return here(`${word}s`);
  const elsewhere = path.length === 0 && Object.hasOwn(ELSEWHERE, word) ? ELSEWHERE[word] : undefined;
  if (elsewhere !== undefined) {
    const there = elsewhere.find((words) => nodeAt(tree, words.split(' ')) !== undefined);
    return there === undefined ? NOTHING : [there];
  }
  const meaning = SAME_MEANING.find((words) => words.includes(word));
  if (meaning !== undefined) {
    const own = meaning.find((same) => same !== EDITOR && Object.hasOwn(known, same));
    return own === undefined ? NOTHING : here(own);
  }
  const places = placesOf(tree, word, []);
  const depth = Math.min(...places.map(({ length }) => length));
  const nearest = places.filter(({ length }) => length === depth);
  if (nearest.length === 0 || nearest.length > MOST_PLACES) return undefined;
  return nearest.map((place) => place.join(' '));
}

/** Returns the paths of all commands and groups of that name. */
function placesOf(group: Group, word: string, path: readonly string[]): readonly (readonly string[])[] {
  return Object.entries(group.children).flatMap(([name, node]) => {
    if (!isGroup(node) && node.hidden === true) return [];
    const here = [...path, name];
    const inside = isGroup(node) ? placesOf(node, word, here) : [];
    return name === word ? [here, ...inside] : inside;
  });
}
