import { expect, it } from 'vitest';
import { type Fact, takesOut } from '../../src/team/fact.ts';
import { givenTo, type Judgement, judge, pastOf } from '../../src/team/judge/judge.ts';
import { isLong, rounds } from '../long.ts';
import { seeded } from '../seeded.ts';
import { expectSameVerdict } from './second-judge.ts';
import { World } from './world.ts';

/** How many acts follow each other: 18 and a merge are possible at each step. */
const DEPTH = isLong ? 4 : 2;
/** What each of two branches has. */
type Branches = readonly [ReadonlySet<Fact>, ReadonlySet<Fact>];

const headsOf = (branch: ReadonlySet<Fact>): readonly Fact[] => {
  const followed = new Set([...branch].flatMap(({ after }) => after));
  return [...branch].filter(({ id }) => !followed.has(id));
};
const judged = (world: World, seen: readonly string[] = []): Judgement =>
  judge(world.facts, world.first.id, () => true, seen);
const ids = (facts: Iterable<{ readonly id: string }>): readonly string[] =>
  [...facts].map(({ id }) => id).sort();

/** Removals that a machine has seen that trusts a fact: those that it follows, the earlier ones first, and what was seen before. */
const seenBy = (
  state: Pick<Judgement, 'good' | 'line'>,
  pin: Fact,
  before: readonly string[],
): readonly string[] => {
  const past = pastOf(state.good, pin.id);
  const first = state.line.filter((fact) => takesOut(fact) && (fact === pin || past.has(fact.id)));
  const seen = first.map(({ id }) => id);
  return [...seen, ...before.filter((id) => !seen.includes(id))];
};

/** Whether at most so many IDs end all disputes: whoever was asked in person trusts one of the removals that quarrel, and another one if some still do. */
function isEnded(world: World, found: Judgement, seen: readonly string[], left: number): boolean {
  if (found.quarrels.length === 0) return found.cards.length > 0;
  if (left === 0) return false;
  return found.quarrels.some((fact) => {
    const next = seenBy(found, fact, seen);
    return isEnded(world, judged(world, next), next, left - 1);
  });
}

/** What a machine shows that has seen removals, as far as it is about facts that are not in doubt. */
const shown = (state: Judgement, without: ReadonlySet<string>) => ({
  cards: ids(state.cards),
  valid: ids(state.valid.values()).filter((id) => !without.has(id)),
  quarrels: ids(state.quarrels),
  believed: ids(state.believed),
});

