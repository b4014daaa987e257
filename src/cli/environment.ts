/** Variables of the environment. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** An empty variable counts as one that is not set, as in the shell's `${X:-}`. */
export const variable = (environment: Environment, name: string): string | undefined =>
  environment[name] === '' ? undefined : environment[name];
