import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** The young generation of a server grows up to here: each half of it takes as much as some thousand requests leave behind. */
const MAX_YOUNG_BYTES = 16 * 1024 * 1024;

/**
 * Keeps what a server takes up in bounds that do not depend on how busy it is. Left alone, the heap's young generation
 * doubles up to 128 MiB while many requests are under way, and the middle one of the platform's compilers holds 20 MiB for its
 * own work; neither makes answers faster.
 *
 * The largest size can't be set any more once a program runs, but the factor of growth is read at each growth.
 * @param mostYoungBytes up to where the young generation grows.
 * @see docs/decisions/0069
 */
export function boundHeap(mostYoungBytes = MAX_YOUNG_BYTES): void {
  setFlagsFromString('--no-maglev');
  let factor = 0;
  const bound = (): void => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    const wanted = (young?.space_size ?? 0) >= mostYoungBytes ? 1 : 2;
    if (wanted === factor) return;
    factor = wanted;
    setFlagsFromString(`--semi-space-growth-factor=${factor}`);
  };
  new PerformanceObserver(bound).observe({ entryTypes: ['gc'] });
  bound();
}
