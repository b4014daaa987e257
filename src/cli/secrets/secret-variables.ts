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

/** Those of them that are the secret itself, not the way to one. */
const SECRETS: readonly (typeof UNLOCK_VARIABLES)[number][] = ['COFFER_MASTER_KEY', 'COFFER_PASSPHRASE'];

/** Variables of ours that are secrets themselves. */
export const secretVariables: ReadonlySet<string> = new Set([
  ...SECRETS,
  'COFFER_NEW_PASSPHRASE',
  'COFFER_TOKEN',
  'COFFER_ID_TOKEN',
  'COFFER_IDENTITY',
]);

/** Variables for a program that has nothing to do with the secrets of ours, and may pass on what it gets. */
export const withoutOwnSecrets = (environment: Environment): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value === undefined || secretVariables.has(name) ? [] : [[name, value] as const],
    ),
  );

/** The token of another server of the family, which programs that we start for ourselves have no use for, either. */
export const FAMILY_TOKEN = 'VAULT_TOKEN';
