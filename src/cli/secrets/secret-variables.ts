import { type Environment, variable } from '../given.ts';

/** The variables that may unlock a store; what each holds stands in `secret-sources.ts`. */
export const UNLOCK_VARIABLES = [
  'COFFER_MASTER_KEY',
  'COFFER_MASTER_KEY_FILE',
  'COFFER_MASTER_KEY_COMMAND',
  'COFFER_PASSPHRASE',
  'COFFER_PASSPHRASE_FILE',
  'COFFER_SHARES_FILE',
] as const;

/** Whether the environment says what unlocks the store. */
export const givesSecret = (environment: Environment): boolean =>
  UNLOCK_VARIABLES.some((name) => variable(environment, name) !== undefined);
