import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { invalid } from '../ground/errors.ts';
import { trimSlashes } from '../ground/trim.ts';
import { DEFAULT_MOUNT } from '../mounts/paths.ts';
import { locationFrom, refuseUnknownLocation } from '../store/backends/registry.ts';
import { refuseKeyringPlace } from '../team/directory.ts';
import { homeHint } from './files/in-file.ts';
import { type Environment, type OptionValue, textOption, variable } from './given.ts';

/** `wide` is a table with all columns and exact times. */
export type OutputFormat = 'table' | 'wide' | 'json' | 'raw';
export const outputFormats: readonly OutputFormat[] = ['table', 'wide', 'json', 'raw'];

/** Source of the token for a server. */
type TokenSource =
  | { readonly kind: 'none' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'prompt' };

/** Settings from the global options and the environment. */
export type Settings = ReturnType<typeof resolveSettings>;

export function resolveSettings(everywhere: ReadonlyMap<string, OptionValue>, environment: Environment) {
  const fromEnvironment = (name: string): string | undefined => variable(environment, name);
  const store = textOption(everywhere, 'store');
  const named = store ?? fromEnvironment('COFFER_STORE');
  refuseUnmeantPlace(named);
  refuseKeyringPlace(named);
  // A store on the command line takes precedence over a server in the environment.
  const address =
    textOption(everywhere, 'address') ??
    (store === undefined ? (fromEnvironment('COFFER_ADDR') ?? familyAddress(environment)) : undefined);
  const mount = textOption(everywhere, 'mount') ?? fromEnvironment('COFFER_MOUNT');
  return {
    storeLocation: locationFrom(named ?? defaultDirectory(environment), fromEnvironment),
    /** Address of the server; undefined for the local store. */
    address,
    token: tokenSource(everywhere, environment),
    mount: trimSlashes(mount ?? DEFAULT_MOUNT),
    /** Whether the command line names a store or a server, which is then used even if a file has a keyring. */
    placeNamed: store !== undefined || everywhere.has('address'),
    /** Whether the command line or the environment names the mount. */
    mountNamed: mount !== undefined,
    organization: textOption(everywhere, 'org') ?? fromEnvironment('COFFER_ORG'),
    /** Output format; undefined for a table on a terminal, raw otherwise. */
    format: formatOf(textOption(everywhere, 'output')),
    quiet: everywhere.has('quiet'),
    colourAllowed: isColourAllowed(environment) && !everywhere.has('no-color'),
    /** Whether tables are drawn with ASCII only. */
    plainLines: environment['TERM'] === 'dumb' || isPlainLocale(environment),
    yes: everywhere.has('yes'),
    mayAsk: !everywhere.has('no-prompt') && fromEnvironment('COFFER_NO_PROMPT') === undefined,
  } as const;
}

/**
 * Refuses a location that would become a directory of that name, but was not meant so: one that a shell was to fill in
 * (an unset variable, a `~` in quotes or after `=`), or the URL of something that cannot contain a store.
 * @param field option or argument that names it
 * @throws `invalid`
 */
export function refuseUnmeantPlace(location: string | undefined, field = 'store'): void {
  if (location === '') {
    throw invalid('the location of the store is empty', {
      field,
      hint: 'if the location comes from a variable, check that the variable is set',
    });
  }
  if (location === undefined) return;
  refuseUnknownLocation(location, field);
  const hint = homeHint(location);
  if (hint !== undefined) throw invalid(`cannot use ${location} as a store`, { field, hint });
}

/** Whether the environment allows colour on a terminal. */
export const isColourAllowed = (environment: Environment): boolean =>
  !environment['NO_COLOR'] && environment['TERM'] !== 'dumb';

/** Whether the character locale has ASCII only. */
function isPlainLocale(environment: Environment): boolean {
  const name = ['LC_ALL', 'LC_CTYPE', 'LANG'].map((variable) => environment[variable]).find(Boolean);
  return name === 'C' || name === 'POSIX';
}

/** Returns the address for Vault clients. VAULT_ADDR only counts if no local store exists or is named. */
function familyAddress(environment: Environment): string | undefined {
  const address = variable(environment, 'VAULT_ADDR');
  if (address === undefined || variable(environment, 'COFFER_STORE') !== undefined) return undefined;
  return existsSync(defaultDirectory(environment)) ? undefined : address;
}

function tokenSource(everywhere: ReadonlyMap<string, OptionValue>, environment: Environment): TokenSource {
  const given = everywhere.get('token');
  if (given === true) return { kind: 'prompt' };
  const path = textOption(everywhere, 'token-file');
  if (path !== undefined) return { kind: 'file', path };
  const text = typeof given === 'string' ? given : variable(environment, 'COFFER_TOKEN');
  return text === undefined ? { kind: 'none' } : { kind: 'text', text };
}

function formatOf(text: string | undefined): OutputFormat | undefined {
  // Other programs accept -o=json; by POSIX rules, the value of a short option begins directly after the letter.
  const named = text?.replace(/^=/, '');
  const format = outputFormats.find((candidate) => candidate === named);
  if (text === undefined || format !== undefined) return format;
  const hint = `use one of ${outputFormats.join(', ')}`;
  throw invalid(`invalid value "${text}"`, { field: 'output', hint });
}

/** Returns the data directory for the store on the platform. */
export function defaultDirectory(environment: Environment, platform: string = process.platform): string {
  const home = (): string => variable(environment, 'HOME') ?? homeOfUser();
  const xdg = variable(environment, 'XDG_DATA_HOME');
  if (platform === 'win32') {
    return join(variable(environment, 'LOCALAPPDATA') ?? join(home(), 'AppData', 'Local'), 'coffer');
  }
  if (xdg !== undefined) return join(xdg, 'coffer');
  return platform === 'darwin'
    ? join(home(), 'Library', 'Application Support', 'coffer')
    : join(home(), '.local', 'share', 'coffer');
}

/** Returns the home directory of the user database: an empty HOME would put the store into the working directory. */
function homeOfUser(): string {
  try {
    return process.getBuiltinModule('node:os').userInfo().homedir;
  } catch {
    throw invalid('cannot find the default store: no home directory', {
      hint: 'set COFFER_STORE, or use --store',
    });
  }
}
