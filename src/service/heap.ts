import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Maximum size of a server's young generation, in bytes: each half of it can hold the garbage of some thousand
 * requests.
 */
const MAX_YOUNG_BYTES = 16 * 1024 * 1024;

/**
 * Bounds the memory of a server independently of its load. Otherwise, the young generation of the heap doubles up to
 * 128 MiB under many concurrent requests, and the mid-tier compiler uses 20 MiB; neither makes responses faster.
 *
 * The maximum size cannot be changed in a running program, but the growth factor is read at each growth.
 * @param mostYoungBytes maximum size of the young generation
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

/**
 * Runs the garbage collector now. A key in OpenSSL's memory is overwritten when its object is collected, and on a
 * server that was just sealed nothing else would trigger that soon.
 * @see docs/decisions/0095
 */
export function collectKeys(): void {
  // Node has no function for it; the flag adds one to contexts created from here on.
  setFlagsFromString('--expose-gc');
  const collect: (how: object) => void = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', flavor: 'last-resort' });
}
