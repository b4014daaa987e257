import { relative } from 'node:path';
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { recordDurations } from './durations.ts';
import { isDaily, isLong, ONLY_LONGER } from './long.ts';
import { SEED, SEED_VARIABLE } from './seed.ts';
import { addSum } from './sums.ts';

/** More than its share of a run that is to end within minutes. */
const SHARE_SECONDS = 10;
/** Where all fails, nobody reads more. */
const MOST_LINES = 20;

/** What a run says in the end: how to repeat each failure, which files took more than their share, and the seed. */
export class Report implements Reporter {
  readonly #environment: NodeJS.ProcessEnv;
  #started = 0;

  /** @param environment says what becomes of counts and durations; without it, they are said and no more. */
  constructor(environment: NodeJS.ProcessEnv = {}) {
    this.#environment = environment;
  }

  onTestRunStart(): void {
    this.#started = performance.now();
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const failed = tests.filter((test) => test.result().state === 'failed');
    const broken = modules.filter((module) => !module.ok() && !failed.some((test) => test.module === module));
    const say = (line: string): void => void process.stdout.write(`${line}\n`);
    const again = [...failed.map(repeatTest), ...broken.map(repeatFile)];
    for (const line of again.slice(0, MOST_LINES)) say(`to repeat: ${line}`);
    for (const [module, seconds] of overShare(modules)) {
      say(`over ${SHARE_SECONDS} s: ${pathOf(module)} took ${seconds.toFixed(1)} s`);
    }
    const seconds = (performance.now() - this.#started) / 1000;
    say(`all of it: ${modules.length} files in ${seconds.toFixed(1)} s, ${SEED_VARIABLE}=${SEED}`);
    const passed = tests.filter((test) => test.result().state === 'passed').length;
    addSum('passed', passed, this.#environment);
    addSum('failed', failed.length + broken.length + errors.length, this.#environment);
    if (this.#environment['RECORD_DURATIONS'] === '1') {
      recordDurations(Object.fromEntries(modules.map((module) => [pathOf(module), secondsOf(module)])));
    }
  }
}

/** The command that runs it again with the same choices. */
const repeatTest = (test: TestCase): string =>
  `${repeatFile(test.module)} -t ${quoted(`^${escaped(test.fullName)}$`)}`;

const repeatFile = (module: TestModule): string =>
  `${SEED_VARIABLE}=${SEED} ${isLong ? 'LONG=1 ' : ''}${isDaily ? `${ONLY_LONGER}=1 ` : ''}npx vitest run ${pathOf(module)}`;

const pathOf = (module: TestModule): string => relative(process.cwd(), module.moduleId);

/** A title as a regular expression, which is what `-t` takes. */
const escaped = (title: string): string => title.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** The files that took longer than they may, the longest first. */
function overShare(modules: readonly TestModule[]): (readonly [TestModule, seconds: number])[] {
  return modules
    .map((module) => [module, secondsOf(module)] as const)
    .filter(([, seconds]) => seconds > SHARE_SECONDS)
    .toSorted(([, a], [, b]) => b - a);
}

function secondsOf(module: TestModule): number {
  const { collectDuration, setupDuration, prepareDuration, duration } = module.diagnostic();
  return (collectDuration + setupDuration + prepareDuration + duration) / 1000;
}
