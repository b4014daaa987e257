import { Chance, streamOf } from '../chance.ts';
import { processMsUntil } from '../processor-time.ts';
import { Secrets } from './secrets.ts';
import { Defect, type Target, type World } from './target.ts';

/** Which cases of a target are run. */
export interface Stretch {
  readonly seed: number;
  /** The first case, and the one after the last. */
  readonly from: number;
  readonly to: number;
}

/** A case that went wrong. */
export interface Failure {
  readonly index: number;
  readonly what: string;
  readonly input: string;
}

export interface Report {
  readonly cases: number;
  readonly failures: readonly Failure[];
}

/** No case may take longer. */
const MAX_CASE_MS = 1000;
/** A machine may be busy: a slow case is slow when so many more attempts of it all take too long of the processor. */
const SLOW_ATTEMPTS = 3;
/** Enough to see what is wrong. */
const MAX_FAILURES = 5;
const MAX_SIMPLER_ATTEMPTS = 400;

/**
 * Runs cases of one target, one after the other, in this process.
 * @param mark is told the number of each case before it begins, so that somebody else knows where the process ended.
 */
export async function runCases(
  target: Target,
  { seed, from, to }: Stretch,
  mark: (index: number) => void,
): Promise<Report> {
  const run = new Run(target, seed);
  const perWorld = target.casesPerWorld ?? Number.POSITIVE_INFINITY;
  // What a case does may depend on what those before it in the same world did.
  const first = Number.isFinite(perWorld) ? from - (from % perWorld) : from;
  for (let index = first; index < to && run.failures.length < MAX_FAILURES; index++) {
    if (index === first || index % perWorld === 0) await run.newWorld(index);
    mark(index);
    await run.one(index);
  }
  await run.end(to);
  return { cases: to - from, failures: run.failures };
}

class Run {
  readonly failures: Failure[] = [];
  readonly #target: Target;
  readonly #seed: number;
  readonly #stream: number;
  readonly #known = new Set<string>();
  #world: World | undefined;
  #strays: unknown[] = [];

  constructor(target: Target, seed: number) {
    this.#target = target;
    this.#seed = seed;
    this.#stream = streamOf(target.name);
    process.on('uncaughtException', this.#noteStray);
    process.on('unhandledRejection', this.#noteStray);
  }

  readonly #noteStray = (error: unknown): void => void this.#strays.push(error);

  async newWorld(index: number): Promise<void> {
    await this.#close(index);
    const chance = new Chance(this.#seed, ~this.#stream, index);
    this.#world = await this.#target.open(chance, new Secrets());
  }

  async one(index: number): Promise<void> {
    const world = this.#world;
    if (world === undefined) return;
    const input = world.generate(new Chance(this.#seed, this.#stream, index));
    const problem = await this.#problemOf(world, input);
    if (problem === undefined) return;
    const text = describe(problem);
    const kind = text.split('\n', 2).join('\n').replaceAll(/\d+/g, '0').slice(0, 200);
    if (this.#known.has(kind)) return;
    this.#known.add(kind);
    const simplest = await this.#simplest(world, input, nameOf(problem));
    this.failures.push({ index, what: text, input: printed(world, simplest) });
  }

  async end(index: number): Promise<void> {
    await this.#close(index);
    this.#world = undefined;
    process.off('uncaughtException', this.#noteStray);
    process.off('unhandledRejection', this.#noteStray);
  }

  async #close(index: number): Promise<void> {
    try {
      await this.#world?.close();
    } catch (error) {
      this.failures.push({ index, what: describe(error), input: 'all the cases before it together' });
    }
  }

  /** What went wrong, if anything. */
  async #problemOf(world: World, input: unknown): Promise<unknown> {
    const started = performance.now();
    try {
      const checking = world.check(input);
      if (checking !== undefined) await checking;
    } catch (error) {
      return error;
    }
    const [stray] = this.#strays;
    this.#strays = [];
    if (stray !== undefined) return stray;
    return performance.now() - started > MAX_CASE_MS ? slowness(world, input) : undefined;
  }

  /** The simplest input found that goes wrong in the same way. */
  async #simplest(world: World, input: unknown, name: string): Promise<unknown> {
    let simplest = input;
    let attempts = 0;
    for (let found = true; found; ) {
      found = false;
      for (const candidate of world.simpler?.(simplest) ?? []) {
        if (++attempts > MAX_SIMPLER_ATTEMPTS) return simplest;
        const problem = await this.#problemOf(world, candidate);
        if (problem === undefined || nameOf(problem) !== name) continue;
        simplest = candidate;
        found = true;
        break;
      }
    }
    return simplest;
  }
}

/**
 * Whether a case that seemed slow is, by the time that it takes of the processor. One that changes its world may be refused when it is tried
 * again, which says nothing of how long it takes.
 */
async function slowness(world: World, input: unknown): Promise<Defect | undefined> {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < SLOW_ATTEMPTS; attempt++) {
    try {
      least = Math.min(least, await processMsUntil(async () => world.check(input)));
    } catch {
      return undefined;
    }
  }
  return least > MAX_CASE_MS ? new Defect(`took ${Math.round(least)} ms of the processor`) : undefined;
}

const nameOf = (problem: unknown): string =>
  problem instanceof Error ? `${problem.name} ${problem.message.slice(0, 20)}` : typeof problem;

const describe = (problem: unknown): string =>
  problem instanceof Error ? (problem.stack ?? problem.message) : String(problem);

function printed(world: World, input: unknown): string {
  try {
    return world.print(input);
  } catch (error) {
    return `(cannot be printed: ${describe(error)})`;
  }
}
