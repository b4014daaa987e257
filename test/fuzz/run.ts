/**
 * Hostile input: `npm run test:fuzz`. Runs every target with every seed, each in a process of its own.
 *
 * - FUZZ_SEED=7 (or `1,2`): other seeds than the two that follow from COFFER_TEST_SEED, which is a fresh one in the long proof
 * - FUZZ_CASES=10000000: another total of cases
 * - FUZZ_TARGET=policies: one target alone
 * - FUZZ_CASE=1234: one case alone, of FUZZ_TARGET and FUZZ_SEED
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtCommand } from '../built.ts';
import { SEED } from '../seed.ts';
import { addSum } from '../sums.ts';
import { type Finished, type Job, runJob } from './jobs.ts';
import { targetNamed, targetNames } from './targets/index.ts';

// Some targets run the command as it is shipped: it is built before many ask for it at once.
builtCommand();
const directory = mkdtempSync(join(tmpdir(), 'coffer-fuzz-'));
try {
  const jobs = await jobsWanted();
  const finished = await runAll(jobs);
  process.exitCode = summarize(finished) === 0 ? 0 : 1;
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function jobsWanted(): Promise<Job[]> {
  const seeds = (process.env['FUZZ_SEED'] ?? `${SEED},${Number(SEED) + 1}`).split(',').map(wholeNumber);
  const chosen = process.env['FUZZ_TARGET'];
  const names = chosen === undefined ? targetNames : [chosen];
  const only = process.env['FUZZ_CASE'];
  const targets = await Promise.all(names.map(targetNamed));
  const usual = targets.reduce((sum, { cases }) => sum + cases, 0) * seeds.length;
  const factor = wholeNumber(process.env['FUZZ_CASES'] ?? String(usual)) / usual;
  return seeds.flatMap((seed) =>
    targets.map(({ name, cases }) => {
      if (only !== undefined)
        return { target: name, seed, from: wholeNumber(only), to: wholeNumber(only) + 1 };
      return { target: name, seed, from: 0, to: Math.ceil(cases * factor) };
    }),
  );
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`"${text}" is no whole number`);
  return Number(text);
}

/** Runs jobs, as many at a time as there are processors. */
async function runAll(jobs: readonly Job[]): Promise<Finished[]> {
  const waiting = [...jobs];
  const finished: Finished[] = [];
  const worker = async (): Promise<void> => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      const result = await runJob(job, directory);
      finished.push(result);
      tell(result);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return finished;
}

function tell({ job, report, problems }: Finished): void {
  const { target, seed } = job;
  const { cases, seconds, mebibytes } = report;
  const speed = `${seconds.toFixed(1)} s, ${Math.round(mebibytes)} MiB`;
  console.log(
    `${target} (seed ${seed}): ${cases.toLocaleString('en')} cases, ${problems.length} failures, ${speed}`,
  );
  for (const problem of problems) console.log(problem);
}

function summarize(finished: readonly Finished[]): number {
  const cases = finished.reduce((sum, { report }) => sum + report.cases, 0);
  const failures = finished.reduce((sum, { problems }) => sum + problems.length, 0);
  const seeds = [...new Set(finished.map(({ job }) => job.seed))].sort((a, b) => a - b);
  console.log(`fuzz: ${cases.toLocaleString('en')} cases, ${failures} failures (seeds ${seeds.join(', ')})`);
  addSum('cases of fuzz', cases);
  addSum('failed', failures);
  return failures;
}
