import { invalid, notFound } from '../../ground/errors.ts';
import { dotenv } from '../../secret-files/dotenv.ts';
import type { Place } from '../../secret-files/format.ts';
import { parseValue } from '../../secret-files/value.ts';
import type { Environment } from '../given.ts';
import type { ReadFile } from '../secret-files/transform.ts';
import { withoutOwnSecrets } from '../secrets/secret-variables.ts';

/** What errors call the place of a variable that no file has. */
const ENVIRONMENT = 'environment';

/** What a program gets beside its own environment. */
export interface Wanted {
  /** In the order of the command line. */
  readonly files: readonly ReadFile[];
  /** Empty: every variable. */
  readonly only: readonly string[];
  /** Files win over the environment. */
  readonly overwrite: boolean;
}

/** A variable whose value stands at a place of a file. */
export interface Source {
  readonly read: ReadFile;
  readonly variable: string;
  readonly place: Place;
}

export interface Plan {
  /** What is as it shall be. */
  readonly variables: Readonly<Record<string, string>>;
  /** What has to be decrypted, if it is encrypted. */
  readonly sources: readonly Source[];
  /** Names that files have, and the environment has already. */
  readonly kept: readonly string[];
}

/**
 * Decides what becomes of every variable, before anything is decrypted.
 * @throws `invalid` when two values of one file would become one variable; `not-found` for a name of `only` that nothing has.
 */
export function planVariables(environment: Environment, { files, only, overwrite }: Wanted): Plan {
  const own = withoutOwnSecrets(environment);
  const isWanted = (name: string): boolean => only.length === 0 || only.includes(name);
  const sources = new Map<string, Source>();
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
    throw notFound(`there is no ${missing} in the files, nor an encrypted one in the environment`, {
      field: '--only',
    });
  }
  return { variables: own, sources: [...sources.values()], kept: [...kept] };
}

/** A variable may be called like something that every object has, such as `constructor`. */
const isSet = (environment: Environment, name: string): boolean =>
  Object.hasOwn(environment, name) && environment[name] !== undefined;

/**
 * The variables of a file. In a `.env` they are its names; in YAML and JSON the keys and indexes, joined by underscores, in capitals:
 * `db.password` is DB_PASSWORD. What is null is no variable.
 */
function variablesOf({ path, file }: ReadFile): ReadonlyMap<string, Place> {
  const found = new Map<string, Place>();
  for (const place of file.places) {
    if (file.format !== 'dotenv' && place.type === 'null') continue;
    const variable = file.format === 'dotenv' ? place.name : variableOf(place.path);
    const other = found.get(variable);
    if (other !== undefined && other.name !== place.name) {
      throw invalid(`${path}: ${other.name} and ${place.name} would both be the variable ${variable}`, {
        hint: 'give one of them another name',
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
