import { trimSlashes } from '../../ground/trim.ts';
import { LOGIN_PREFIX } from '../../mounts/paths.ts';
import type { Operation } from '../../operations/declaration/operation.ts';
import { type CliParam, flagOf, type Param, type Params } from '../../operations/declaration/params.ts';
import { RESOURCE_KINDS } from '../../operations/declaration/resource-kinds.ts';
import { routesOf } from '../../operations/declaration/route.ts';
import {
  type ArgumentSpec,
  argument,
  type CommandSpec,
  type OptionSpec,
  switching,
  taking,
  takingFile,
} from '../command.ts';
import { type Given, textOption } from '../given.ts';
import { inFlags } from '../terminal/hint-words.ts';
import { FIELD, FORMAT, fieldOption, SELF, tokenFormatOption } from './vault-options.ts';

/** Command-line syntax of an operation, derived completely from its declaration. */
export interface OperationSpec extends CommandSpec {
  /** Parameters of the positional arguments; the input's VALUE follows them. */
  readonly positional: readonly string[];
  /** Parameters of the flags. */
  readonly flags: ReadonlyMap<string, FlagMeaning>;
  /** Parameter that takes the items of `--batch`. */
  readonly batch: string | undefined;
  /** Whether `--force` lets `--out` replace a file; a few operations use it for something else. */
  readonly replaces: boolean;
  /** Login method that the operation belongs to: `--path` is the path of its mount. */
  readonly method: string | undefined;
}

export interface FlagMeaning {
  readonly param: string;
  /**
   * Conversion of the flag's value to the parameter's: unchanged, as the base64 of its text, as a fixed boolean, or as
   * an object, in which a repeated name has its last value, or a list of all.
   */
  readonly as: 'value' | 'base64-of-text' | 'true' | 'false' | 'pairs' | 'pairs-with-lists';
}

type CommandShape = NonNullable<Operation['cli']>;

/** Beginning of what `transit encrypt` prints. */
export const CIPHERTEXT = /^[a-z]+:v\d+:/;

/** Flags that the command line adds to operations of certain shapes. */
export const IN = 'in';
export const OUT = 'out';
export const BASE64 = 'base64';
export const BATCH = 'batch';
export const ALL = 'all';
export const FORCE = 'force';
export const PATH = 'path';
export const IF_MISSING = 'if-missing';

export const outOption = takingFile(OUT, 'Write the result to FILE (mode 0600), atomically.');

/** @see docs/decisions/0155 */
export const forceOption = switching(FORCE, 'Let --out overwrite an existing file.');

/** Options of every command whose result can be written to a file. */
export const outOptions = [outOption, forceOption] as const;

/** @see docs/decisions/0154 */
export const ifMissing = switching(
  IF_MISSING,
  'If the object already exists, leave it unchanged and exit with 0.',
);

export const TWIN_SUFFIX = '-text';

const MOUNTED_BELOW = 'auth';

/** Returns the login method of an operation: below `auth`, operations on mounts are those of login methods. */
export const methodOf = (path: readonly string[], { mount }: Operation): string | undefined =>
  path[0] === MOUNTED_BELOW ? mount : undefined;

/** Returns the mount of a login method's operations, below `auth/`. */
export function mountOfMethod(method: string, options: Given['options']): string {
  const path = trimSlashes(textOption(options, PATH) ?? method);
  return path.startsWith(LOGIN_PREFIX) ? path : LOGIN_PREFIX + path;
}

const pathOption = (method: string): OptionSpec =>
  taking(PATH, 'P', 'Path below auth/ at which the login method is enabled.', {
    fallback: method,
    offers: 'login',
  });

/**
 * Derives the syntax.
 * @param method login method that the operation belongs to
 */
