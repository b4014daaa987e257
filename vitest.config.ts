import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { isLong } from './test/long.ts';
import { Report } from './test/report.ts';
import { SEED, SEED_VARIABLE } from './test/seed.ts';

/** What takes minutes each. Begun last, one of them would run alone while the other cores wait. */
const LONGEST = [
  'e2e/server.test.ts',
  'e2e/agent-suites.test.ts',
  'e2e/local.test.ts',
  'store/postgres/fleet.test.ts',
  'store/postgres/silence.test.ts',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}`));
      return index < 0 ? LONGEST.length : index;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Suites of their own: `npm run test:faults` and `npm run test:fuzz`.
    exclude: ['test/faults/**', 'test/fuzz/**', ...(isLong ? [] : ['test/**/*.long.test.ts'])],
    globalSetup: ['test/build.setup.ts', 'test/postgres.setup.ts'],
    setupFiles: ['test/titles.setup.ts', 'test/properties.setup.ts'],
    // What tests start draws from the same seed.
    env: { [SEED_VARIABLE]: SEED },
    reporters: ['default', new Report()],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Two cores are what CI has; many tests spawn processes of their own.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
  },
});
