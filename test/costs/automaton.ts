import { LAST, type Parsed, type Range, type Tree } from './syntax.ts';

/** One step of a matcher that takes a character. */
export interface Step {
  readonly ranges: readonly Range[];
  readonly to: number;
}

interface Free {
  readonly to: number;
  /** It may be taken at the beginning alone; or depends on something, so that it may fail. */
  readonly when?: 'begin' | 'condition';
}

/** All places that a matcher that goes back can be at, and what it may try from there. */
export interface Automaton {
  readonly steps: readonly (readonly Step[])[];
  readonly free: readonly (readonly Free[])[];
  readonly start: number;
  readonly accept: number;
  /** Where a search tries anew at each character; undefined for what matches at its beginning alone. */
  readonly search: number | undefined;
  /** A repetition of what may be nothing, which can be gone through in ways without number. */
  readonly repeatsNothing: boolean;
}

/** Longer countable repetitions are taken for endless ones. */
const MOST_COPIES = 64;

export function automatonOf({ tree, groups }: Parsed, flags: string): Automaton {
  const steps: Step[][] = [];
  const free: Free[][] = [];
  let repeatsNothing = false;
  const state = (out: { readonly steps?: Step[]; readonly free?: Free[] } = {}): number => {
    steps.push(out.steps ?? []);
    free.push(out.free ?? []);
    return steps.length - 1;
  };
  const accept = state();
  const nowhere = state();

  const sequence = (parts: readonly Tree[], to: number): number =>
    parts.reduceRight((next, part) => build(part, next), to);

  function repeat({ body, least, most }: Extract<Tree, { kind: 'repeat' }>, to: number): number {
    let next = to;
    if (most === Number.POSITIVE_INFINITY || most > MOST_COPIES) {
      if (mayBeNothing(body, groups)) repeatsNothing = true;
      next = state();
      free[next]?.push({ to: build(body, next) }, { to });
    } else {
      for (let copy = least; copy < most; copy++) next = state({ free: [{ to: build(body, next) }, { to }] });
    }
    for (let copy = 0; copy < Math.min(least, MOST_COPIES); copy++) next = build(body, next);
    return next;
  }

  function look({ body, isBehind }: Extract<Tree, { kind: 'look' }>, to: number): number {
    if (isBehind) {
      if (isEndless(body)) throw new Error('an endless look behind');
      return state({ free: [{ to, when: 'condition' }] });
    }
    return state({ free: [{ to: build(body, nowhere) }, { to, when: 'condition' }] });
  }

  function build(part: Tree, to: number): number {
    switch (part.kind) {
      case 'characters':
        return state({ steps: [{ ranges: part.ranges, to }] });
      case 'sequence':
        return sequence(part.parts, to);
      case 'choice':
        return state({ free: part.parts.map((one) => ({ to: build(one, to) })) });
      case 'repeat':
        return repeat(part, to);
      case 'begin':
      case 'condition':
        return state({ free: [{ to, when: part.kind }] });
      case 'look':
        return look(part, to);
      case 'again': {
        const group = groups.get(part.group);
        if (group === undefined || isEndless(group)) throw new Error('an endless group again');
        return build(group, to);
      }
    }
  }

  const start = build(tree, accept);
  if (flags.includes('y')) return { steps, free, start, accept, search: undefined, repeatsNothing };
  const search = state({ free: [{ to: start }] });
  steps[search]?.push({ ranges: [[0, LAST]], to: search });
  return { steps, free, start: search, accept, search, repeatsNothing };
}

function mayBeNothing(tree: Tree, groups: Parsed['groups']): boolean {
  switch (tree.kind) {
    case 'characters':
      return false;
    case 'sequence':
      return tree.parts.every((part) => mayBeNothing(part, groups));
    case 'choice':
      return tree.parts.some((part) => mayBeNothing(part, groups));
    case 'repeat':
      return tree.least === 0 || mayBeNothing(tree.body, groups);
    default:
      return true;
  }
}

function isEndless(tree: Tree): boolean {
  switch (tree.kind) {
    case 'sequence':
    case 'choice':
      return tree.parts.some(isEndless);
    case 'repeat':
      return tree.most > MOST_COPIES || isEndless(tree.body);
    case 'look':
      return isEndless(tree.body);
    case 'again':
      return true;
    default:
      return false;
  }
}