export function specOf(operation: Operation, method?: string): OperationSpec {
  const shape: CommandShape = operation.cli ?? {};
  const input = shape.input?.param;
  const offered = Object.entries(operation.params).filter(
    ([name, param]) => !param.cli.hidden && name !== input,
  );
  const positional = offered.filter(
    ([, param]) => param.cli.positional !== undefined && param.cli.positional !== false,
  );
  const flagged = offered.filter((entry) => !positional.includes(entry) && !isBatch(entry[1]));
  const batch = offered.find(([, param]) => isBatch(param))?.[0];
  const flags = new Map(flagged.flatMap(([name, param]) => meaningsOf(name, param)));
  const names = positional.map(([name]) => name);
  const label = (field: string): string | undefined => labelOf(operation, names, field);
  const named = <S extends { readonly help: string }>(spec: S): S => ({
    ...spec,
    help: inFlags(spec.help, label),
  });
  // Arguments are identified by position: none before a required one can be omitted.
  const lastRequired = positional.findLastIndex(([, param]) => isNeeded(param, shape));
  return {
    positional: names,
    flags,
    batch,
    replaces: !flags.has(FORCE),
    method,
    arguments: [
      ...positional.map(([name, param], at) => argumentOf(name, param, at <= lastRequired)),
      ...inputArgument(operation.params, shape),
    ].map(named),
    options: [
      ...flagged.flatMap(([name, param]) => optionsOf(name, param)).map(named),
      ...(method === undefined ? [] : [pathOption(method)]),
      ...shapeOptions(operation.params, shape, batch),
      ...(flags.has(FORCE) ? [] : [forceOption]),
    ],
    examples: Object.entries(shape.examples ?? {}),
    labelOf: label,
  };
}

/** Whether a command needs the argument. The API has other paths for a name in place of an identifier, commands none. */
const isNeeded = ({ presence, cli }: Param<unknown>, { resolve }: CommandShape): boolean =>
  presence === 'required' || (resolve !== undefined && cli.refersTo !== undefined && cli.positional === true);

/** Whether the parameter has items with fields of their own, so that one call processes many. */
const isBatch = (param: Param<unknown>): boolean => 'fields' in param;

/** Returns the name of a parameter in errors: its flag, or the placeholder of its argument. */
function labelOf(operation: Operation, positional: readonly string[], field: string): string | undefined {
  const param = Object.hasOwn(operation.params, field) ? operation.params[field] : undefined;
  if (param === undefined) return undefined;
  const input = operation.cli?.input;
  // The main input is not always an argument: it may be piped. That of an import is a key until it is wrapped.
  if (field === input?.param && !param.cli.positional)
    return (input.expected ? (input.what ?? field) : field).replace(/^the /, '').replaceAll('_', ' ');
  if (positional.includes(field) || field === input?.param) return metavarOf(field, param);
  if (isBatch(param)) return `--${BATCH}`;
  return param.cli.hidden ? undefined : `--${flagOf(field, param)}`;
}

/** Returns the placeholder, a short word: a long one would move every description on the help page to the right. */
function metavarOf(name: string, param: Param<unknown>): string {
  if (param.cli.metavar !== undefined) return param.cli.metavar;
  if (param.cli.positional) return name.toUpperCase();
  if (param.schema.type === 'integer') return 'N';
  if (param.schema.format === 'byte') return 'B64';
  return flagOf(name, param).replace(/^.*-/, '').toUpperCase();
}

/** Returns the description of a parameter on the command line. */
export const helpOf = ({ help, cli }: Param<unknown>): string => cli.help ?? help;

const choicesOf = (param: Param<unknown>): Pick<OptionSpec, 'choices'> => {
  const choices = param.schema.enum ?? param.cli.suggest?.();
  return choices === undefined ? {} : { choices };
};

const offersOf = ({ cli }: Param<unknown>): Pick<OptionSpec, 'offers'> => {
  const offers = cli.refersTo ?? (cli.isKeyVersion ? 'key-version' : undefined);
  return offers === undefined ? {} : { offers };
};

/** Whether an argument takes all words that follow. */
export const takesMany = ({ cli }: Param<unknown>): boolean =>
  cli.positional === 'variadic' || cli.positional === 'each';

