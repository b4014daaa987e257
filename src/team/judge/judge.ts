import { type Bits, each, has, join, keep, meets, noBits, put } from '../bits.ts';
import { type CardFact, type Fact, isCard, isEpoch, isVersion, takesOut, type VersionFact } from '../fact.ts';
import { goodFacts, type IsSigned } from './good.ts';
import { judgeRemovals, type Removals } from './removals.ts';

/**
 * What a set of facts comes to: a pure function of the files and of the removals that were seen on this machine. Nothing that somebody
 * signs who is gone changes anything for who knows it.
 * @see docs/team-format.md
 * @see docs/decisions/0298
 */

/** A version of a key, and whether only those can have written under it who are in. */
export interface JudgedVersion {
  readonly fact: VersionFact;
  readonly isValid: boolean;
  readonly isBelieved: boolean;
}

/** Somebody who was given a root key by an armor. */
export interface Grant {
  readonly epoch: string;
  /** Ids of cards, in the order of the armor. */
  readonly to: readonly string[];
  readonly fact: Fact;
}

/** Something that a fact follows or needs, and that is not there. */
export interface Hole {
  readonly id: string;
  readonly fact: Fact;
  /** Without it nothing can be opened for sure. */
  readonly isGrave: boolean;
}

export interface Judgement {
  readonly store: string;
  readonly facts: ReadonlyMap<string, Fact>;
  readonly good: ReadonlyMap<string, Fact>;
  /** Good ones, each after those that it follows. */
  readonly line: readonly Fact[];
  readonly valid: ReadonlyMap<string, Fact>;
  /** What is not believed, by its path, and why. */
  readonly refused: ReadonlyMap<string, string>;
  /** Valid facts that say something that is not known here. */
  readonly newer: readonly Fact[];
  /** Who is in. */
  readonly cards: readonly CardFact[];
  /** Ids of cards that are out. */
  readonly gone: ReadonlySet<string>;
  /** Cards that are out though no removal names them. */
  readonly caught: readonly CardFact[];
  /** Removals that hold, and take somebody out. */
  readonly removals: readonly Fact[];
  /** Removals that do not count. */
  readonly undone: readonly Fact[];
  /** Removals of admins by each other: everything stops. */
  readonly quarrels: readonly Fact[];
  readonly holes: readonly Hole[];
  /** Epochs that are good, valid or not. */
  readonly everyEpoch: readonly Fact[];
  /** Epochs whose root key only those have who are in. */
  readonly believed: readonly Fact[];
  /** Valid epochs that no other valid one follows. */
  readonly newest: readonly string[];
  /** Good versions by key, in the order in which they are tried. */
  readonly versions: ReadonlyMap<string, readonly JudgedVersion[]>;
  readonly grants: readonly Grant[];
  /** Removals that were seen here, and are not here now. */
  readonly unseen: readonly string[];
}

/** @param seen ids of removals that are known on this machine, in the order in which they were seen. */
export function judge(
  facts: ReadonlyMap<string, Fact>,
  store: string,
  isSigned: IsSigned,
  seen: readonly string[] = [],
): Judgement {
  const { line, good, refused } = goodFacts(facts, store, isSigned);
  const removals = judgeRemovals(line, good, seen);
  const { epochs, placeOf, firm, isVoid, outOf } = removals;
  const isHeld = (fact: Fact): boolean =>
    fact.kind === 'removal' && takesOut(fact)
      ? has(firm, placeOf.get(fact.id) ?? -1)
      : !meets(removals.hits(fact), firm);
  const valid = new Map(line.filter(isHeld).map((fact) => [fact.id, fact]));
  const all = [...valid.values()];
  const holding = epochs.filter((_, place) => has(firm, place));
  const named = new Set(holding.flatMap((fact) => fact.without.map(({ id }) => id)));
  const cards = line.filter(isCard);
  const caughtOut = cards.filter(({ id }) => valid.has(id) && !named.has(id) && meets(outOf(id), firm));
  const gone = new Set([...named, ...caughtOut.map(({ id }) => id)]);
  const newer = all.filter(({ kind }) => kind === 'newer');
  const grants = all.flatMap(grantsIn);
  const believed = believedEpochs({ all, grants, gone, valid, removals });
  return {
    store,
    facts,
    good,
    line,
    valid,
    refused: new Map([...refused, ...newer.map(({ path, newer: why }) => [path, `is ${why}`] as const)]),
    newer,
    cards: all.filter(isCard).filter(({ id }) => !gone.has(id)),
    gone,
    caught: caughtOut,
    removals: holding,
    undone: epochs.filter((_, place) => has(isVoid, place)),
    quarrels: removals.quarrels,
    holes: all.flatMap((fact) => holesOf(fact, good)),
    everyEpoch: epochs,
    believed,
    newest: newestEpochs(all.filter(isEpoch), removals),
    versions: versionsOf(line, valid, new Set(believed.map(({ id }) => id))),
    grants: line.flatMap(grantsIn),
    unseen: seen.filter((id) => !good.has(id)),
  };
}

function grantsIn(fact: Fact): readonly Grant[] {
  if (fact.armor === '') return [];
  if (fact.kind === 'store') return [{ epoch: fact.id, to: [fact.id], fact }];
  const given = fact.for.map(({ id }) => id);
  if (fact.kind === 'removal') return [{ epoch: fact.id, to: given, fact }];
  return fact.root === undefined
    ? []
    : [{ epoch: fact.root, to: fact.kind === 'slot' ? given : [fact.id], fact }];
}

