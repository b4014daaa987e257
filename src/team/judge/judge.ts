import { type Bits, each, has, join, keep, meets, noBits, put } from '../bits.ts';
import { type CardFact, type Fact, isCard, isEpoch, isVersion, takesOut, type VersionFact } from '../fact.ts';
import { goodFacts, type IsSigned } from './good.ts';
import { judgeRemovals, type Removals } from './removals.ts';

/**
 * Judges a set of facts: a pure function of the files and of the removals seen on this machine. Nothing signed by a
 * removed member has an effect for a machine that knows the removal.
 * @see docs/team-format.md
 * @see docs/decisions/0298
 */

/** Version of a key, and whether only current members can have encrypted with it. */
export interface JudgedVersion {
  readonly fact: VersionFact;
  readonly isValid: boolean;
  readonly isBelieved: boolean;
}

/** Root key granted to cards by an armor. */
export interface Grant {
  readonly epoch: string;
  /** IDs of cards, in the order of the armor. */
  readonly to: readonly string[];
  readonly fact: Fact;
}

/** Missing fact that another one follows or needs. */
interface Hole {
  readonly id: string;
  readonly fact: Fact;
  /** Whether decryption may fail without it. */
  readonly isGrave: boolean;
}

export interface Judgement {
  readonly store: string;
  readonly facts: ReadonlyMap<string, Fact>;
  readonly good: ReadonlyMap<string, Fact>;
  /** Good facts, each after those that it follows. */
  readonly line: readonly Fact[];
  readonly valid: ReadonlyMap<string, Fact>;
  /** Refused files: paths and reasons. */
  readonly refused: ReadonlyMap<string, string>;
  /** Valid facts of a kind unknown to this version. */
  readonly newer: readonly Fact[];
  /** Cards of current members. */
  readonly cards: readonly CardFact[];
  /** IDs of removed cards. */
  readonly gone: ReadonlySet<string>;
  /** Cards that are removed although no removal names them. */
  readonly caught: readonly CardFact[];
  /** Removals that hold, and remove a card. */
  readonly removals: readonly Fact[];
  /** Removals that have no effect. */
  readonly undone: readonly Fact[];
  /** Removals of admins by each other, which block all changes. */
  readonly quarrels: readonly Fact[];
  readonly holes: readonly Hole[];
  /** Good epochs, valid or not. */
  readonly everyEpoch: readonly Fact[];
  /** Epochs whose root key only current members have. */
  readonly believed: readonly Fact[];
  /** Valid epochs that no other valid one follows. */
  readonly newest: readonly string[];
  /** Good versions by key, in the order in which they are tried. */
  readonly versions: ReadonlyMap<string, readonly JudgedVersion[]>;
  readonly grants: readonly Grant[];
  /** Removals seen on this machine earlier that are missing now. */
  readonly unseen: readonly string[];
}

/**
 * Judges facts.
 * @param seen IDs of removals known on this machine, in the order in which they were seen
 */
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

/** Returns the epochs whose author knew of every removal, and whose root key no removed member was granted. */
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

/** Returns the version to encrypt with; undefined if none is believed. */
export function bestVersion({ versions }: Judgement, key: string): VersionFact | undefined {
  const believed = (versions.get(key) ?? []).filter(({ isBelieved }) => isBelieved);
  return believed.reduce<VersionFact | undefined>(
    (best, { fact }) => (best === undefined || fact.version.number > best.version.number ? fact : best),
    undefined,
  );
}

/** Returns the number of a key's next version. */
export const nextNumber = ({ versions }: Judgement, key: string): number =>
  1 +
  Math.max(
    0,
    ...(versions.get(key) ?? []).filter(({ isValid }) => isValid).map(({ fact }) => fact.version.number),
  );

/** Returns the keys that have a valid version. */
export const keyNames = ({ versions }: Judgement): readonly string[] =>
  [...versions]
    .filter(([, all]) => all.some(({ isValid }) => isValid))
    .map(([name]) => name)
    .sort();

/** Returns all cards with a valid grant of an epoch's root key. */
export const givenTo = ({ grants, valid }: Judgement, epoch: string): ReadonlySet<string> =>
  new Set(
    grants.filter((grant) => grant.epoch === epoch && valid.has(grant.fact.id)).flatMap(({ to }) => to),
  );

/** Whether a card was removed, or never was a member's. */
export const hasLeft = ({ gone, valid }: Judgement, card: string): boolean =>
  gone.has(card) || !valid.has(card);

/** Returns everything that a fact follows, as far as it exists. */
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

/**
 * Returns the valid facts that no other valid one follows, which the next fact follows.
 * @param counts filter
 */
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

/** Returns the name of a card, for messages. */
export const nameOf = ({ facts }: Judgement, card: string): string =>
  facts.get(card)?.card?.name ?? card.slice(0, 8);
