import { describe, expect, it } from 'vitest';
import type { Fact } from '../../src/team/fact.ts';
import { bestVersion, type Judgement, judge, keyNames, nextNumber } from '../../src/team/judge/judge.ts';
import type { Chance } from '../chance.ts';
import { rounds } from '../long.ts';
import { processorMs } from '../processor-time.ts';
import { seeded } from '../seeded.ts';
import { expectSameVerdict } from './second-judge.ts';
import { ageKey, sshKey, World } from './world.ts';

const judged = (world: World, seen: readonly Fact[] = []): Judgement =>
  judge(
    world.facts,
    world.first.id,
    () => true,
    seen.map(({ id }) => id),
  );

const names = ({ cards }: Judgement): readonly string[] => cards.map(({ card }) => card.name).sort();
const ids = (facts: Iterable<{ readonly id: string }>): readonly string[] =>
  [...facts].map(({ id }) => id).sort();

describe('judging the facts of a keyring', () => {
  it('lets in whom an admin added, and believes the first root key', () => {
    const world = new World();
    const bob = world.member(world.first, 'bob');
    world.member(bob, 'carol', { admin: false, key: ageKey('carol') });
    const state = judged(world);
    expect(names(state)).toEqual(['alice', 'bob', 'carol']);
    expect(ids(state.believed)).toEqual([world.first.id]);
  });

  it('believes no fact of a user, of a stranger, or of another keyring', () => {
    const world = new World();
    const carol = world.member(world.first, 'carol', { admin: false, key: ageKey('carol') });
    const own = world.member(carol, 'dave');
    const other = new World('mallory');
    const strange = other.member(other.first, 'mallory');
    for (const fact of [strange, other.first]) world.facts.set(fact.id, fact);
    const state = judged(world);
    expect(names(state)).toEqual(['alice', 'carol']);
    expect(state.refused.get(own.path)).toBe('has an author that is not a valid admin');
    expect(state.refused.get(other.first.path)).toBe('belongs to another keyring');
  });

  it('believes no fact whose signature does not fit, nor those of whoever it would have let in', () => {
    const world = new World();
    const bob = world.member(world.first, 'bob');
    const guest = world.member(bob, 'guest');
    const state = judge(world.facts, world.first.id, ({ id }) => id !== bob.id);
    expect(state.refused.get(bob.path)).toBe('is not signed by alice');
    expect(state.refused.get(guest.path)).toBe('has an author that is not a valid admin');
  });

  it('believes a removal that calls somebody by another name no more than any forgery', () => {
    const world = new World();
    const bob = world.member(world.first, 'bob');
    const message = world
      .remove(world.first, [bob], [world.first])
      .message.replace(`${bob.id} bob`, `${bob.id} zoe`);
    world.facts.delete([...world.facts.keys()].at(-1) ?? '');
    const lie = world.put(message);
    expect(judged(world).refused.get(lie.path)).toBe('gives the member bob the wrong name zoe');
  });

  it('encrypts with nothing that who left had, and gives the next version a number above all', () => {
    const world = new World();
    const bob = world.member(world.first, 'bob');
    world.version(world.first, 1);
    const removal = world.remove(world.first, [bob], [world.first]);
    expect(bestVersion(judged(world), 'app')).toBeUndefined();
    const next = world.version(world.first, 2, { under: removal });
    const state = judged(world);
    expect(bestVersion(state, 'app')?.id).toBe(next.id);
    expect(nextNumber(state, 'app')).toBe(3);
    expect(names(state)).toEqual(['alice']);
  });

  it('takes a version away that skips numbers', () => {
    const world = new World();
    world.version(world.first, 1);
    const greedy = world.version(world.first, 999_999_999);
    const state = judged(world);
    expect(state.refused.get(greedy.path)).toBe('skips a version number');
    expect(nextNumber(state, 'app')).toBe(2);
  });

  it('keeps out what somebody signs who has left, with a date of before as well', () => {
    const world = new World();
    const bob = world.member(world.first, 'bob');
    const before = judged(world);
    const removal = world.remove(world.first, [bob], [world.first]);
    world.version(world.first, 1, { under: removal });
    const known = judged(world);
    const old = [bob];
    const guest = world.member(bob, 'mallory', { after: old });
    world.member(guest, 'guest', { after: [guest] });
    world.slot(bob, guest, removal, [guest]);
    world.version(bob, 1, { after: old, under: world.first });
    world.version(bob, 2, { under: 'z'.repeat(32) });
    world.unknown(bob);
    world.remove(bob, [world.first], [bob], { after: old });
    const state = judged(world, [removal]);
    expect(names(before)).toEqual(['alice', 'bob']);
    expect(names(state)).toEqual(['alice']);
    expect(ids(state.believed)).toEqual(ids(known.believed));
    expect(bestVersion(state, 'app')?.id).toBe(bestVersion(known, 'app')?.id);
    expect(nextNumber(state, 'app')).toBe(nextNumber(known, 'app'));
    expect([state.holes, state.newer, state.quarrels]).toEqual([[], [], []]);
  });

  it('stops where two admins remove each other, and goes on with the removal that was seen first', () => {
    const world = new World();
    const carol = world.member(world.first, 'carol');
    const [one, two] = [
      world.remove(world.first, [carol], [world.first], { after: [carol] }),
      world.remove(carol, [world.first], [carol], { after: [carol] }),
    ];
    expect(ids(judged(world).quarrels)).toEqual(ids([one, two]));
    expect(names(judged(world, [one]))).toEqual(['alice']);
    expect(names(judged(world, [two, one]))).toEqual(['carol']);
  });

  it('does not count a removal by somebody who was removed at the same time', () => {
    const world = new World();
    const [alice, carol] = [world.first, world.member(world.first, 'carol')];
    const dave = world.member(alice, 'dave');
    const bob = world.member(alice, 'bob');
    const lost = world.remove(carol, [dave], [alice, carol, bob], { after: [bob] });
    world.remove(alice, [carol], [alice, bob, dave], { after: [bob] });
    const state = judged(world);
    expect(ids(state.undone)).toEqual([lost.id]);
    expect(names(state)).toEqual(['alice', 'bob', 'dave']);
  });

  it('takes out another card of the same person that the removal could not know', () => {
    const world = new World();
    const bob = world.member(world.first, 'bob');
    const carol = world.member(world.first, 'carol');
    const second = world.member(carol, 'bob', { after: [carol] });
    world.remove(world.first, [bob], [world.first, carol], { after: [carol] });
    const state = judged(world);
    expect(names(state)).toEqual(['alice', 'carol']);
    expect(ids(state.caught)).toEqual([second.id]);
    const again = world.member(carol, 'bob');
    expect(ids(judged(world).cards)).toContain(again.id);
  });

  it('takes out a card that opens with the key that a removed one signed with', () => {
    const world = new World();
    const bob = world.member(world.first, 'bob', { key: sshKey('one') });
    world.member(world.first, 'zoe', { after: [bob], admin: false, key: sshKey('one') });
    world.remove(world.first, [bob], [world.first], { after: [bob] });
    expect(names(judged(world))).toEqual(['alice']);
  });

  it('believes no root key whose maker knew of one of two removals only, until they are united', () => {
    const world = new World();
    const [bob, dave, carol] = ['bob', 'dave', 'carol'].map((name) => world.member(world.first, name)) as [
      Fact,
      Fact,
      Fact,
    ];
    world.remove(world.first, [bob], [world.first, carol, dave], { after: [carol] });
    world.remove(carol, [dave], [world.first, carol, bob], { after: [carol] });
    expect(judged(world).believed).toEqual([]);
    const united = world.remove(world.first, [], [world.first, carol]);
    expect(ids(judged(world).believed)).toEqual([united.id]);
  });

  it('tells what is missing: a hole before a fact, and one where a root key should be', () => {
    const world = new World();
    const bob = world.member(world.first, 'bob');
    const version = world.version(world.first, 1, { after: [bob] });
    world.facts.delete(bob.id);
    expect(judged(world).holes).toEqual([{ id: bob.id, fact: version, isGrave: false }]);
    const grave = new World();
    grave.version(grave.first, 1, { under: 'z'.repeat(32) });
    expect(judged(grave).holes.map(({ isGrave }) => isGrave)).toEqual([true]);
  });

  it('holds what it does not know for something new only where somebody signed it who is in', () => {
    const world = new World();
    const bob = world.member(world.first, 'bob');
    const unknown = world.unknown(bob, [bob]);
    expect(ids(judged(world).newer)).toEqual([unknown.id]);
    world.remove(world.first, [bob], [world.first], { after: [bob] });
    expect(judged(world).newer).toEqual([]);
  });

  it('comes to what a second judge comes to, whatever the history, the order of the files and the list of what was seen', () => {
    const chance = seeded();
    for (let round = 0; round < rounds(10_000); round++) {
      const world = randomWorld(chance);
      const facts = new Map(shuffled(chance, [...world.facts]));
      const removals = [...facts.values()].filter(({ without }) => without.length > 0);
      const seen = shuffled(chance, removals)
        .slice(0, chance.below(removals.length + 1))
        .map(({ id }) => id);
      const state = judge(facts, world.first.id, () => true, seen);
      expectSameVerdict(state, seen);
    }
  });

  it('changes nothing by facts of somebody who is gone, for whoever knows of it', () => {
    const chance = seeded();
    for (let round = 0; round < rounds(1000); round++) {
      const world = new World();
      const carol = world.member(world.first, 'carol');
      const bob = world.member(carol, 'bob');
      world.version(world.first, 1);
      const past = [...world.facts.values()];
      const removal = world.remove(chance.pick([world.first, carol]), [bob], [world.first, carol]);
      world.version(world.first, 2, { under: removal });
      const before = shownBy(judged(world, [removal]), new Set(world.facts.keys()));
      const own = new Set(world.facts.keys());
      const guests = [bob];
      for (let act = 0; act < 6; act++)
        guests.push(...randomFact(chance, world, chance.pick(guests), [...past, ...guests]));
      expect(shownBy(judged(world, [removal]), own)).toEqual(before);
    }
  });

  it('changes nothing and adds to no dispute by facts of somebody who is gone, whatever others did meanwhile on branches not seen before', () => {
    const chance = seeded();
    let disputes = 0;
    for (let round = 0; round < rounds(3000); round++) {
      const world = new World();
      const [carol, dave] = [world.member(world.first, 'carol'), world.member(world.first, 'dave')];
      const bob = world.member(carol, 'bob');
      const others = [world.first, carol, dave];
      const past = [...world.facts.values()];
      const removal = world.remove(chance.pick(others), [bob], others);
      const acts = [bob, removal];
      for (let act = 0; act < 4; act++) {
        const by = chance.pick(others);
        const out = others.filter((one) => one !== by && chance.below(2) === 0);
        const after = chance.below(2) === 0 ? past.slice(-1) : [chance.pick(acts)];
        if (out.length > 0)
          acts.push(
            world.remove(
              by,
              out,
              others.filter((one) => !out.includes(one)),
              { after },
            ),
          );
      }
      const own = new Set(world.facts.keys());
      const before = judged(world, [removal]);
      const isDispute = before.quarrels.length > 0;
      if (!isDispute && !before.gone.has(bob.id)) continue;
      disputes += Number(isDispute);
      const guests = [bob];
      for (let act = 0; act < 6; act++)
        guests.push(...randomFact(chance, world, chance.pick(guests), [...past, ...acts, ...guests]));
      const after = judged(world, [removal]);
      expect(ids(after.quarrels)).toEqual(ids(before.quarrels));
      if (!isDispute) expect(shownBy(after, own)).toEqual(shownBy(before, own));
    }
    expect(disputes).toBeGreaterThan(10);
  });

  it('takes a version away that skips numbers, however many versions there are', () => {
    const world = new World();
    let last = world.version(world.first, 1);
    for (let number = 2; number <= 1500; number++)
      last = world.version(world.first, number, { after: [last] });
    const skipping = world.version(world.first, 1502, { after: [last] });
    world.version(world.first, 1503, { after: [skipping] });
    const next = world.version(world.first, 1501, { after: [last] });
    const other = world.version(world.first, 2, { after: [last], key: 'mail' });
    const state = judged(world);
    expect([...state.refused.values()]).toEqual(Array(3).fill('skips a version number'));
    expect(state.refused.get(skipping.path)).toBe('skips a version number');
    expect(state.refused.get(other.path)).toBe('skips a version number');
    expect(bestVersion(state, 'app')?.id).toBe(next.id);
  });

  it('takes time in proportion to the facts, however many keys somebody who has left makes versions of', () => {
    const world = new World();
    const bob = world.member(world.first, 'bob');
    const removal = world.remove(world.first, [bob], [world.first], { after: [bob] });
    for (let count = 0; count < 5000; count++) world.version(bob, 2, { after: [bob], key: `key${count}` });
    let state: Judgement | undefined;
    const ms = processorMs(() => {
      state = judged(world, [removal]);
    });
    expect(state && names(state)).toEqual(['alice']);
    expect(ms).toBeLessThan(1000);
  });

  it('takes time in proportion to the square of the removals at most, in words of 32 bits', () => {
    const world = new World();
    const bob = world.member(world.first, 'bob');
    const removal = world.remove(world.first, [bob], [world.first], { after: [bob] });
    for (let count = 0; count < 1000; count++) world.remove(bob, [world.first], [bob], { after: [bob] });
    let state: Judgement | undefined;
    const ms = processorMs(() => {
      state = judged(world, [removal]);
    });
    expect(state && names(state)).toEqual(['alice']);
    expect(ms).toBeLessThan(1000);
  });
});

