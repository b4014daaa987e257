import {
  type Bits,
  drop,
  each,
  firstInBoth,
  has,
  join,
  joinBut,
  keep,
  meets,
  noBits,
  put,
  without,
} from '../bits.ts';
import { type CardFact, type Fact, isCard, isEpoch, takesOut } from '../fact.ts';

/*
 * Steps 2 to 4 of judging: which removal removes which card, and which removals hold. Everything about removals is a
 * set of epochs, as bits, so that a removed member cannot raise the cost above the number of removals times the number
 * of facts.
 */

/** How often silenced removals are let in at most, so that nobody's chain of them multiplies the time. */
const MOST_ROUNDS = 16;

export interface Removals {
  /** Every good epoch, in order; bits are positions in this list. */
  readonly epochs: readonly Fact[];
  /** Position of an epoch in it. */
  readonly placeOf: ReadonlyMap<string, number>;
  /** Epochs that follow a fact. */
  readonly behind: ReadonlyMap<string, Bits>;
  /** Returns the removals of a card, whether they hold or not. */
  readonly outOf: (card: string) => Bits;
  /** Returns the removals that invalidate a fact. */
  readonly hits: (fact: Fact) => Bits;
  /** Removals that hold. */
  readonly firm: Bits;
  readonly isVoid: Bits;
  /** Removals that hold and remove each other's authors. */
  readonly quarrels: readonly Fact[];
}

/**
 * Judges removals.
 * @param seen IDs of removals known on this machine, in the order in which they were seen
 */
export function judgeRemovals(
  line: readonly Fact[],
  good: ReadonlyMap<string, Fact>,
  seen: readonly string[],
): Removals {
  const epochs = line.filter(isEpoch);
  const count = epochs.length;
  const placeOf = new Map(epochs.map(({ id }, place) => [id, place]));
  const { before, behind } = neighbours(line, placeOf, count);
  const none = noBits(count);
  const bitsOf = (map: ReadonlyMap<string, Bits>, id: string): Bits => map.get(id) ?? none;
  const cards = line.filter(isCard);
  const { out, named } = takenOut(cards, epochs, { good, before, behind });
  const through = throughAuthors(cards, good, out, behind);
  const hits = (fact: Fact): Bits => {
    const found = Int32Array.from(bitsOf(through, fact.by));
    without(found, bitsOf(behind, fact.id));
    const own = placeOf.get(fact.id);
    if (own !== undefined) drop(found, own);
    return found;
  };
  const places = epochs.flatMap((fact, place) => (takesOut(fact) ? [place] : []));
  const { killers, silenced } = killersOf(
    epochs,
    places,
    hits,
    seen.flatMap((id) => placeOf.get(id) ?? []),
  );
  const { isVoid, firm, quarrelling } = settleRemovals(count, places, killers, silenced);
  return {
    epochs,
    placeOf,
    behind,
    outOf: (card) => out.get(card) ?? bitsOf(named, card),
    hits,
    firm,
    isVoid,
    quarrels: quarrelling.flatMap((place) => epochs[place] ?? []),
  };
}

/** Returns the epochs that each fact follows, and those that follow it. */
function neighbours(line: readonly Fact[], placeOf: ReadonlyMap<string, number>, count: number) {
  const before = new Map<string, Bits>();
  const behind = new Map(line.map(({ id }) => [id, noBits(count)]));
  for (const { id, after } of line) {
    const own = noBits(count);
    for (const earlier of after) {
      const theirs = before.get(earlier);
      if (theirs === undefined) continue;
      join(own, theirs);
      const place = placeOf.get(earlier);
      if (place !== undefined) put(own, place);
    }
    before.set(id, own);
  }
  for (const { id, after } of line.toReversed()) {
    const place = placeOf.get(id);
    const own = behind.get(id);
    for (const earlier of after) {
      const theirs = behind.get(earlier);
      if (theirs === undefined || own === undefined) continue;
      join(theirs, own);
      if (place !== undefined) put(theirs, place);
    }
  }
  return { before, behind };
}

/** Returns the marks by which two cards are recognized as the same person's. */
const marksOf = ({ card }: CardFact): readonly string[] => [
  `name ${card.name}`,
  ...card.keys.map((key) => `key ${key}`),
  // A key that decrypts for one card and signs for another is the same key.
  ...(card.sign === undefined ? [] : [`key ${card.sign}`]),
];

