import { type Environment, variable } from '../given.ts';

/** Variables that may unlock a store; described in `secret-sources.ts`. */
export const UNLOCK_VARIABLES = [
  'COFFER_MASTER_KEY',
  'COFFER_MASTER_KEY_FILE',
  'COFFER_MASTER_KEY_COMMAND',
  'COFFER_PASSPHRASE',
  'COFFER_PASSPHRASE_FILE',
  'COFFER_SHARES_FILE',
] as const;

/** Whether the environment has a secret that unlocks the store. */
export const givesSecret = (environment: Environment): boolean =>
  UNLOCK_VARIABLES.some((name) => variable(environment, name) !== undefined);

/** Variables among them that contain the secret itself, not its source. */
const SECRETS: readonly (typeof UNLOCK_VARIABLES)[number][] = ['COFFER_MASTER_KEY', 'COFFER_PASSPHRASE'];

/** Coffer's variables that contain secrets. */
export const secretVariables: ReadonlySet<string> = new Set([
  ...SECRETS,
  'COFFER_NEW_PASSPHRASE',
  'COFFER_TOKEN',
  'COFFER_ID_TOKEN',
  'COFFER_IDENTITY',
]);

/** Returns the environment without Coffer's secrets, for programs that do not need them and may pass it on. */
export const withoutOwnSecrets = (environment: Environment): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value === undefined || secretVariables.has(name) ? [] : [[name, value] as const],
    ),
  );

/**
 * Variable with the token of another Vault-compatible server, which programs started by Coffer itself do not need
 * either.
 */
export const FAMILY_TOKEN = 'VAULT_TOKEN';
