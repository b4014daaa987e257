import { type Group, isGroup, nodeAt } from '../command.ts';

/** Verbs that mean one thing in other programs; a group here knows at most one of a line. */
const SAME_MEANING: readonly (readonly string[])[] = [
  ['list', 'ls'],
  ['read', 'get', 'show', 'lookup', 'info', 'inspect', 'describe'],
  ['create', 'add', 'write', 'new', 'put'],
  ['delete', 'remove', 'revoke', 'rm', 'del', 'destroy'],
  ['config', 'configure', 'update', 'edit', 'set'],
];

/** More places than these are no help. */
const MOST_PLACES = 3;

/**
 * What was probably meant by a word that a group does not know: the group's own verb for it, or else the commands of that
 * name elsewhere in the tree, those of the shortest path. Slips of the finger are commander's.
 * @param path of the group.
 * @returns a word of the group, or all words after `coffer`; undefined when there is nothing to suggest.
 */
export function suggestionFor(tree: Group, path: readonly string[], word: string): string | undefined {
  const group = nodeAt(tree, path);
  const known = group !== undefined && isGroup(group) ? group.children : {};
  const meaning = SAME_MEANING.find((words) => words.includes(word));
  if (meaning !== undefined) return meaning.find((same) => Object.hasOwn(known, same));
  const places = placesOf(tree, word, []);
  const depth = Math.min(...places.map(({ length }) => length));
  const nearest = places.filter(({ length }) => length === depth);
  if (nearest.length === 0 || nearest.length > MOST_PLACES) return undefined;
  return nearest.map((place) => place.join(' ')).join(' or ');
}

/** Paths of all commands and groups of that name. */
function placesOf(group: Group, word: string, path: readonly string[]): readonly (readonly string[])[] {
  return Object.entries(group.children).flatMap(([name, node]) => {
    if (!isGroup(node) && node.hidden === true) return [];
    const here = [...path, name];
    const inside = isGroup(node) ? placesOf(node, word, here) : [];
    return name === word ? [here, ...inside] : inside;
  });
}
