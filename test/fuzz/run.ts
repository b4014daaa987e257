/**
 * Hostile input: `npm run test:fuzz`. Runs every target with every seed, each in a process of its own.
 *
 * - FUZZ_SEED=7 (or `1,2`): other seeds than the usual two
 * - FUZZ_CASES=10000000: another total of cases
 * - FUZZ_TARGET=policies: one target alone
 * - FUZZ_CASE=1234: one case alone, of FUZZ_TARGET and FUZZ_SEED
 */
import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ProcessReport } from './case-process.ts';
import type { Stretch } from './cases.ts';
import { targetNamed, targetNames } from './targets/index.ts';

const USUAL_SEEDS = '1,2';
/** A process gets no more memory for objects: what needs more, ends. */
const MAX_OBJECT_MEBIBYTES = 400;
/** Nor may a process ever have had more memory of all kinds: 512 for one case, the rest for the program and its world. */
const MAX_MEBIBYTES = 768;
/** A process in which no case has ended for so long hangs, however busy the machine is. */
const HANG_MS = 120_000;
const LOOK_MS = 1_000;

interface Job extends Stretch {
  readonly target: string;
}

interface Finished {
  readonly job: Job;
  readonly report: ProcessReport;
  readonly problems: readonly string[];
}

// Some targets run the command as it is shipped.
execFileSync(process.execPath, [fileURLToPath(new URL('../../scripts/build.ts', import.meta.url))], {
  stdio: 'inherit',
});
const directory = mkdtempSync(join(tmpdir(), 'coffer-fuzz-'));
try {
  const jobs = await jobsWanted();
  const finished = await runAll(jobs);
  process.exitCode = summarize(finished) === 0 ? 0 : 1;
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function jobsWanted(): Promise<Job[]> {
  const seeds = (process.env['FUZZ_SEED'] ?? USUAL_SEEDS).split(',').map(wholeNumber);
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
      const result = await runJob(job);
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
  return failures;
}

async function runJob(job: Job): Promise<Finished> {
  const { target, seed, from, to } = job;
  const markFile = join(directory, `${target}-${seed}`);
  const program = fileURLToPath(new URL('case-process.ts', import.meta.url));
  const child = fork(program, [target, seed, from, to, markFile].map(String), {
    execArgv: [`--max-old-space-size=${MAX_OBJECT_MEBIBYTES}`, '--disable-warning=ExperimentalWarning'],
    serialization: 'advanced',
  });
  let report: ProcessReport | undefined;
  child.on('message', (message) => {
    report = message as ProcessReport;
  });
  const watch = watchFor(child, markFile);
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => {
    child.once('exit', (...how) => resolve(how));
  });
  const hung = watch.stop();
  if (report === undefined) {
    const reached = reachedIn(markFile);
    const how = hung ? `no case has ended for ${HANG_MS / 1000} s` : `the process ended (${signal ?? code})`;
    const lost: ProcessReport = {
      cases: Math.max(0, reached - from),
      failures: [],
      seconds: 0,
      mebibytes: 0,
    };
    return { job, report: lost, problems: [problem(job, reached, how, 'repeat it to see it')] };
  }
  return { job, report, problems: [...problemsOf(job, report)] };
}

function* problemsOf(job: Job, { failures, mebibytes }: ProcessReport): Generator<string> {
  for (const { index, what, input } of failures) yield problem(job, index, what, input);
  if (mebibytes <= MAX_MEBIBYTES) return;
  yield problem(
    job,
    job.to,
    `the process had ${Math.round(mebibytes)} MiB of memory at its worst`,
    'unknown',
  );
}

function problem({ target, seed }: Job, index: number, what: string, input: string): string {
  const again = `FUZZ_TARGET=${target} FUZZ_SEED=${seed} FUZZ_CASE=${index} npm run test:fuzz`;
  return `--- ${target}, seed ${seed}, case ${index}; again with: ${again}\n${what}\ninput: ${input}`;
}

/** Ends a process that hangs. */
function watchFor(child: ChildProcess, markFile: string): { stop(): boolean } {
  let hung = false;
  let reached = -1;
  let since = performance.now();
  const looking = setInterval(() => {
    const now = reachedIn(markFile);
    if (now !== reached) {
      reached = now;
      since = performance.now();
    } else if (performance.now() - since > HANG_MS) {
      hung = true;
      child.kill('SIGKILL');
    }
  }, LOOK_MS);
  return {
    stop() {
      clearInterval(looking);
      return hung;
    },
  };
}

/** The number of the case that a process was at. */
function reachedIn(markFile: string): number {
  try {
    const bytes = readFileSync(markFile);
    return bytes.length === 8 ? bytes.readDoubleLE() : 0;
  } catch {
    return 0;
  }
}
