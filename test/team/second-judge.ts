import { expect } from 'vitest';
import type { Fact } from '../../src/team/fact.ts';
import type { Judgement } from '../../src/team/judge/judge.ts';

/*
 * Judging once more, from the words of docs/team-format.md, with sets in the place of bits and without a thought for time. It shares nothing
 * with the first but what a fact is.
 */

interface Verdict {
  readonly good: readonly string[];
  readonly valid: readonly string[];
  readonly gone: readonly string[];
  readonly quarrels: readonly string[];
  readonly believed: readonly string[];
  readonly versions: readonly string[];
}

function judgeAgain(facts: ReadonlyMap<string, Fact>, store: string, seen: readonly string[]): Verdict {
  const all = [...facts.values()];
  const isRemoval = (fact: Fact): boolean => fact.kind === 'removal' && fact.without.length > 0;
  const author = (fact: Fact): Fact | undefined => facts.get(fact.by);

  // 1
  const isGoodButForNumbers = (fact: Fact): boolean => {
    const by = author(fact);
    if (fact.store !== store || by?.card?.sign === undefined) return false;
    if (by !== fact && !isGoodButForNumbers(by)) return false;
    return fact.references.every(({ id, name }) => {
      const named = facts.get(id);
      return named === undefined || named.card?.name === name;
    });
  };
  const some = new Map(all.filter(isGoodButForNumbers).map((fact) => [fact.id, fact]));
  const pastIn = (among: ReadonlyMap<string, Fact>, fact: Fact, past = new Set<Fact>()): Set<Fact> => {
    for (const id of fact.after) {
      const before = among.get(id);
      if (before === undefined || past.has(before)) continue;
      past.add(before);
      pastIn(among, before, past);
    }
    return past;
  };
  const skips = (fact: Fact): boolean => {
    if (fact.version === undefined) return false;
    const { key, number } = fact.version;
    const past = [...pastIn(some, fact)];
    if ([fact, ...past].some(({ after }) => after.some((id) => !some.has(id)))) return false;
    const highest = Math.max(
      0,
      ...past
        .filter((other) => other.version?.key === key && !skips(other))
        .map(({ version }) => version?.number ?? 0),
    );
    return number > highest + 1;
  };
  const good = new Map([...some].filter(([, fact]) => !skips(fact)));
  const pasts = new Map([...good.values()].map((fact) => [fact, pastIn(good, fact)]));
  const follows = (later: Fact, earlier: Fact): boolean => pasts.get(later)?.has(earlier) === true;

  // 2
  const removals = [...good.values()].filter(isRemoval);
  const marks = ({ card }: Fact): readonly string[] =>
    card === undefined ? [] : [card.name, ...card.keys, ...(card.sign === undefined ? [] : [card.sign])];
  const takesOut = (removal: Fact, card: Fact): boolean => {
    if (removal.without.some(({ id }) => id === card.id)) return true;
    if (follows(removal, card) || follows(card, removal)) return false;
    return removal.without.some(({ id }) => {
      const named = good.get(id);
      return named !== undefined && marks(named).some((mark) => marks(card).includes(mark));
    });
  };
  const through = (removal: Fact, card: Fact): boolean => {
    if (takesOut(removal, card)) return true;
    const by = good.get(card.by);
    return by !== undefined && by !== card && !follows(removal, card) && through(removal, by);
  };
  const hits = (removal: Fact, fact: Fact): boolean => {
    const by = good.get(fact.by);
    return by !== undefined && through(removal, by) && !follows(removal, fact) && removal !== fact;
  };

  // 3
  const rankOf = (fact: Fact): number => {
    const rank = seen.indexOf(fact.id);
    return rank < 0 ? Number.POSITIVE_INFINITY : rank;
  };
  const kills = (removal: Fact, fact: Fact): boolean => {
    if (!hits(removal, fact)) return false;
    const isKnownBefore = rankOf(fact) < rankOf(removal);
    return !(isKnownBefore && silenced.has(removal));
  };
  const silenced = new Set(
    removals.filter((one) => removals.some((other) => rankOf(other) < rankOf(one) && hits(other, one))),
  );

  // 4
  const roundsWith = (idle: ReadonlySet<Fact>) => {
    const counts = (removal: Fact, fact: Fact): boolean => !idle.has(removal) && kills(removal, fact);
    const firm: Fact[] = [];
    const voided = new Set<Fact>();
    for (let left = removals; left.length > 0; ) {
      const among = left;
      const reaches = (from: Fact, to: Fact, been = new Set<Fact>()): boolean =>
        among.some((next) => {
          if (been.has(next) || !counts(from, next)) return false;
          been.add(next);
          return next === to || reaches(next, to, been);
        });
      const holding = among.filter((one) =>
        among.every((other) => !reaches(other, one) || reaches(one, other)),
      );
      firm.push(...holding);
      for (const one of among) {
        if (!holding.includes(one) && holding.some((other) => counts(other, one))) voided.add(one);
      }
      left = among.filter((one) => !firm.includes(one) && !voided.has(one));
    }
    return { firm, voided, quarrels: firm.filter((removal) => firm.some((other) => counts(removal, other))) };
  };
  let idle = silenced;
  let found = roundsWith(idle);
  for (
    let round = 1;
    round < 16 && found.quarrels.length === 0 && found.firm.some((removal) => idle.has(removal));
    round++
  ) {
    const { firm: holding } = found;
    idle = new Set([...idle].filter((removal) => !holding.includes(removal)));
    found = roundsWith(idle);
  }
  const { firm, voided, quarrels } = found;
  const valid = new Map(
    [...good].filter(([, fact]) =>
      isRemoval(fact) ? !voided.has(fact) : !firm.some((removal) => hits(removal, fact)),
    ),
  );

  // 5
  const named = new Set(firm.flatMap(({ without }) => without.map(({ id }) => id)));
  const cards = [...good.values()].filter(({ card }) => card !== undefined);
  const gone = new Set([
    ...named,
    ...cards
      .filter((card) => valid.has(card.id) && firm.some((removal) => takesOut(removal, card)))
      .map(({ id }) => id),
  ]);

  // 7
  const given = (epoch: Fact): readonly string[] =>
    [...valid.values()].flatMap((fact) => {
      if (fact === epoch) return fact.kind === 'store' ? [fact.id] : fact.for.map(({ id }) => id);
      if (fact.root !== epoch.id) return [];
      return fact.kind === 'member' ? [fact.id] : fact.for.map(({ id }) => id);
    });
  const knowsOf = (epoch: Fact, id: string): boolean => {
    const card = good.get(id);
    return firm.some((removal) => {
      const takes =
        card === undefined ? removal.without.some((out) => out.id === id) : takesOut(removal, card);
      return takes && (removal === epoch || follows(epoch, removal));
    });
  };
  const believed = [...valid.values()]
    .filter(({ kind }) => kind === 'store' || kind === 'removal')
    .filter((epoch) => given(epoch).every((id) => !gone.has(id) && valid.has(id)))
    .filter((epoch) => [...gone].every((id) => knowsOf(epoch, id)))
    .map(({ id }) => id);

  // 8
  const versions = [...valid.values()]
    .filter(({ version }) => version !== undefined && believed.includes(version.under))
    .map(({ id }) => id);
  const sorted = (ids: Iterable<string>): readonly string[] => [...ids].sort();
  return {
    good: sorted(good.keys()),
    valid: sorted(valid.keys()),
    gone: sorted(gone),
    quarrels: sorted(quarrels.map(({ id }) => id)),
    believed: sorted(believed),
    versions: sorted(versions),
  };
}

/** Expects of a judgement what the second judge comes to. @param seen the removals that the machine has seen, in order */
export function expectSameVerdict(
  { facts, store, good, valid, gone, quarrels, believed, versions }: Judgement,
  seen: readonly string[],
): void {
  const ids = (some: Iterable<{ readonly id: string }>): readonly string[] =>
    [...some].map(({ id }) => id).sort();
  expect({
    good: ids(good.values()),
    valid: ids(valid.values()),
    gone: [...gone].sort(),
    quarrels: ids(quarrels),
    believed: ids(believed),
    versions: [...versions.values()]
      .flat()
      .filter(({ isBelieved }) => isBelieved)
      .map(({ fact }) => fact.id)
      .sort(),
  }).toEqual(judgeAgain(facts, store, seen));
}
