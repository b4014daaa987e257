import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/durations.ts';
import { growsLong, sharesProcess, testFiles } from './test/kinds.ts';
import { ONLY_LONGER } from './test/long.ts';
import { Report } from './test/report.ts';
import { SEED, SEED_VARIABLE } from './test/seed.ts';

/** What `npm test` has just done is not done again: only what makes other choices, or more of them. */
const files = testFiles.filter((path) => process.env[ONLY_LONGER] !== '1' || growsLong(path));
const faults = files.filter((path) => path.startsWith('test/faults/'));
const behaviour = files.filter((path) => !faults.includes(path));

/** Of the whole run: the first project that has files does it. */
const globalSetup = ['test/temporary.setup.ts', 'test/compiled.setup.ts', 'test/postgres.setup.ts'];
const faultsSetup = ['test/temporary.setup.ts', 'test/faults/tally.setup.ts'];

export default defineConfig({
  test: {
    setupFiles: [
      'test/restored.setup.ts',
      'test/titles.setup.ts',
      'test/properties.setup.ts',
      'test/choices.setup.ts',
    ],
    // What tests start draws from the same seed.
    env: { [SEED_VARIABLE]: SEED },
    reporters: ['default', new Report(process.env)],
    alias: [
      {
        find: /^.*\/heap\.ts$/,
        replacement: fileURLToPath(new URL('test/service/whole-process.double.ts', import.meta.url)),
      },
    ],
    // Modules of Node and packages are imported as Node does it, without a proxy before each of their functions.
    deps: { interopDefault: false },
    // For what hangs: on a machine with much other work, a test takes twenty times as long as usual.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // Two cores are what CI has. A fifth of the time tests wait, for processes, limits and databases: more workers use it.
    maxWorkers: 4,
    // Less work for garbage and compilation, a sixth of what a process of tests does: room for what tests leave behind at once; no look at all
    // the rest before it is large, nor in each pause; and functions keep their bytecode.
    execArgv: [
      '--max-semi-space-size=64',
      '--min-semi-space-size=16',
      '--initial-heap-size=512',
      '--no-memory-reducer',
      '--no-flush-bytecode',
    ],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: { name: 'shared', include: behaviour.filter(sharesProcess), isolate: false, globalSetup },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: behaviour.filter((path) => !sharesProcess(path)),
          globalSetup,
        },
      },
      {
        extends: true,
        test: {
          name: 'faults',
          include: faults.filter(sharesProcess),
          isolate: false,
          globalSetup: faultsSetup,
          // The fault layer is put before node:fs for a whole process.
          pool: 'forks',
        },
      },
      {
        extends: true,
        test: {
          name: 'faults-alone',
          include: faults.filter((path) => !sharesProcess(path)),
          globalSetup: faultsSetup,
          pool: 'forks',
        },
      },
    ],
  },
});
