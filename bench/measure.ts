/**
 * Measurements on a noisy machine: Coffer and the floor alternate in the same run, each turn is one pair, and the
 * reported value is the median of the pairs' ratios. Absolute times are medians as well, for orientation only.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Peer } from './peers.ts';

const built = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Returns the installed command: the executable, if `npm run package` has built it. */
export const installedCommand = (): readonly string[] =>
  existsSync(built('../dist/coffer'))
    ? [built('../dist/coffer')]
    : [process.execPath, built('../bin/coffer')];

/** Row of the table. Times in milliseconds. */
export interface Row {
  readonly operation: string;
  readonly ours: number;
  /** Description of the floor. */
  readonly floorName: string;
  readonly floor: number;
  /** Median of ours / floor, by pair. */
  readonly ratio: number;
  /** Promised maximum; a ratio above it is marked. */
  readonly limit: number;
  readonly peer?: Peer | undefined;
}

export type Measured = Pick<Row, 'ours' | 'floor' | 'ratio'>;

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Measures a program whose peer is missing. */
export function timeAlone(program: Program, turns: number): number {
  timeProgram(program);
  return median(Array.from({ length: turns }, () => timeProgram(program)));
}

export const fromPairs = (pairs: readonly (readonly [number, number])[]): Measured => ({
  ours: median(pairs.map(([ours]) => ours)),
  floor: median(pairs.map(([, floor]) => floor)),
  ratio: median(pairs.map(([ours, floor]) => ours / floor)),
});

/** Program to start: the command line, its environment and its input. */
export interface Program {
  readonly command: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string | Buffer | undefined;
  /** Called before each turn, outside the measured time. */
  readonly prepare?: () => void;
}

function timeProgram(program: Program): number {
  const [file = '', ...args] = program.command;
  program.prepare?.();
  const started = performance.now();
  const result = spawnSync(file, args, {
    env: program.env ?? process.env,
    input: program.input ?? '',
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const elapsed = performance.now() - started;
  if (result.status !== 0) {
    throw new Error(`${program.command.join(' ')}: exit code ${result.status}: ${result.stderr.toString()}`);
  }
  return elapsed;
}

/** Compares whole processes, from spawn to exit. */
export function comparePrograms(ours: Program, floor: Program, pairs = 41, warmUps = 3): Measured {
  for (let warmUp = 0; warmUp < warmUps; warmUp++) {
    timeProgram(ours);
    timeProgram(floor);
  }
  return fromPairs(Array.from({ length: pairs }, () => [timeProgram(ours), timeProgram(floor)] as const));
}

/** Number of rounds that are not counted; with five, the first row of a run was still partly interpreted. */
const WARM_UP_ROUNDS = 20;
/** For calls that alone take longer than a turn (a slow signature), one warm-up round and a few turns suffice. */
const SLOW_WARM_UP_ROUNDS = 1;
const SLOW_ROUNDS = 7;
/** Number of turns from which a call is slow. */
const SLOW_TURNS = 2;

export type Work = () => unknown;

async function timeLoop(work: Work, times: number): Promise<number> {
  const started = performance.now();
  for (let i = 0; i < times; i++) {
    const pending = work();
    if (pending instanceof Promise) await pending;
  }
  return (performance.now() - started) / times;
}

/**
 * Compares two functions in this process, each called in a loop for about `roundMs` per turn, or once if that takes
 * longer.
 * @returns milliseconds for one call of each
 */
export async function compareLoops(ours: Work, floor: Work, rounds = 31, roundMs = 40): Promise<Measured> {
  const timesOf = async (work: Work): Promise<number> => {
    if ((await timeLoop(work, 1)) > SLOW_TURNS * roundMs) return 1;
    await timeLoop(work, 2);
    const once = await timeLoop(work, 5);
    return Math.max(1, Math.round(roundMs / once));
  };
  const oursTimes = await timesOf(ours);
  const floorTimes = await timesOf(floor);
  // Warms up until the compiler has settled; otherwise the first function measured would be slower.
  const isSlow = floorTimes * (await timeLoop(floor, floorTimes)) > SLOW_TURNS * roundMs;
  const warmUps = isSlow ? SLOW_WARM_UP_ROUNDS : WARM_UP_ROUNDS;
  const turns = isSlow ? Math.min(rounds, SLOW_ROUNDS) : rounds;
  for (let round = 0; round < warmUps; round++) {
    await timeLoop(ours, oursTimes);
    await timeLoop(floor, floorTimes);
  }
  const pairs: [number, number][] = [];
  for (let round = 0; round < turns; round++) {
    pairs.push([await timeLoop(ours, oursTimes), await timeLoop(floor, floorTimes)]);
  }
  return fromPairs(pairs);
}
