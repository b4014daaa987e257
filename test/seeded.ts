import { relative } from 'node:path';
import { expect, onTestFailed } from 'vitest';
import { Chance, streamOf } from './chance.ts';
import { SEED_VARIABLE } from './seed.setup.ts';

const announced = new Set<string>();

/**
 * The random choices of the running test, which are others in each run; when the test fails, the line that repeats them
 * is printed. Parts of a test that run at the same time take one each, so that none depends on who comes first.
 */
export function seeded(part = ''): Chance {
  const seed = Number(process.env[SEED_VARIABLE] ?? 0);
  const { currentTestName = '', testPath = '' } = expect.getState();
  onTestFailed(() => {
    if (announced.has(currentTestName)) return;
    announced.add(currentTestName);
    const file = relative(process.cwd(), testPath);
    process.stderr.write(`\nto repeat its random choices: ${SEED_VARIABLE}=${seed} npx vitest run ${file}\n`);
  });
  return new Chance(seed, streamOf(currentTestName), streamOf(part));
}
