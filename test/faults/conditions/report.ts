import { Chance, streamOf } from '../../chance.ts';
import { sampled } from '../../sampled.ts';
import { SEED } from '../../seed.ts';

/** What a process under other conditions says of one fault: one line of JSON on standard output. */
export interface Observation {
  readonly what: string;
  /** What was not as promised; undefined when all was. */
  readonly problem?: string;
}

/** Runs a check and says how it went. */
export async function observe(what: string, check: () => Promise<void> | void): Promise<void> {
  let observation: Observation = { what };
  try {
    await check();
  } catch (error) {
    observation = { what, problem: error instanceof Error ? error.message : String(error) };
  }
  process.stdout.write(`${JSON.stringify(observation)}\n`);
}

/**
 * All of these faults in the long proof, and a tenth otherwise, or one out of as many as said.
 * @param what names them, so that others are drawn for others
 */
export const sampledFor = <T>(what: string, all: readonly T[], oneOf?: number): readonly T[] =>
  sampled(all, new Chance(Number(SEED), streamOf(what), 0), oneOf);