function argumentOf(name: string, param: Param<unknown>, required: boolean): ArgumentSpec {
  return {
    metavar: metavarOf(name, param),
    help: helpOf(param),
    required,
    many: takesMany(param) ? true : undefined,
    ...choicesOf(param),
    ...offersOf(param),
  };
}

function inputArgument(params: Params, shape: CommandShape): readonly ArgumentSpec[] {
  if (shape.input === undefined) return [];
  const param = params[shape.input.param];
  const meaning = shape.input.help ?? (param && helpOf(param));
  const source = sourceText(shape.input);
  // A secret has no name here that would invite to write it as an argument.
  const metavar = shape.input.secret === undefined ? param?.cli.metavar : '-';
  return [
    argument(metavar ?? (shape.input.fromFile ? 'FILE' : 'VALUE'), `${meaning ?? ''} ${source}`.trim(), {
      required: false,
      offers: shape.input.fromFile ? 'file' : undefined,
    }),
  ];
}

/** Returns where the main input comes from, for the help of its argument. */
function sourceText({ secret, optional, onRequest }: NonNullable<CommandShape['input']>): string {
  if (secret !== undefined) {
    const source = onRequest
      ? 'If omitted, prompts on a terminal; "-" reads standard input.'
      : 'If omitted, prompts on a terminal, else reads standard input; "-" always reads standard input.';
    return `Not accepted as an argument, which other users could see. ${source}`;
  }
  return optional || onRequest ? '"-" reads standard input.' : 'Reads standard input if omitted or "-".';
}

function meaningsOf(name: string, param: Param<unknown>): [flag: string, meaning: FlagMeaning][] {
  const flag = flagOf(name, param);
  if (isFlag(param)) {
    const yes: [string, FlagMeaning] = [flag, { param: name, as: 'true' }];
    return param.cli.negatable ? [yes, [`no-${flag}`, { param: name, as: 'false' }]] : [yes];
  }
  if (isPairs(param)) {
    const mayBeLists = param.schema.additionalProperties === true;
    return [[flag, { param: name, as: mayBeLists ? 'pairs-with-lists' : 'pairs' }]];
  }
  const plain: [string, FlagMeaning] = [flag, { param: name, as: 'value' }];
  if (!param.cli.textTwin) return [plain];
  return [plain, [flag + TWIN_SUFFIX, { param: name, as: 'base64-of-text' }]];
}

/**
 * Whether the values are `NAME=VALUE` pairs, rather than the name of an object that a document represents as a JSON
 * object.
 */
const isPairs = ({ schema, cli }: Param<unknown>): boolean =>
  schema.type === 'object' && cli.refersTo === undefined;

const isFlag = (param: Param<unknown>): boolean => param.schema.type === 'boolean';

/** Returns the flags of one parameter. */
export function optionsOf(name: string, param: Param<unknown>): readonly OptionSpec[] {
  const flag = flagOf(name, param);
  if (isFlag(param)) return flagOptions(flag, param);
  const metavar = metavarOf(name, param);
  const several = param.repeated || isPairs(param);
  const option: OptionSpec = {
    flag,
    takes: several ? 'values' : 'value',
    metavar: isPairs(param) ? 'NAME=VALUE' : metavar,
    help: helpOf(param),
    ...fallbackOf(param),
    former: param.cli.formerFlags,
    excludes: param.cli.excludes,
    ...choicesOf(param),
    ...offersOf(param),
  };
  if (!param.cli.textTwin) return [option];
  const twin = flag + TWIN_SUFFIX;
  return [{ ...option, excludes: [twin] }, taking(twin, 'TEXT', `Like --${flag}, but plain text.`)];
}

function flagOptions(flag: string, param: Param<unknown>): readonly OptionSpec[] {
  const option: OptionSpec = { flag, takes: 'nothing', help: helpOf(param) };
  const { negatable } = param.cli;
  if (!negatable) return [option];
  const no = `no-${flag}`;
  const opposite = typeof negatable === 'string' ? negatable : `The opposite of --${flag}.`;
  return [{ ...option, excludes: [no] }, switching(no, opposite)];
}

