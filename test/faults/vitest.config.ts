import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/faults/**/*.test.ts'],
    globalSetup: ['test/faults/tally.setup.ts', 'test/seed.setup.ts'],
    setupFiles: ['test/titles.setup.ts'],
    // The fault layer is put before node:fs for a whole process.
    pool: 'forks',
    testTimeout: 300_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