function holesOf(fact: Fact, good: ReadonlyMap<string, Fact>): readonly Hole[] {
  const missing = (ids: readonly (string | undefined)[], isGrave: boolean): readonly Hole[] =>
    ids.flatMap((id) => (id === undefined || good.has(id) ? [] : [{ id, fact, isGrave }]));
  return [...missing(fact.after, false), ...missing([fact.version?.under, fact.root], true)];
}

/** Whoever made the root key knew of everybody who has left, and nobody who has left was given it. */
function believedEpochs(from: {
  readonly all: readonly Fact[];
  readonly grants: readonly Grant[];
  readonly gone: ReadonlySet<string>;
  readonly valid: ReadonlyMap<string, Fact>;
  readonly removals: Removals;
}): readonly Fact[] {
  const { gone, valid, removals } = from;
  const { epochs, placeOf, behind, firm, outOf } = removals;
  const lost = new Set<string>();
  for (const { epoch, to } of from.grants)
    if (to.some((id) => gone.has(id) || !valid.has(id))) lost.add(epoch);
  const knowing: Bits = noBits(epochs.length).fill(-1);
  for (const id of gone) {
    const reasons = Int32Array.from(outOf(id));
    keep(reasons, firm);
    const knowingThis = noBits(epochs.length);
    each(reasons, (place) => {
      put(knowingThis, place);
      const later = behind.get(epochs[place]?.id ?? '');
      if (later !== undefined) join(knowingThis, later);
    });
    keep(knowing, knowingThis);
  }
  return from.all
    .filter(isEpoch)
    .filter(({ id }) => !lost.has(id) && has(knowing, placeOf.get(id) ?? -1))
    .sort(byId);
}

function newestEpochs(valid: readonly Fact[], { epochs, placeOf, behind }: Removals): readonly string[] {
  const alive = noBits(epochs.length);
  for (const { id } of valid) put(alive, placeOf.get(id) ?? 0);
  return valid
    .filter(({ id }) => !meets(behind.get(id) ?? alive, alive))
    .map(({ id }) => id)
    .sort();
}

const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : 1);

function versionsOf(
  line: readonly Fact[],
  valid: ReadonlyMap<string, Fact>,
  believed: ReadonlySet<string>,
): ReadonlyMap<string, readonly JudgedVersion[]> {
  const judged = line.filter(isVersion).map((fact): JudgedVersion => {
    const isValid = valid.has(fact.id);
    return { fact, isValid, isBelieved: isValid && believed.has(fact.version.under) };
  });
  const byKey = Map.groupBy(judged, ({ fact }) => fact.version.key);
  for (const versions of byKey.values()) {
    versions.sort((a, b) => Number(b.isBelieved) - Number(a.isBelieved) || byId(a.fact, b.fact));
  }
  return byKey;
}

/** The version that values are encrypted with; undefined where none is believed. */
export function bestVersion({ versions }: Judgement, key: string): VersionFact | undefined {
  const believed = (versions.get(key) ?? []).filter(({ isBelieved }) => isBelieved);
  return believed.reduce<VersionFact | undefined>(
    (best, { fact }) => (best === undefined || fact.version.number > best.version.number ? fact : best),
    undefined,
  );
}

/** The number that the next version of a key gets. */
export const nextNumber = ({ versions }: Judgement, key: string): number =>
  1 +
  Math.max(
    0,
    ...(versions.get(key) ?? []).filter(({ isValid }) => isValid).map(({ fact }) => fact.version.number),
  );

/** The keys that have a valid version. */
export const keyNames = ({ versions }: Judgement): readonly string[] =>
  [...versions]
    .filter(([, all]) => all.some(({ isValid }) => isValid))
    .map(([name]) => name)
    .sort();

/** Everybody who was validly given the root key of an epoch. */
export const givenTo = ({ grants, valid }: Judgement, epoch: string): ReadonlySet<string> =>
  new Set(
    grants.filter((grant) => grant.epoch === epoch && valid.has(grant.fact.id)).flatMap(({ to }) => to),
  );

/** Whether a card is of somebody who has left, or never was in. */
export const hasLeft = ({ gone, valid }: Judgement, card: string): boolean =>
  gone.has(card) || !valid.has(card);

/** Everything that a fact follows, as far as it is here. */
export function pastOf(good: ReadonlyMap<string, Fact>, id: string): ReadonlySet<string> {
  const past = new Set<string>();
  const left = [...(good.get(id)?.after ?? [])];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const fact = good.get(next);
    if (fact === undefined || past.has(next)) continue;
    past.add(next);
    left.push(...fact.after);
  }
  return past;
}

/** Valid facts that no other valid one follows: what the next fact follows. @param counts leaves some out. */
export function headsOf(
  { valid }: Judgement,
  counts: (fact: Fact) => boolean = () => true,
): readonly string[] {
  const some = [...valid.values()].filter(counts);
  const followed = new Set(some.flatMap(({ after }) => after));
  return some
    .map(({ id }) => id)
    .filter((id) => !followed.has(id))
    .sort();
}

/** What people are called in messages. */
export const nameOf = ({ facts }: Judgement, card: string): string =>
  facts.get(card)?.card?.name ?? card.slice(0, 8);
