import { type Environment, variable } from '../given.ts';

const TEXT = 'COFFER_IDENTITY';
const FILE = 'COFFER_IDENTITY_FILE';

/** Private keys that the user named; if there are none, those at the usual places are looked for. */
export interface NamedIdentities {
  /** Keys as text, of the environment. */
  readonly text?: string | undefined;
  /** File with keys. */
  readonly path?: string | undefined;
  /** Source of the path in messages. */
  readonly source: string;
  /** Whether the user named them for this command, and so says that the store is theirs. */
  readonly isTrusted?: boolean;
}

/**
 * Returns what a command or the environment names.
 * @param path file of `--identity`, which takes precedence
 */
export function namedIdentities(environment: Environment, path?: string): NamedIdentities {
  if (path !== undefined) return { path, source: '--identity', isTrusted: true };
  const text = variable(environment, TEXT);
  if (text !== undefined) return { text, source: TEXT };
  return { path: variable(environment, FILE), source: FILE };
}