interface RemovalOrder {
  readonly good: ReadonlyMap<string, Fact>;
  readonly before: ReadonlyMap<string, Bits>;
  readonly behind: ReadonlyMap<string, Bits>;
}

/**
 * Returns the removals of each card: those that name it, and those that name another card of that person without
 * knowing this one.
 */
function takenOut(
  cards: readonly CardFact[],
  epochs: readonly Fact[],
  { good, before, behind }: RemovalOrder,
) {
  const named = new Map<string, Bits>();
  const byMark = new Map<string, Bits>();
  const add = (map: Map<string, Bits>, key: string, place: number): void => {
    const bits = map.get(key) ?? noBits(epochs.length);
    put(bits, place);
    map.set(key, bits);
  };
  for (const [place, removal] of epochs.entries()) {
    for (const { id } of removal.without) {
      add(named, id, place);
      const card = good.get(id);
      if (isCard(card)) for (const mark of marksOf(card)) add(byMark, mark, place);
    }
  }
  const out = new Map<string, Bits>();
  for (const card of cards) {
    const found = noBits(epochs.length);
    for (const mark of marksOf(card)) {
      const bits = byMark.get(mark);
      if (bits !== undefined) join(found, bits);
    }
    for (const known of [before.get(card.id), behind.get(card.id)])
      if (known !== undefined) without(found, known);
    const own = named.get(card.id);
    if (own !== undefined) join(found, own);
    out.set(card.id, found);
  }
  return { out, named };
}

/** Adds the removals of a card's author, if they did not know the card. */
function throughAuthors(
  cards: readonly CardFact[],
  good: ReadonlyMap<string, Fact>,
  out: ReadonlyMap<string, Bits>,
  behind: ReadonlyMap<string, Bits>,
): ReadonlyMap<string, Bits> {
  const through = new Map<string, Bits>();
  const authorOf = (card: Fact): Fact | undefined => (card.by === card.id ? undefined : good.get(card.by));
  for (const card of cards) {
    const chain: Fact[] = [];
    for (
      let next: Fact | undefined = card;
      next !== undefined && !through.has(next.id);
      next = authorOf(next)
    )
      chain.push(next);
    for (const one of chain.reverse()) {
      const own = Int32Array.from(out.get(one.id) ?? []);
      const above = one.by === one.id ? undefined : through.get(one.by);
      const known = behind.get(one.id);
      if (above !== undefined && known !== undefined) joinBut(own, above, known);
      through.set(one.id, own);
    }
  }
  return through;
}

/**
 * Returns, for each removal, the removals that invalidate it, and those that are silenced: signed by someone whom a
 * removal removed that is known on this machine, earlier than the silenced one if that is known, too. A removal known on
 * this machine is not invalidated by someone whom an earlier one removed.
 */
function killersOf(
  epochs: readonly Fact[],
  places: readonly number[],
  hits: (fact: Fact) => Bits,
  seen: readonly number[],
): { readonly killers: readonly Bits[]; readonly silenced: Bits } {
  const count = epochs.length;
  const killers = epochs.map((fact) => (takesOut(fact) ? hits(fact) : noBits(count)));
  const rank = new Set(seen);
  const silenced = noBits(count);
  const soFar = noBits(count);
  const killersAt = (place: number): Bits => killers[place] ?? noBits(count);
  for (const place of seen) {
    if (meets(killersAt(place), soFar)) put(silenced, place);
    put(soFar, place);
  }
  for (const place of places) if (!rank.has(place) && meets(killersAt(place), soFar)) put(silenced, place);
  const later = noBits(count);
  for (const place of places) put(later, place);
  for (const place of seen) {
    drop(later, place);
    const idle = Int32Array.from(later);
    keep(idle, silenced);
    without(killersAt(place), idle);
  }
  return { killers, silenced };
}

/**
 * Determines which removals are void, and which hold. A silenced removal invalidates others only if it holds although it
 * invalidates none: then everybody who removed its author has lost that right in the meantime. While admins are in
 * dispute, no silenced removal is let in.
 * @see docs/decisions/0318
 */
