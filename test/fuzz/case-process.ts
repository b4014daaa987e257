/**
 * Runs jobs, one after the other: `case-process.ts MARKFILE JOBS`, of which JOBS is JSON. The number of the case under way is kept in
 * MARKFILE. Sends a report of each job to the process that started it.
 */
import { openSync, writeSync } from 'node:fs';
import { type Report, runCases } from './cases.ts';
import type { Job } from './jobs.ts';
import { targetNamed } from './targets/index.ts';

/** What a process tells of a job. */
export interface ProcessReport extends Report {
  readonly seconds: number;
  /** The most memory that it ever had. */
  readonly mebibytes: number;
}

const [markFile = '', jobs = ''] = process.argv.slice(2);
const descriptor = openSync(markFile, 'w');
const number = Buffer.alloc(8);
const mark = (index: number): void => {
  number.writeDoubleLE(index);
  writeSync(descriptor, number, 0, number.length, 0);
};

try {
  for (const { target: name, ...stretch } of JSON.parse(jobs) as readonly Job[]) {
    const started = performance.now();
    mark(stretch.from);
    const { cases, failures } = await runCases(await targetNamed(name), stretch, mark);
    const report: ProcessReport = {
      cases,
      failures,
      seconds: (performance.now() - started) / 1000,
      mebibytes: process.resourceUsage().maxRSS / 1024,
    };
    await new Promise((resolve) => process.send?.(report, resolve));
  }
  process.exit(0);
} catch (error) {
  // The cases themselves fail in another way: this is a world that could not be made.
  console.error(error);
  process.exit(1);
}
