import { invalid, notFound } from '../../ground/errors.ts';
import { dotenv } from '../../secret-files/dotenv.ts';
import type { ScalarPlace } from '../../secret-files/format.ts';
import { parseValue } from '../../secret-files/value.ts';
import type { Environment } from '../given.ts';
import { namesOfAliases } from '../secret-files/left-aliases.ts';
import type { ReadFile } from '../secret-files/secret-file.ts';
import { withoutOwnSecrets } from '../secrets/secret-variables.ts';

/** Name in errors for variables of the environment, which are in no file. */
const ENVIRONMENT = 'environment';

/** Requested variables of a program, in addition to its environment. */
interface VariablesRequest {
  /** Files in the order of the command line. */
  readonly files: readonly ReadFile[];
  /** Names of the requested variables; all if empty. */
  readonly only: readonly string[];
  /** Whether files override the environment. */
  readonly overwrite: boolean;
}

/** Variable whose value is in a file. */
export interface VariableSource {
  readonly read: ReadFile;
  readonly variable: string;
  readonly place: ScalarPlace;
}

/**
 * Decides about every variable of a program, before anything is decrypted.
 * @returns variables with final values, those to decrypt, if they are encrypted, and names in files that the
 * environment already has
 * @throws `invalid` if two values of one file would become one variable; `not-found` for a name of `only` that does not
 * exist
 */
export function planVariables(environment: Environment, { files, only, overwrite }: VariablesRequest) {
  const own = withoutOwnSecrets(environment);
  const isWanted = (name: string): boolean => only.length === 0 || only.includes(name);
  const sources = new Map<string, VariableSource>();
  for (const [variable, value] of Object.entries(own)) {
    if (!isWanted(variable) || parseValue(value) === undefined) continue;
    const file = dotenv.parse(`${variable}=${value}`, ENVIRONMENT);
    const place = file.places[0];
    const read = { path: ENVIRONMENT, format: dotenv, file };
    if (place !== undefined) sources.set(variable, { variable, read, place });
  }
  const kept = new Set<string>();
  for (const read of files) {
    for (const [variable, place] of variablesOf(read)) {
      if (!isWanted(variable)) continue;
      if (isSet(environment, variable) && !overwrite) kept.add(variable);
      else sources.set(variable, { read, variable, place });
    }
  }
  const missing = only.find((name) => !sources.has(name) && !kept.has(name));
  if (missing !== undefined) {
    throw notFound(`${missing} is neither a value in the files nor an encrypted environment variable`, {
      field: '--only',
      hint: notFollowed(files),
    });
  }
  return { variables: own, sources: [...sources.values()], kept: [...kept] };
}

/** Returns the hint for a name that may be one of an alias. */
function notFollowed(files: readonly ReadFile[]): string | undefined {
  const read = files.find(({ file }) => namesOfAliases(file) !== undefined);
  return read && `YAML aliases in ${read.path} are not followed: ${namesOfAliases(read.file)}`;
}

/** Whether a variable is set. Its name may be that of an inherited property, such as `constructor`. */
const isSet = (environment: Environment, name: string): boolean =>
  Object.hasOwn(environment, name) && environment[name] !== undefined;

/**
 * Returns the variables of a file. In a `.env` file these are its names; in YAML and JSON the keys and indexes, joined
 * by underscores, in upper case: `db.password` becomes DB_PASSWORD. A null does not become a variable.
 */
function variablesOf({ path, file }: ReadFile): ReadonlyMap<string, ScalarPlace> {
  const found = new Map<string, ScalarPlace>();
  for (const place of file.places) {
    if (file.format !== 'dotenv' && place.type === 'null') continue;
    const variable = file.format === 'dotenv' ? place.name : variableOf(place.path);
    const other = found.get(variable);
    if (other !== undefined && other.name !== place.name) {
      throw invalid(`${path}: ${other.name} and ${place.name} both map to the variable ${variable}`, {
        hint: 'rename one of them',
      });
    }
    found.set(variable, place);
  }
  return found;
}

function variableOf(path: readonly string[]): string {
  const name = path
    .join('_')
    .toUpperCase()
    .replace(/[^A-Z0-9_]/g, '_');
  return /^\d/.test(name) ? `_${name}` : name;
}
