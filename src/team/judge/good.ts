import { type Bits, firstInBoth, join, noBits, put } from '../bits.ts';
import { type Fact, isCard, isVersion, type VersionFact } from '../fact.ts';

/** First step of judging: determines which facts are good, each on its own and with its author. */

/** Verifies the signature of a fact by a key; may use cached results. */
export type IsSigned = (fact: Fact, sign: string) => boolean;

/**
 * Determines the good facts.
 * @param store ID of the first fact of the keyring
 */
export function goodFacts(facts: ReadonlyMap<string, Fact>, store: string, isSigned: IsSigned) {
  const refused = new Map<string, string>();
  const verdicts = new Map<string, string | undefined>();
  for (const fact of facts.values()) {
    // Authors first, without recursion: an attacker may have made a long chain of them.
    const chain: Fact[] = [];
    const seen = new Set<string>();
    for (
      let next: Fact | undefined = fact;
      next !== undefined && !verdicts.has(next.id) && !seen.has(next.id);
    ) {
      seen.add(next.id);
      chain.push(next);
      const author: Fact | undefined = facts.get(next.by);
      next = isCard(author) ? author : undefined;
    }
    for (const one of chain.reverse())
      verdicts.set(one.id, weaknessOf(one, facts, { verdicts, store, isSigned }));
  }
  for (const fact of facts.values()) {
    const why = verdicts.get(fact.id);
    if (why !== undefined) refused.set(fact.path, why);
  }
  const good = new Map([...facts].filter(([id]) => verdicts.has(id) && verdicts.get(id) === undefined));
  const order = inOrder(good);
  for (const fact of skipping(order)) {
    good.delete(fact.id);
    refused.set(fact.path, 'skips a version number');
  }
  // The line has each fact after those that it follows; the refused ones are paths and reasons.
  return { line: order.filter(({ id }) => good.has(id)), good, refused };
}

interface JudgingContext {
  readonly verdicts: ReadonlyMap<string, string | undefined>;
  readonly store: string;
  readonly isSigned: IsSigned;
}

function weaknessOf(
  fact: Fact,
  facts: ReadonlyMap<string, Fact>,
  { verdicts, store, isSigned }: JudgingContext,
): string | undefined {
  if (fact.store !== store) return 'belongs to another keyring';
  const author = facts.get(fact.by);
  if (author === undefined) return 'was written by a member whose file in .coffer/members is missing';
  const isJudged = author === fact || (verdicts.has(author.id) && verdicts.get(author.id) === undefined);
  if (!isCard(author) || author.card.sign === undefined || !isJudged)
    return 'has an author that is not a valid admin';
  for (const { id, name } of fact.references) {
    const named = facts.get(id);
    if (named === undefined) continue;
    if (!isCard(named)) return `has an invalid reference to the member ${name}`;
    if (named.card.name !== name) return `gives the member ${named.card.name} the wrong name ${name}`;
  }
  return isSigned(fact, author.card.sign) ? undefined : `is not signed by ${author.card.name}`;
}

/** Sorts facts, each after those that it follows. */
function inOrder(good: ReadonlyMap<string, Fact>): readonly Fact[] {
  const order: Fact[] = [];
  const begun = new Set<string>();
  for (const first of good.values()) {
    if (begun.has(first.id)) continue;
    begun.add(first.id);
    const work = [{ fact: first, next: 0 }];
    for (let top = work.at(-1); top !== undefined; top = work.at(-1)) {
      const id = top.fact.after[top.next++];
      if (id === undefined) {
        order.push(top.fact);
        work.pop();
        continue;
      }
      const before = good.get(id);
      if (before === undefined || begun.has(id)) continue;
      begun.add(id);
      work.push({ fact: before, next: 0 });
    }
  }
  return order;
}

/**
 * Finds versions whose number exceeds those of their key that they follow by more than one: an attacker could use up
 * numbers. Versions that follow a missing fact are not checked.
 */
function skipping(order: readonly Fact[]): readonly Fact[] {
  const whole = new Set<string>();
  for (const { id, after } of order) if (after.every((before) => whole.has(before))) whole.add(id);
  const all = order.filter(isVersion);
  const asked = new Set(all.filter(({ version }) => version.number > 1).map(({ version }) => version.key));
  const versions = all.filter(({ version }) => asked.has(version.key));
  const skips = new Set<VersionFact>();
  // A former member may have created thousands of versions, each of a different key. One pass over the facts for each
  // would be too slow, so each pass processes up to AT_ONCE versions.
  const highest = new Map<string, number>();
  for (let from = 0; from < versions.length; from += AT_ONCE) {
    const some = versions.slice(from, from + AT_ONCE);
    lookThrough(order, some, highest, (fact) => {
      const isNext = fact.version.number <= (highest.get(fact.id) ?? 0) + 1;
      if (!isNext && whole.has(fact.id)) skips.add(fact);
      return !skips.has(fact);
    });
  }
  return [...skips];
}

/** Number of versions processed per pass over the facts. */
const AT_ONCE = 1024;

/**
 * Finds the highest number of the same key among the facts that each version follows, for versions in the order of the
 * facts.
 * @param highest result by ID; complete for the versions before these
 * @param counts whether a version uses up its number: called when everything that it follows is known
 */
function lookThrough(
  order: readonly Fact[],
  some: readonly VersionFact[],
  highest: Map<string, number>,
  counts: (fact: VersionFact) => boolean,
): void {
  // The highest number gets the first position, so that the first one found is the result.
  const placed = some.toSorted((a, b) => b.version.number - a.version.number);
  const placeOf = new Map(placed.map(({ id }, place) => [id, place]));
  const ofKey = new Map<string, Bits>();
  for (const [place, { version }] of placed.entries()) {
    const places = ofKey.get(version.key) ?? noBits(some.length);
    put(places, place);
    ofKey.set(version.key, places);
  }
  const followed = new Map<string, Bits>();
  for (const fact of order) {
    let bits: Bits | undefined;
    let isOwn = false;
    for (const id of fact.after) {
      const before = followed.get(id);
      if (before === undefined || before === bits) continue;
      if (bits === undefined) bits = before;
      else {
        if (!isOwn) bits = Int32Array.from(bits);
        isOwn = true;
        join(bits, before);
      }
    }
    if (isVersion(fact)) {
      const places = ofKey.get(fact.version.key);
      const first = bits === undefined || places === undefined ? -1 : firstInBoth(bits, places);
      const number = placed[first]?.version.number ?? 0;
      if (number > (highest.get(fact.id) ?? 0)) highest.set(fact.id, number);
      const place = placeOf.get(fact.id);
      if (place !== undefined && counts(fact)) {
        bits = bits === undefined ? noBits(some.length) : Int32Array.from(bits);
        put(bits, place);
      }
    }
    if (bits !== undefined) followed.set(fact.id, bits);
  }
}
