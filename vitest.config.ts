import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Suites of their own: `npm run test:faults` and `npm run test:fuzz`.
    exclude: ['test/faults/**', 'test/fuzz/**'],
    globalSetup: ['test/build.setup.ts', 'test/seed.setup.ts'],
    setupFiles: ['test/titles.setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Two cores are what CI has; many tests spawn processes of their own.
    maxWorkers: 2,
  },
});
