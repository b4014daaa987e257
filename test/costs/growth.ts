import { type Automaton, automatonOf } from './automaton.ts';
import { parseExpression } from './syntax.ts';

/**
 * How the work of a matcher that goes back can grow with the length of a text: known from the expression alone, without a clock.
 *
 * It grows faster than the text where one stretch of characters can be gone through in several ways that all have to be tried
 * before the match fails: twice in the same loop (then it doubles with each repetition of the stretch), or partly in one loop and
 * partly in a later one (then it is at least the square). A search that tries anew at each character is the first loop of all.
 * (Weber and Seidl, On the degree of ambiguity of finite automata, 1991.)
 */
export type Growth = 'linear' | 'polynomial' | 'exponential';

/** A place in the automaton, and what stands before it. */
interface Place {
  readonly state: number;
  readonly before: 'begin' | 'line' | 'other';
}

type Moves = readonly (readonly { readonly to: number; readonly twice: boolean }[])[];

export function growthOf(source: string, flags: string): Growth {
  const automaton = automatonOf(parseExpression(source, flags), flags);
  if (automaton.repeatsNothing) return 'exponential';
  const moves = movesOf(automaton, flags);
  const components = componentsOf(
    moves.map((byLetter) => byLetter.flatMap((all) => all.map(({ to }) => to))),
  );
  if (hasTwoWaysAround(moves, components)) return 'exponential';
  return hasTwoLoops(moves, components) ? 'polynomial' : 'linear';
}

/** One character of each kind that the expression tells apart. */
function lettersOf({ steps }: Automaton): readonly number[] {
  const edges = steps.flat().flatMap(({ ranges }) => ranges.flatMap(([low, high]) => [low, high + 1]));
  return [...new Set([0, 0x0a, 0x0b, ...edges])];
}

/** By place and letter: where to. Places where the match has succeeded whatever comes are left out: nothing is tried again there. */
function movesOf(automaton: Automaton, flags: string): readonly Moves[] {
  const { steps, search, start } = automaton;
  const letters = lettersOf(automaton);
  const places: Place[] = [];
  const numbers = new Map<string, number>();
  const numberOf = (place: Place): number => {
    const key = `${place.state} ${place.before}`;
    const known = numbers.get(key);
    if (known !== undefined) return known;
    numbers.set(key, places.length);
    return places.push(place) - 1;
  };
  numberOf({ state: start, before: 'begin' });
  const moves: Moves[] = [];
  for (let number = 0; number < places.length; number++) {
    const place = places[number] as Place;
    const { ways, succeeds } = waysFrom(automaton, place, flags);
    const ends = succeeds && place.state !== search;
    moves.push(
      letters.map((letter) => {
        const found = new Map<number, number>();
        for (const [state, count] of ends ? [] : ways) {
          for (const { ranges, to } of steps[state] ?? []) {
            if (!ranges.some(([low, high]) => low <= letter && letter <= high)) continue;
            const next = numberOf({ state: to, before: letter === 0x0a ? 'line' : 'other' });
            found.set(next, (found.get(next) ?? 0) + count);
          }
        }
        return [...found].map(([to, count]) => ({ to, twice: count > 1 }));
      }),
    );
  }
  return moves;
}

/** The states that can be reached without a character, with the number of ways to each (two stand for more). */
function waysFrom({ free, accept }: Automaton, { state, before }: Place, flags: string) {
  const ways = new Map<number, number>();
  let succeeds = false;
  const go = (at: number, isSure: boolean, path: ReadonlySet<number>): void => {
    ways.set(at, Math.min(2, (ways.get(at) ?? 0) + 1));
    if (at === accept && isSure) succeeds = true;
    for (const { to, when } of free[at] ?? []) {
      const isBegin = before === 'begin' || (before === 'line' && flags.includes('m'));
      if (path.has(to) || (when === 'begin' && !isBegin)) continue;
      go(to, isSure && when !== 'condition', new Set([...path, to]));
    }
  };
  go(state, true, new Set([state]));
  return { ways, succeeds };
}

