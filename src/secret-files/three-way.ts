import type { ScalarPlace, SecretFile } from './format.ts';
import { spliced } from './splice.ts';

/**
 * Both changes of a file, with all undisputed values made equal. A merge by lines, as in Git, is then left with the
 * rest of the text, and with real conflicts: two values on adjacent lines are not a conflict, and a value that was only
 * re-encrypted has not changed.
 */
interface Aligned {
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
  /** Required source of each name in the merged file. */
  readonly expected: ReadonlyMap<string, string>;
  /** Names that both sides have changed differently. */
  readonly disputed: readonly string[];
}

/**
 * Returns the names with different encrypted values on each side, whose equality cannot be determined without a key.
 */
export function inQuestion(
  base: SecretFile,
  ours: SecretFile,
  theirs: SecretFile,
): readonly [ScalarPlace, ScalarPlace][] {
  const [was, mine, others] = [byName(base), byName(ours), byName(theirs)];
  return [...mine].flatMap(([name, place]): [ScalarPlace, ScalarPlace][] => {
    const other = others.get(name);
    if (other?.sealed === undefined || place.sealed === undefined || isSettled(was.get(name), place, other))
      return [];
    return [[place, other]];
  });
}

const isSettled = (was: ScalarPlace | undefined, ours: ScalarPlace, theirs: ScalarPlace): boolean =>
  ours.source === theirs.source || ours.source === was?.source || theirs.source === was?.source;

/**
 * Aligns both changes.
 * @param equal names of such values that are equal
 */
export function align(
  base: SecretFile,
  ours: SecretFile,
  theirs: SecretFile,
  equal: ReadonlySet<string>,
): Aligned {
  const [was, mine, others] = [byName(base), byName(ours), byName(theirs)];
  const expected = new Map<string, string>();
  const disputed: string[] = [];
  for (const name of new Set([...mine.keys(), ...others.keys()])) {
    const sides = { was: was.get(name), ours: mine.get(name), theirs: others.get(name) };
    const outcome = outcomeOf(sides, equal.has(name));
    if (outcome === 'disputed') disputed.push(name);
    else if (outcome !== undefined) expected.set(name, outcome.source);
  }
  const settled = (file: SecretFile, places: ReadonlyMap<string, ScalarPlace>): string =>
    spliced(
      file,
      new Map(
        [...places].flatMap(([name, place]) => {
          const source = expected.get(name);
          return source === undefined ? [] : [[place, source] as const];
        }),
      ),
    );
  return {
    base: settled(base, was),
    ours: settled(ours, mine),
    theirs: settled(theirs, others),
    expected,
    disputed,
  };
}

/** Returns the merged value of a name; undefined if it is removed. */
function outcomeOf(
  { was, ours, theirs }: Readonly<Record<'was' | 'ours' | 'theirs', ScalarPlace | undefined>>,
  equal: boolean,
): ScalarPlace | 'disputed' | undefined {
  if (ours?.source === theirs?.source || equal) return ours;
  if (ours?.source === was?.source) return theirs;
  if (theirs?.source === was?.source) return ours;
  return 'disputed';
}

/** Whether a merged file has exactly the required values. */
export function isAsExpected(merged: SecretFile, { expected, disputed }: Aligned): boolean {
  const places = byName(merged);
  return (
    disputed.length === 0 &&
    places.size === expected.size &&
    [...expected].every(([name, source]) => places.get(name)?.source === source)
  );
}

/** Groups places by name; duplicate names, which a `.env` file may have, are distinguished by a counter. */
export function byName({ places }: SecretFile): ReadonlyMap<string, ScalarPlace> {
  const found = new Map<string, ScalarPlace>();
  const counts = new Map<string, number>();
  for (const place of places) {
    const count = (counts.get(place.name) ?? 0) + 1;
    counts.set(place.name, count);
    found.set(count === 1 ? place.name : `${place.name}\n${count}`, place);
  }
  return found;
}

/** Side that the lines after a conflict marker belong to. */
const MARKERS: Readonly<Record<string, 'ours' | 'base' | 'theirs' | 'both'>> = {
  '<<<<<<<': 'ours',
  '|||||||': 'base',
  '=======': 'theirs',
  '>>>>>>>': 'both',
};

/** Extracts both texts from one with Git's conflict markers. */
export function sidesOf(text: string): readonly [ours: string, theirs: string] {
  let [ours, theirs] = ['', ''];
  let side: (typeof MARKERS)[string] = 'both';
  for (const line of text.split(/(?<=\n)/)) {
    const marker = MARKERS[/^([<|=>])\1{6}(?=[ \r\n]|$)/.exec(line)?.[0] ?? ''];
    // Outside of a conflict, only its first marker counts.
    if (marker !== undefined && (side !== 'both' || marker === 'ours')) side = marker;
    else {
      if (side === 'ours' || side === 'both') ours += line;
      if (side === 'theirs' || side === 'both') theirs += line;
    }
  }
  return [ours, theirs];
}
