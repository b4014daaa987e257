import { defineConfig } from 'vitest/config';
import { Report } from '../report.ts';
import { SEED, SEED_VARIABLE } from '../seed.ts';

export default defineConfig({
  test: {
    include: ['test/faults/**/*.test.ts'],
    globalSetup: ['test/faults/tally.setup.ts'],
    setupFiles: ['test/titles.setup.ts', 'test/properties.setup.ts'],
    env: { [SEED_VARIABLE]: SEED },
    reporters: ['default', new Report('-c test/faults/vitest.config.ts ')],
    // The fault layer is put before node:fs for a whole process.
    pool: 'forks',
    testTimeout: 300_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