/** What people get to see of a judgement, as far as it is about facts that they knew. */
const shownBy = (state: Judgement, known: ReadonlySet<string>) => ({
  cards: ids(state.cards),
  valid: ids(state.valid.values()).filter((id) => known.has(id)),
  more: ids(state.valid.values()).filter((id) => !known.has(id)),
  believed: ids(state.believed),
  best: bestVersion(state, 'app')?.id,
  next: nextNumber(state, 'app'),
  holes: state.holes,
  newer: state.newer,
  quarrels: state.quarrels,
});

/** Something that somebody signs, after something of before. */
function randomFact(chance: Chance, world: World, by: Fact, among: readonly Fact[]): readonly Fact[] {
  const after = shuffled(chance, among).slice(0, 1 + chance.below(2));
  const cards = [...world.facts.values()].filter(({ card }) => card !== undefined);
  const epochs = [...world.facts.values()].filter(({ check }) => check !== undefined);
  const root = chance.below(10) === 0 ? 'z'.repeat(32) : chance.pick(epochs);
  switch (chance.below(6)) {
    case 0:
    case 1: {
      const name = chance.pick(['bob', 'carol', 'dave', 'erin']);
      return [world.member(by, name, { after, root, key: chance.below(2) === 0 ? sshKey(name) : undefined })];
    }
    case 2: {
      const out = shuffled(chance, cards).slice(0, 1 + chance.below(2));
      const given = cards.filter((card) => !out.includes(card)).slice(0, 3);
      if (given.length > 0) world.remove(by, out, given, { after });
      return [];
    }
    case 3:
      world.slot(by, chance.pick(cards), root, after);
      return [];
    case 4:
      world.version(by, 1 + chance.below(4), { after, under: root, key: chance.pick(['app', 'db']) });
      return [];
    default:
      world.unknown(by, after);
      return [];
  }
}

