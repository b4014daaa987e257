import { type Fact, isCard, isVersion } from '../fact.ts';

/** Which facts are good, each by itself and with its author: the first step of judging. */

/** Whether a signature is the one of a fact by a key. It may know that from before. */
export type IsSigned = (fact: Fact, sign: string) => boolean;

export interface GoodFacts {
  /** Each comes after those that it follows. */
  readonly line: readonly Fact[];
  readonly good: ReadonlyMap<string, Fact>;
  /** Why others are not, by their paths. */
  readonly refused: ReadonlyMap<string, string>;
}

/** @param store the id of the first fact of the keyring that is meant. */
export function goodFacts(facts: ReadonlyMap<string, Fact>, store: string, isSigned: IsSigned): GoodFacts {
  const refused = new Map<string, string>();
  const verdicts = new Map<string, string | undefined>();
  for (const fact of facts.values()) {
    // Authors first, without recursion: somebody may have made a long chain of them.
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
      verdicts.set(one.id, weaknessOf(one, facts, verdicts, store, isSigned));
  }
  for (const fact of facts.values()) {
    const why = verdicts.get(fact.id);
    if (why !== undefined) refused.set(fact.path, why);
  }
  const good = new Map([...facts].filter(([id]) => verdicts.has(id) && verdicts.get(id) === undefined));
  const order = inOrder(good);
  for (const fact of skipping(order, good)) {
    good.delete(fact.id);
    refused.set(fact.path, 'skips numbers');
  }
  return { line: order.filter(({ id }) => good.has(id)), good, refused };
}

function weaknessOf(
  fact: Fact,
  facts: ReadonlyMap<string, Fact>,
  verdicts: ReadonlyMap<string, string | undefined>,
  store: string,
  isSigned: IsSigned,
): string | undefined {
  if (fact.store !== store) return 'belongs to another keyring';
  const author = facts.get(fact.by);
  if (author === undefined) return 'has an author whose card is not here';
  const isJudged = author === fact || (verdicts.has(author.id) && verdicts.get(author.id) === undefined);
  if (!isCard(author) || author.card.sign === undefined || !isJudged) return 'has an author who is no admin';
  for (const { id, name } of fact.references) {
    const named = facts.get(id);
    if (named === undefined) continue;
    if (!isCard(named)) return `takes a file that is no card for the one of ${name}`;
    if (named.card.name !== name) return `calls ${named.card.name} ${name}`;
  }
  return isSigned(fact, author.card.sign) ? undefined : `is not signed by ${author.card.name}`;
}

/** Each fact after those that it follows. */
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
 * Versions whose number is more than one above those of their key that they follow: somebody could use numbers up. It is not asked of what
 * follows something that is missing.
 */
function skipping(order: readonly Fact[], good: ReadonlyMap<string, Fact>): readonly Fact[] {
  const whole = new Set<string>();
  for (const { id, after } of order) if (after.every((before) => whole.has(before))) whole.add(id);
  const skips = new Set<Fact>();
  const asked = new Set(
    order
      .filter(isVersion)
      .filter(({ version }) => version.number > 1)
      .map(({ version }) => version.key),
  );
  for (const key of asked) {
    const highest = new Map<string, number>();
    for (const fact of order) {
      let high = 0;
      for (const id of fact.after) high = Math.max(high, highest.get(id) ?? 0);
      if (isVersion(fact) && fact.version.key === key) {
        if (fact.version.number > high + 1 && whole.has(fact.id)) skips.add(fact);
        else high = Math.max(high, fact.version.number);
      }
      highest.set(fact.id, high);
    }
  }
  return [...skips].filter(({ id }) => good.has(id));
}
