import fc from 'fast-check';
import { isLong } from './long.ts';
import { SEED } from './seed.ts';

/** Cases of a property that says nothing else: fast-check's own default in the long proof. */
const CASES = isLong ? 100 : 30;

/** fast-check draws from the seed of all other choices, so that one line repeats a failure, whatever drew. */
fc.configureGlobal({ seed: Number(SEED), numRuns: CASES });
