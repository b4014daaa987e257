import fc from 'fast-check';
import { SEED } from './seed.ts';

/** fast-check draws from the seed of all other choices, so that one line repeats a failure, whatever drew. */
fc.configureGlobal({ seed: Number(SEED) });