/** The number of the strongly connected component of each node; -1 for a node that is in no circle. (Tarjan) */
function componentsOf(next: readonly (readonly number[])[]): readonly number[] {
  const order = new Array<number>(next.length).fill(-1);
  const low = new Array<number>(next.length).fill(0);
  const component = new Array<number>(next.length).fill(-2);
  const stack: number[] = [];
  let count = 0;
  let components = 0;
  for (let root = 0; root < next.length; root++) {
    if (order[root] !== -1) continue;
    const walk: [number, number][] = [[root, 0]];
    while (walk.length > 0) {
      const frame = walk.at(-1) as [number, number];
      const [node] = frame;
      if (frame[1] === 0) {
        order[node] = low[node] = count++;
        stack.push(node);
      }
      const to = next[node]?.[frame[1]++];
      if (to !== undefined) {
        if (order[to] === -1) walk.push([to, 0]);
        else if (component[to] === -2) low[node] = Math.min(low[node] ?? 0, order[to] ?? 0);
        continue;
      }
      walk.pop();
      const parent = walk.at(-1)?.[0];
      if (parent !== undefined) low[parent] = Math.min(low[parent] ?? 0, low[node] ?? 0);
      if (low[node] !== order[node]) continue;
      const members = stack.splice(stack.indexOf(node));
      const isCircle = members.length > 1 || (next[node] ?? []).includes(node);
      for (const member of members) component[member] = isCircle ? components : -1;
      components += 1;
    }
  }
  return component;
}

/** Whether some stretch leads from a place back to it in two ways. */
function hasTwoWaysAround(moves: readonly Moves[], components: readonly number[]): boolean {
  const size = moves.length;
  const isInside = (from: number, to: number): boolean =>
    components[from] !== -1 && components[from] === components[to];
  const pairs: number[][] = Array.from({ length: size * size }, () => []);
  for (let p = 0; p < size; p++) {
    for (let q = 0; q < size; q++) {
      if (!isInside(p, q)) continue;
      for (const [letter, ofP] of (moves[p] ?? []).entries()) {
        for (const a of ofP) {
          if (p === q && a.twice && isInside(p, a.to)) return true;
          for (const b of moves[q]?.[letter] ?? []) {
            if (isInside(p, a.to) && isInside(q, b.to)) pairs[p * size + q]?.push(a.to * size + b.to);
          }
        }
      }
    }
  }
  const ofPairs = componentsOf(pairs);
  for (let p = 0; p < size; p++) {
    const here = ofPairs[p * size + p];
    if (here === -1) continue;
    for (let pair = 0; pair < ofPairs.length; pair++) {
      if (ofPairs[pair] === here && Math.floor(pair / size) !== pair % size) return true;
    }
  }
  return false;
}

/** Whether some stretch leads from a place back to it, from there to a later loop, and around that one. */
function hasTwoLoops(moves: readonly Moves[], components: readonly number[]): boolean {
  const inCircles = moves.flatMap((_, place) => (components[place] === -1 ? [] : [place]));
  return inCircles.some((p) =>
    inCircles.some((q) => components[p] !== components[q] && leadsOver(moves, components, p, q)),
  );
}

function leadsOver(moves: readonly Moves[], components: readonly number[], p: number, q: number): boolean {
  const size = moves.length;
  const seen = new Set<number>();
  const waiting: [number, number, number][] = [[p, p, q]];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const [a, b, c] = at;
    for (const [letter, ofA] of (moves[a] ?? []).entries()) {
      for (const { to: nextA } of ofA) {
        if (components[nextA] !== components[p]) continue;
        for (const { to: nextC } of moves[c]?.[letter] ?? []) {
          if (components[nextC] !== components[q]) continue;
          for (const { to: nextB } of moves[b]?.[letter] ?? []) {
            if (nextA === p && nextB === q && nextC === q) return true;
            const key = (nextA * size + nextB) * size + nextC;
            if (seen.has(key)) continue;
            seen.add(key);
            waiting.push([nextA, nextB, nextC]);
          }
        }
      }
    }
  }
  return false;
}