function randomWorld(chance: Chance): World {
  const world = new World();
  const people = [world.first];
  const size = 3 + chance.below(12);
  for (let act = 0; act < size; act++) {
    const all = [...world.facts.values()];
    people.push(...randomFact(chance, world, chance.pick(people), chance.below(3) === 0 ? all : world.heads));
  }
  if (chance.below(5) === 0) {
    const lost = chance.pick([...world.facts.keys()].slice(1));
    if (lost !== undefined) world.facts.delete(lost);
  }
  return world;
}

function shuffled<T>(chance: Chance, list: readonly T[]): readonly T[] {
  const left = [...list];
  return list.map(() => left.splice(chance.below(left.length), 1)[0] as T);
}

it('a key is listed as long as one of its versions is valid, and its next number follows the highest of those', () => {
  const version = (number: number, isValid: boolean) => ({ isValid, fact: { version: { number } } });
  const versions = new Map([
    ['mixed', [version(1, true), version(2, true), version(9, false)]],
    ['invalid', [version(1, false)]],
    ['first', [version(1, true)]],
  ]);
  const judgement = { versions } as unknown as Judgement;
  expect(keyNames(judgement)).toEqual(['first', 'mixed']);
  expect(['mixed', 'invalid', 'none'].map((key) => nextNumber(judgement, key))).toEqual([3, 1, 1]);
});