function fallbackOf(param: Param<unknown>): Pick<OptionSpec, 'fallback'> {
  const value = param.defaultValue;
  const isEmpty =
    value === undefined || value === '' || value === false || (Array.isArray(value) && value.length === 0);
  if (param.cli.environment !== undefined) return { fallback: `$${param.cli.environment}` };
  return isEmpty ? {} : { fallback: String(value) };
}

function shapeOptions(params: Params, shape: CommandShape, batch: string | undefined): readonly OptionSpec[] {
  const { input } = shape;
  const options: OptionSpec[] = [];
  if (input !== undefined && !input.fromFile) {
    const [{ metavar = '' } = {}] = inputArgument(params, shape);
    const { what = metavar, secret } = input;
    const read = secret === undefined ? what : `the ${secret.charAt(0).toLowerCase()}${secret.slice(1)}`;
    options.push(takingFile(IN, `Read ${read} from FILE.`));
  }
  if (input?.as === 'bytes') {
    options.push(switching(BASE64, 'Decode the input, which is base64.'));
  } else if (shape.result?.as === 'base64') {
    options.push(switching(BASE64, 'Print base64 instead of raw bytes.'));
  }
  if (batch !== undefined) options.push(batchOption(input !== undefined));
  if (shape.paged) {
    options.push(switching(ALL, 'List all pages.', { excludes: ['page', 'page-size'] }));
  }
  if (shape.self !== undefined) options.push(selfOption(shape));
  if (shape.makes) options.push(ifMissing);
  if (shape.isOfVault) options.push(fieldOption, tokenFormatOption);
  if (shape.copies) {
    const excludes = [...(copyOption.excludes ?? [])];
    if (batch !== undefined) excludes.push(BATCH);
    // A copy is the token, whatever field is wanted.
    if (shape.isOfVault) excludes.push(FIELD, FORMAT);
    options.push({ ...copyOption, excludes });
  }
  options.push(outOption);
  return options;
}

const selfOption = ({ input }: CommandShape): OptionSpec =>
  switching(SELF, 'Use your own token instead of ID.', { excludes: input && [IN] });

const batchOption = (besideInput: boolean): OptionSpec =>
  takingFile(
    BATCH,
    'Process many items from FILE ("-": standard input), JSON Lines or a JSON array, and print one line per item.',
    { excludes: besideInput ? [IN] : undefined },
  );

/** Returns the examples of an operation without declared ones: the command with its required parameters. */
export function plainExamples(
  path: readonly string[],
  summary: string,
  operation: Operation,
): CommandSpec['examples'] {
  const words = ['coffer', ...path];
  for (const param of Object.values(operation.params)) {
    const { refersTo, example } = param.cli;
    const needed = param.presence === 'required' || refersTo !== undefined || example !== undefined;
    if (param.cli.positional && needed) words.push(exampleOf(param.cli));
  }
  const { input } = operation.cli ?? {};
  const value = input === undefined ? undefined : operation.params[input.param]?.cli.metavar;
  if (value !== undefined) words.push(value);
  const line = words.join(' ');
  const reads = routesOf(operation).every(({ method }) => method === 'GET' || method === 'LIST');
  return reads
    ? [
        [line, summary],
        [`${line} -o json`, 'Print JSON'],
      ]
    : [[line, summary]];
}

const exampleOf = ({ example, refersTo, metavar }: CliParam): string =>
  example ?? (refersTo === undefined ? (metavar ?? 'NAME') : RESOURCE_KINDS[refersTo].example);

export const COPY = 'copy';

/** Time after which the clipboard is cleared, in seconds. */
export const DEFAULT_CLIPBOARD_SECONDS = 45;

/** Option of commands that print a secret. */
export const copyOption = switching(
  COPY,
  `Copy to the clipboard instead of printing, and clear it after ${DEFAULT_CLIPBOARD_SECONDS}s.`,
  { excludes: [OUT, 'output'] },
);
