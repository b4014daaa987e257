import { appendFileSync, readFileSync } from 'node:fs';

/** The file that the parts of a proof add their counts to, for who adds them up in the end. */
export const SUMS_VARIABLE = 'COFFER_TEST_SUMS';

export type Counted = 'passed' | 'failed' | 'injected faults' | 'cases of fuzz';

/** Adds to what this run has counted, where somebody wants to know. */
export function addSum(what: Counted, count: number, environment = process.env): void {
  const file = environment[SUMS_VARIABLE];
  if (file !== undefined) appendFileSync(file, `${count} ${what}\n`);
}

/** What all parts have counted together. */
export function sumsIn(file: string): Readonly<Record<Counted, number>> {
  const sums = { passed: 0, failed: 0, 'injected faults': 0, 'cases of fuzz': 0 };
  for (const [, count, what] of readFileSync(file, 'utf8').matchAll(/^(\d+) (.+)$/gm)) {
    sums[what as Counted] += Number(count);
  }
  return sums;
}