function settleRemovals(
  count: number,
  places: readonly number[],
  killers: readonly Bits[],
  silenced: Bits,
): Settled {
  const idle = Int32Array.from(silenced);
  for (let round = 1; ; round++) {
    const settled = settleKills(
      count,
      places,
      killers.map((row) => {
        const active = Int32Array.from(row);
        without(active, idle);
        return active;
      }),
    );
    if (round === MOST_ROUNDS || settled.quarrelling.length > 0 || !meets(settled.firm, idle)) return settled;
    without(idle, settled.firm);
  }
}

interface Settled {
  readonly isVoid: Bits;
  readonly firm: Bits;
  /** Removals that hold and invalidate each other. */
  readonly quarrelling: readonly number[];
}

/**
 * Determines which removals are void, and which hold. Removals that invalidate each other, also via others, are a
 * component; components are judged starting from those that nothing invalidates. If a removal that holds invalidates a
 * part of a component, that part invalidates nothing: the rest is divided into components again.
 * @see docs/decisions/0318
 */
function settleKills(count: number, places: readonly number[], killers: readonly Bits[]): Settled {
  const none = noBits(count);
  const at = (rows: readonly Bits[], place: number): Bits => rows[place] ?? none;
  const killed = killers.map(() => noBits(count));
  for (const place of places) each(at(killers, place), (killer) => put(at(killed, killer), place));
  const isVoid = noBits(count);
  const firm = noBits(count);
  const componentOf = new Map<number, Bits>();
  const componentsIn = (members: readonly number[]): readonly (readonly number[])[] =>
    componentsOf(count, members, {
      killersOf: (place) => at(killers, place),
      killedBy: (place) => at(killed, place),
    });
  // A stack, because the rest of a component is judged before the components that follow.
  const work = componentsIn(places).toReversed();
  for (let members = work.pop(); members !== undefined; members = work.pop()) {
    const rest = members.filter((member) => !meets(at(killers, member), firm));
    if (rest.length < members.length) {
      for (const member of members) if (meets(at(killers, member), firm)) put(isVoid, member);
      if (rest.length > 0) work.push(...componentsIn(rest).toReversed());
      continue;
    }
    const component = noBits(count);
    for (const member of members) {
      put(component, member);
      componentOf.set(member, component);
    }
    join(firm, component);
  }
  const quarrelling = places.filter((place) => {
    const component = componentOf.get(place);
    return component !== undefined && meets(at(killed, place), component);
  });
  return { isVoid, firm, quarrelling };
}

interface Kills {
  /** Returns the removals that invalidate one. */
  readonly killersOf: (place: number) => Bits;
  /** Returns the removals that one invalidates. */
  readonly killedBy: (place: number) => Bits;
}

/**
 * Divides removals into components, each after those that invalidate one of it (Kosaraju's two searches, without
 * recursion).
 */
function componentsOf(
  count: number,
  places: readonly number[],
  { killersOf: killers, killedBy }: Kills,
): readonly (readonly number[])[] {
  const left = noBits(count);
  for (const place of places) put(left, place);
  return finishOrder(count, places, killedBy)
    .toReversed()
    .flatMap((start) => {
      if (!has(left, start)) return [];
      drop(left, start);
      const members = [start];
      for (const member of members) {
        const row = killers(member);
        for (let next = firstInBoth(row, left); next >= 0; next = firstInBoth(row, left, next)) {
          drop(left, next);
          members.push(next);
        }
      }
      return [members];
    });
}

/** Returns the removals in the finishing order of a depth-first search along the removals that they invalidate. */
function finishOrder(
  count: number,
  places: readonly number[],
  killedBy: (place: number) => Bits,
): readonly number[] {
  const left = noBits(count);
  for (const place of places) put(left, place);
  const finish: number[] = [];
  for (const start of places) {
    if (!has(left, start)) continue;
    drop(left, start);
    const work = [{ place: start, from: 0 }];
    for (let top = work.at(-1); top !== undefined; top = work.at(-1)) {
      const next = firstInBoth(killedBy(top.place), left, top.from);
      if (next < 0) {
        finish.push(top.place);
        work.pop();
        continue;
      }
      top.from = next;
      drop(left, next);
      work.push({ place: next, from: 0 });
    }
  }
  return finish;
}
