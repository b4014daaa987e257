/** Variables of the environment. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** An empty variable counts as one that is not set, as in the shell's `${X:-}`. */
export const variable = (environment: Environment, name: string): string | undefined =>
  environment[name] === '' ? undefined : environment[name];

/** Variables of ours that are secrets themselves, not the names of files that hold some. */
export const secretVariables: ReadonlySet<string> = new Set([
  'COFFER_MASTER_KEY',
  'COFFER_PASSPHRASE',
  'COFFER_NEW_PASSPHRASE',
  'COFFER_TOKEN',
]);

export const withoutSecrets = (environment: Environment): Environment =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !secretVariables.has(name)));
