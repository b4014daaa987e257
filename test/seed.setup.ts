/** The seed of all random choices that tests make. */
export const SEED_VARIABLE = 'COFFER_TEST_SEED';

/** One seed for a whole run, drawn here unless the environment has it, and said in the end. */
export default function setup(): () => void {
  const seed = process.env[SEED_VARIABLE] ?? String(Date.now() % 2 ** 31);
  process.env[SEED_VARIABLE] = seed;
  return () => {
    process.stdout.write(`\nrandom choices: ${SEED_VARIABLE}=${seed} repeats them\n`);
  };
}
