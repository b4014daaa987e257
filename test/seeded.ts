import { expect } from 'vitest';
import { Chance, streamOf } from './chance.ts';
import { SEED } from './seed.ts';

/**
 * The random choices of the running test, which are the same for the same seed; when the test fails, the report of the run prints the line
 * that repeats them. Parts of a test that run at the same time take one each, so that none depends on who comes first.
 */
export function seeded(part = ''): Chance {
  const { currentTestName = '' } = expect.getState();
  return new Chance(Number(SEED), streamOf(currentTestName), streamOf(part));
}
