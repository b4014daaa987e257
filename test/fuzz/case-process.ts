/**
 * Runs a stretch of cases of one target: `case-process.ts TARGET SEED FROM TO MARKFILE`. The number of the case under way is
 * kept in MARKFILE. Sends a report to the process that started it.
 */
import { openSync, writeSync } from 'node:fs';
import { type Report, runCases } from './cases.ts';
import { targetNamed } from './targets/index.ts';

/** What a process tells of its stretch. */
export interface ProcessReport extends Report {
  readonly seconds: number;
  /** The most memory that it ever had. */
  readonly mebibytes: number;
}

const [name = '', seed = '', from = '', to = '', markFile = ''] = process.argv.slice(2);
const started = performance.now();
const descriptor = openSync(markFile, 'w');
const number = Buffer.alloc(8);
const mark = (index: number): void => {
  number.writeDoubleLE(index);
  writeSync(descriptor, number, 0, number.length, 0);
};

try {
  const target = await targetNamed(name);
  const stretch = { seed: Number(seed), from: Number(from), to: Number(to) };
  const { cases, failures } = await runCases(target, stretch, mark);
  const report: ProcessReport = {
    cases,
    failures,
    seconds: (performance.now() - started) / 1000,
    mebibytes: process.resourceUsage().maxRSS / 1024,
  };
  process.send?.(report, () => process.exit(0));
} catch (error) {
  // The cases themselves fail in another way: this is a world that could not be made.
  console.error(error);
  process.exit(1);
}
