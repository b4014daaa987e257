import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ProcessReport } from './case-process.ts';
import type { Stretch } from './cases.ts';

/** A process gets no more memory for objects: what needs more, ends. */
const MAX_OBJECT_MEBIBYTES = 400;
/** Nor may a process ever have had more memory of all kinds: 512 for one case, the rest for the program and its world. */
const MAX_MEBIBYTES = 768;
/** A process in which no case has ended for so long hangs, however busy the machine is. */
const HANG_MS = 120_000;
/** Characters of an input that are shown. */
const MAX_SHOWN = 4_000;
const LOOK_MS = 1_000;

/** Cases of a target that a process of its own runs. */
export interface Job extends Stretch {
  readonly target: string;
}

export interface Finished {
  readonly job: Job;
  readonly report: ProcessReport;
  readonly problems: readonly string[];
}

/** Runs the cases of a job in a process of its own. @param directory where it says how far it is. */
export async function runJob(job: Job, directory: string): Promise<Finished> {
  const [finished] = runJobs([job], directory);
  if (finished === undefined) throw new Error('no job');
  return await finished;
}

/** Runs jobs in one process, in their order. A job fails if the process has ended before its turn. */
export function runJobs(jobs: readonly Job[], directory: string): readonly Promise<Finished>[] {
  const markFile = join(
    directory,
    jobs
      .map(({ target, seed }) => `${target}-${seed}`)
      .join('+')
      .slice(0, 100),
  );
  const program = fileURLToPath(new URL('case-process.ts', import.meta.url));
  const child = fork(program, [markFile, JSON.stringify(jobs)], {
    execArgv: [`--max-old-space-size=${MAX_OBJECT_MEBIBYTES}`, '--disable-warning=ExperimentalWarning'],
    serialization: 'advanced',
  });
  const watch = watchFor(child, markFile);
  const finished = jobs.map(() => Promise.withResolvers<Finished>());
  let reports = 0;
  child.on('message', (message) => {
    const report = message as ProcessReport;
    const job = jobs[reports];
    if (job !== undefined)
      finished[reports]?.resolve({ job, report, problems: [...problemsOf(job, report)] });
    reports++;
  });
  child.once('exit', (code, signal) => {
    const hung = watch.stop();
    const reached = reachedIn(markFile);
    const how = hung ? `no case has ended for ${HANG_MS / 1000} s` : `the process ended (${signal ?? code})`;
    for (const [index, job] of jobs.entries()) {
      if (index < reports) continue;
      const at = index === reports ? reached : job.from;
      const report = { cases: at - job.from, failures: [], seconds: 0, mebibytes: 0 };
      const problems = [problem(job, at, how, 'repeat it to see it')];
      finished[index]?.resolve({ job, report, problems });
    }
  });
  return finished.map(({ promise }) => promise);
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
  return `--- ${target}, seed ${seed}, case ${index}; again with: ${again}\n${what}\ninput: ${shortened(input)}`;
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

/** An input of megabytes would bury everything else; the line above it makes the whole again. */
function shortened(input: string): string {
  if (input.length <= MAX_SHOWN) return input;
  return `${input.slice(0, MAX_SHOWN)}… (${input.length - MAX_SHOWN} characters more)`;
}
