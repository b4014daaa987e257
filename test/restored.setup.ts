import { afterAll, vi } from 'vitest';

/** Whatever a file has replaced by these is there again before the next file begins in the same process. */
afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});
