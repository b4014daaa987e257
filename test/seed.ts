import { isLong } from './long.ts';

/** The seed of all random choices that tests make. */
export const SEED_VARIABLE = 'COFFER_TEST_SEED';

/** `npm test` makes the same choices each time, so that it fails only for what was changed. */
const USUAL_SEED = 1;

/** The seed of this run: what the environment says, or a fresh one in the long proof, which looks for what nobody has seen yet. */
export const SEED = process.env[SEED_VARIABLE] ?? String(isLong ? Date.now() % 2 ** 31 : USUAL_SEED);
