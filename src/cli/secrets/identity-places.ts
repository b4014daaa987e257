import { statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { attempt } from '../../ground/errors.ts';
import { type Environment, variable } from '../given.ts';

/** Files in which a person's private keys are looked for. */

/**
 * Returns the places of private keys of someone who names none: Coffer's own directory, and those of ssh and sops.
 * @throws `invalid` if a variable is not UTF-8
 */
export function usualPlaces(environment: Environment): readonly string[] {
  const home = variable(environment, 'HOME') ?? variable(environment, 'USERPROFILE');
  const below = (name: string, ...otherwise: readonly string[]): string | undefined => {
    const base = variable(environment, name);
    if (base !== undefined && isAbsolute(base)) return base;
    return home === undefined ? undefined : join(home, ...otherwise);
  };
  const config = below('XDG_CONFIG_HOME', '.config');
  const sops = variable(environment, 'SOPS_AGE_KEY_FILE');
  return [
    config && join(config, 'coffer', 'identity'),
    home && join(home, '.ssh', 'id_ed25519'),
    home && join(home, '.ssh', 'id_rsa'),
    sops,
    config && join(config, 'sops', 'age', 'keys.txt'),
  ].flatMap((path) => (path === undefined || path === '' ? [] : [path]));
}

/**
 * Returns a text that changes whenever the files with the user's keys change, without reading them. Only the user can
 * change the files without changing this text.
 * @param path file of `--identity`
 * @returns undefined if the keys are in the environment or come through a pipe
 */
export function identityStamp(environment: Environment, path?: string): string | undefined {
  const named = namedIdentities(environment, path);
  if (named.text !== undefined) return undefined;
  const files =
    named.path === undefined
      ? usualPlaces(environment).flatMap((place) => [place, `${place}.pub`])
      : [named.path];
  const lines: string[] = [];
  for (const file of files) {
    // Without an answer, the file is in a directory that this user cannot enter.
    const found = attempt(() => statSync(file, { throwIfNoEntry: false }));
    if (found?.isFile() === false) return undefined;
    const { dev, ino, size, ctimeMs } = found ?? { dev: 0, ino: 0, size: 0, ctimeMs: 0 };
    lines.push(`${resolve(file)}\0${dev} ${ino} ${size} ${ctimeMs}`);
  }
  return lines.join('\n');
}

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

/** Variables that are true in the jobs of all common CI systems. */
const OF_PIPELINES = ['CI', 'GITHUB_ACTIONS', 'GITLAB_CI'] as const;

/**
 * Returns what a pipeline without its private key lacks: CI systems leave the variable empty, or unset, in jobs that get
 * no secrets.
 * @returns undefined elsewhere, and if the environment names a key
 */
export function pipelineHint(environment: Environment): string | undefined {
  const { text, path } = namedIdentities(environment);
  const empty = [TEXT, FILE].find((name) => environment[name] === '');
  const isPipeline = OF_PIPELINES.some((name) => environment[name] === 'true');
  if (text !== undefined || path !== undefined || (empty === undefined && !isPipeline)) return undefined;
  return `${empty ?? TEXT} is ${empty === undefined ? 'not set' : 'empty'}: in a pipeline, set it to the secret that "coffer team add NAME --new" printed; jobs of forks and of unprotected branches often get no secrets`;
}
