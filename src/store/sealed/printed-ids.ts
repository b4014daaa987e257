/**
 * JSON of lists of IDs that were printed. A page of an index is written again for each new ID, and printing its hundreds
 * of IDs takes several times as long as everything else that is done with it.
 */
const printed = new WeakMap<readonly string[], string>();

/** IDs that are printed as they are, and cannot be mistaken for the end of one ID and the beginning of another. */
const PLAIN = /^[\w.-]+$/;

/** Prints the content of an index blob as JSON. */
export function printIndex(content: object): string {
  if (!('ids' in content)) return JSON.stringify(content);
  const ids = content.ids as readonly string[];
  const text = printed.get(ids) ?? JSON.stringify(ids);
  printed.set(ids, text);
  return `{"ids":${text}}`;
}

/** Returns sorted IDs and a new one at its place; its JSON is made from theirs if that is known. */
export function withId(ids: readonly string[], place: number, id: string): readonly string[] {
  // In a copy: `toSpliced` takes 15 times as long for a frozen list.
  const more = [...ids];
  more.splice(place, 0, id);
  const text = printed.get(ids);
  const next = ids[place];
  if (text !== undefined && next !== undefined && PLAIN.test(next) && PLAIN.test(id)) {
    const at = place === 0 ? 0 : text.indexOf(`,"${next}"`);
    printed.set(more, `${text.slice(0, at + 1)}"${id}",${text.slice(at + 1)}`);
  }
  return more;
}