it('all that three admins may do on two branches leaves somebody who leads on, and no root key that who left was given; and nothing that who left signs afterwards changes anything', () => {
  const world = new World();
  const people = [world.first, world.member(world.first, 'bob'), world.member(world.first, 'carol')];
  let [count, silent] = [0, 0];

  /** A machine has seen a removal and what it follows. Whoever is gone there, and still is after more was pulled, signs in vain. */
  const checkSilence = ({ good, line }: Judgement): void => {
    for (const removal of line.filter(takesOut)) {
      const past = pastOf(good, removal.id);
      const had = [...world.facts].filter(([id, { card }]) => past.has(id) || id === removal.id || card);
      const seen = seenBy({ good, line }, removal, []);
      const before = judge(new Map(had), world.first.id, () => true, seen);
      if (before.quarrels.length > 0 || !before.valid.has(removal.id)) continue;
      for (const { id: out } of removal.without) {
        const late = line.filter(
          ({ id, by, card }) => by === out && !card && !past.has(id) && id !== removal.id,
        );
        const theirs = new Set(late.map(({ id }) => id));
        // Whoever followed it took it for good.
        const isAlone = line.every(
          ({ id, after }) => theirs.has(id) || !after.some((one) => theirs.has(one)),
        );
        if (theirs.size === 0 || !isAlone || !before.gone.has(out)) continue;
        const less = new Map([...world.facts].filter(([id]) => !theirs.has(id)));
        const expected = judge(less, world.first.id, () => true, seen);
        if (!expected.gone.has(out) && expected.quarrels.length === 0) continue;
        expect(shown(judged(world, seen), theirs)).toEqual(shown(expected, theirs));
        silent++;
      }
    }
  };

  const check = (): void => {
    const state = judged(world);
    checkSilence(state);
    for (const { id } of state.believed)
      expect([...givenTo(state, id)].filter((card) => state.gone.has(card))).toEqual([]);
    expect(isEnded(world, state, [], 1)).toBe(true);
    expect(state.quarrels).not.toHaveLength(1);
    count++;
    expectSameVerdict(state, []);
  };

  /** How many acts were left where branches were met. */
  const met = new Map<string, number>();
  const go = (branches: Branches, depth: number): void => {
    // Acts on two branches lead to the same whichever is first.
    const [first, second] = branches.map((branch) => ids(branch).join());
    const state = `${first} ${second}`;
    if ((met.get(state) ?? -1) >= depth) return;
    met.set(state, depth);
    check();
    if (depth === 0) return;
    // Of two that are the same, it does not matter which goes on.
    for (const [at, branch] of branches.slice(0, first === second ? 1 : 2).entries()) {
      const others = branches[1 - at] ?? new Set();
      const after = headsOf(branch);
      const with_ = (fact: Fact): Branches => {
        const grown = new Set([...branch, fact]);
        return at === 0 ? [grown, others] : [others, grown];
      };
      const acts = people.flatMap((by) => [
        () => world.version(by, 1, { after }),
        ...people
          .filter((out) => out !== by)
          .map(
            (out) => () =>
              world.remove(
                by,
                [out],
                people.filter((one) => one !== out),
                { after },
              ),
          ),
      ]);
      for (const act of acts) {
        // Nobody makes the same on both.
        world.seconds = 1000 * (1 + at) + branch.size;
        const fact = act();
        go(with_(fact), depth - 1);
        world.facts.delete(fact.id);
      }
    }
    const merged = new Set([...branches[0], ...branches[1]]);
    if (merged.size > branches[0].size || merged.size > branches[1].size) go([merged, merged], depth - 1);
  };
  const start = new Set(world.facts.values());
  go([start, start], DEPTH);
  expect(count).toBeGreaterThan(isLong ? 10_000 : 150);
  expect(silent).toBeGreaterThan(isLong ? 1000 : 10);
});

it('every dispute of up to five admins on up to three branches ends with the IDs of a few removals, and leaves somebody who leads on', () => {
  const chance = seeded();
  let disputes = 0;
  for (let round = 0; round < rounds(5000); round++) {
    const world = new World();
    const names = ['bob', 'carol', 'dave', 'erin'].slice(0, 2 + chance.below(3));
    const people = [world.first, ...names.map((name) => world.member(world.first, name))];
    const branches = Array.from({ length: 2 + chance.below(2) }, () => world.heads);
    for (let act = 0; act < 3 + chance.below(6); act++) {
      const by = chance.pick(people);
      const out = people.filter((one) => one !== by && chance.oneIn(3));
      if (out.length === 0) continue;
      const rest = people.filter((one) => !out.includes(one));
      const at = chance.below(branches.length);
      const after = [
        ...new Set([...(branches[at] ?? []), ...(chance.oneIn(4) ? chance.pick(branches) : [])]),
      ];
      branches[at] = [world.remove(by, out, rest, { after })];
    }
    const { line, good } = judged(world);
    const removals = line.filter(takesOut);
    const seen =
      chance.oneIn(2) && removals.length > 0 ? seenBy({ line, good }, chance.pick(removals), []) : [];
    const state = judged(world, seen);
    disputes += Number(state.quarrels.length > 0);
    expect(isEnded(world, state, seen, 3)).toBe(true);
  }
  expect(disputes).toBeGreaterThan(20);
});
