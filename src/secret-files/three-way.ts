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
  /** Required source of each name in the merged file; a removed name has none. */
  readonly expected: ReadonlyMap<string, string>;
  /** Names that both sides have changed differently. */
  readonly disputed: readonly string[];
}

/** Places of a name in the three versions of a file. */
interface Sides {
  readonly was: ScalarPlace | undefined;
  readonly ours: ScalarPlace | undefined;
  readonly theirs: ScalarPlace | undefined;
}

/** Returns the places of each name that one of both changes still has. */
function sidesByName(base: SecretFile, ours: SecretFile, theirs: SecretFile): ReadonlyMap<string, Sides> {
  const [was, mine, others] = [byName(base), byName(ours), byName(theirs)];
  return new Map(
    [...new Set([...mine.keys(), ...others.keys()])].map((name) => [
      name,
      { was: was.get(name), ours: mine.get(name), theirs: others.get(name) },
    ]),
  );
}

/**
 * Returns the values of which only a key can tell whether both sides have changed them: those that are different
 * ciphertexts on both sides, and none of them that of the base; or that one side encrypted again and the other removed.
 * A side where a value is readable is not compared with a ciphertext, because it could win over an encryption.
 */
export function inQuestion(base: SecretFile, ours: SecretFile, theirs: SecretFile): readonly Sides[] {
  const isSealed = (place: ScalarPlace | undefined): boolean =>
    place === undefined || place.sealed !== undefined;
  return [...sidesByName(base, ours, theirs).values()].filter(
    (sides) =>
      isSealed(sides.ours) && isSealed(sides.theirs) && outcomeOf(sides, hasSameSource) === 'disputed',
  );
}

/** Plaintexts of values in question, as far as they are known. */
export type Plaintexts = ReadonlyMap<ScalarPlace, string>;
type IsSame = (one: ScalarPlace | undefined, other: ScalarPlace | undefined) => boolean;

const hasSameSource: IsSame = (one, other) => one?.source === other?.source;

/** Returns whether two places have the same value: the same text, or ciphertexts of the same plaintext. */
const sameBy =
  (plaintexts: Plaintexts): IsSame =>
  (one, other) => {
    if (one === undefined || other === undefined) return one === other;
    const plaintext = plaintexts.get(one);
    return hasSameSource(one, other) || (plaintext !== undefined && plaintext === plaintexts.get(other));
  };

/** Whether the plaintexts tell that both sides have the same value. */
export const areEqual = ({ ours, theirs }: Sides, plaintexts: Plaintexts): boolean =>
  sameBy(plaintexts)(ours, theirs);

/**
 * Aligns both changes.
 * @param plaintexts those of the values in question
 */
export function align(
  base: SecretFile,
  ours: SecretFile,
  theirs: SecretFile,
  plaintexts: Plaintexts,
): Aligned {
  const expected = new Map<string, string>();
  // For values that one side removed: with the source of the other side in the base, that side has not changed the line.
  const removed = new Map<string, string>();
  const disputed: string[] = [];
  for (const [name, sides] of sidesByName(base, ours, theirs)) {
    const outcome = outcomeOf(sides, sameBy(plaintexts));
    if (outcome === 'disputed') disputed.push(name);
    else if (outcome !== undefined) expected.set(name, outcome.source);
    else removed.set(name, (sides.ours ?? sides.theirs)?.source ?? '');
  }
  const settled = (file: SecretFile): string =>
    spliced(
      file,
      new Map(
        [...byName(file)].flatMap(([name, place]) => {
          const source = expected.get(name) ?? removed.get(name);
          return source === undefined ? [] : [[place, source] as const];
        }),
      ),
    );
  return { base: settled(base), ours: settled(ours), theirs: settled(theirs), expected, disputed };
}

/** Returns the merged value of a name; undefined if it is removed. */
function outcomeOf({ was, ours, theirs }: Sides, isSame: IsSame): ScalarPlace | 'disputed' | undefined {
  if (isSame(ours, theirs)) return newerOf(ours, theirs);
  if (isSame(ours, was)) return theirs;
  if (isSame(theirs, was)) return ours;
  return 'disputed';
}

/** Returns the ciphertext with the newer version of the same key, so that a merge does not undo a rotation. */
function newerOf(ours: ScalarPlace | undefined, theirs: ScalarPlace | undefined): ScalarPlace | undefined {
  const [mine, others] = [ours?.sealed, theirs?.sealed];
  if (mine === undefined || others === undefined) return ours;
  const isOfSameKey = mine.key === others.key && mine.mount === others.mount;
  return isOfSameKey && others.version > mine.version ? theirs : ours;
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
