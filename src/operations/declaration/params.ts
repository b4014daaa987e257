import { CofferError, invalid, ownWords } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import type { ResourceKind } from './resource-kinds.ts';
import { parseBoolean, parseInteger, parseText, wrongType } from './weak-values.ts';

/*
 * Limits of request parameters, enforced here so that other code need not check the size of numbers and texts. No
 * honest client comes close; narrower limits are in the declarations or the modules concerned.
 * @see docs/decisions/0112
 */

/** Maximum absolute value of integers. */
export const MOST_NUMBER = 2 ** 31 - 1;
/** Maximum length of a text that is not declared `long`, in characters: that of a request head. */
export const MOST_CHARACTERS = 16 * 1024;
/** Maximum number of texts in a list. */
const MOST_TEXTS = 10_000;
/** Maximum number of items in a batch. */
const MOST_ITEMS = 500_000;

/** Subset of JSON Schema for parameters; copied to the OpenAPI document. */
export interface Schema {
  readonly type?: 'string' | 'integer' | 'boolean' | 'array' | 'object';
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly required?: readonly string[] | undefined;
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly description?: string;
  readonly default?: unknown | undefined;
}

/** Appearance on the command line; defaults are derived from the wire name and the type. */
export interface CliParam {
  /** Flag without dashes; default: the wire name in kebab case. */
  readonly flag?: string;
  /** Earlier names of the flag, which keep working. */
  readonly formerFlags?: readonly string[];
  /**
   * Positional argument, in the order of declaration, instead of a flag. `variadic` takes all remaining ones. So does
   * `each`: the operation runs once for each of them. If it answers with a resource, its table, lines and `instead` get
   * a list where `data` is one resource.
   */
  readonly positional?: boolean | 'variadic' | 'each';
  /** Placeholder for the value in help, e.g. `NAME`; default: the flag in capitals. */
  readonly metavar?: string;
  /** Description on the command line, if it accepts something else than the API, such as a name for an ID. */
  readonly help?: string;
  /** Value in generated examples; default: that of the kind of resource, or the placeholder. */
  readonly example?: string;
  /** Base64 parameter: adds a flag `--<flag>-text` that takes plain text. */
  readonly textTwin?: boolean;
  /** Whether `@FILE` reads the value from a file. */
  readonly orFile?: boolean;
  /**
   * Boolean: adds a flag `--no-<flag>`. A text describes that flag, for which the opposite of the description would be a
   * double negation.
   */
  readonly negatable?: boolean | string;
  /** Flags that cannot be combined with this one; the API may define a precedence instead. */
  readonly excludes?: readonly string[];
  /** Whether it is not available on the command line. */
  readonly hidden?: boolean;
  /** Environment variable used if the flag is absent. */
  readonly environment?: string;
  /** Suggested words for help and completions; the parser accepts others as well. */
  readonly suggest?: () => readonly string[];
  /**
   * Present if the command line only accepts suggested words: the API would interpret others in a way that no user
   * means.
   */
  readonly onlySuggested?: true;
  /**
   * Checks a value that the API ignores in some calls, and then accepts whatever it is.
   * @throws `invalid`
   */
  readonly check?: (value: string) => void;
  /**
   * Rule for each of several values (`positional: 'each'`), held against all of them before the first is used.
   * @throws `invalid`
   */
  readonly rule?: (value: string) => unknown;
  /** Kind of resource, for completions and for looking up names given instead of IDs. */
  readonly refersTo?: ResourceKind;
  /** Present for a version of the key that the command names, for completions. */
  readonly isKeyVersion?: true;
}

/**
 * Parameter, declared once: the parser, the JSON schema, the command-line flag and the help are derived from it. The
 * parser has Vault's weak typing (a number may arrive as text, and so on), so that real clients are understood; `null`
 * counts as present with the zero value.
 */
export interface Param<T> {
  readonly help: string;
  readonly schema: Schema;
  readonly presence: 'required' | 'optional' | 'default';
  readonly defaultValue?: T | undefined;
  readonly cli: CliParam;
  /** Place in a JSON:API request document: `data` as a whole, or a member of the resource in `data`. */
  readonly document?: 'data' | 'attributes' | 'relationships';
  /** Whether the flag can be repeated, or lists several values. */
  readonly repeated: boolean;
  /** Present if `null` means absent instead of the zero value, so that the current value stays. */
  readonly nullIsAbsent?: true;
  /**
   * Parses a value.
   * @throws `invalid` naming the field
   */
  parse(value: unknown, field: string): T;
  /** Normalizes a name in a path that has several spellings: policies must also allow the normalized path. */
  readonly understoodAs?: (name: string) => string;
  /** Converts a parsed value to the JSON value of a request, if they differ. */
  print?(value: T): unknown;
  /** Name in requests to a server, if some servers do not accept the parameter's own. */
  readonly sentAs?: string;
  /** Query form of a parameter that consists of several, whose names begin with its own: `filter[tagged][0][key]`. */
  readonly query?: {
    /** Examples of the names, for descriptions. */
    readonly names: readonly string[];
    /**
     * Converts to a raw value for `parse`.
     * @throws `invalid` for an unknown name
     */
    read(members: readonly (readonly [string, unknown])[]): unknown;
    /**
     * Converts from a raw value.
     * @param value raw value
     */
    print(value: unknown): readonly (readonly [string, string])[];
  };
}

export type Params = Readonly<Record<string, Param<unknown>>>;

/** Parameters of an operation without any. */
export type NoParams = Readonly<Record<never, Param<unknown>>>;

type ValueOf<P> = P extends Param<infer T> ? T : never;
type OptionalNames<P extends Params> = {
  [K in keyof P]: P[K] extends { readonly presence: 'optional' } ? K : never;
}[keyof P];

/** Values of a handler by wire name, parsed; optional ones may be absent. */
export type ValuesOf<P extends Params> = {
  readonly [K in Exclude<keyof P, OptionalNames<P>>]: ValueOf<P[K]>;
} & { readonly [K in OptionalNames<P>]?: ValueOf<P[K]> };

/** Parameter with a duration: callers in TypeScript may also give it as text. */
export type OfDuration = { readonly schema: Schema & { readonly format: 'duration' } };

/** Input for one parameter: for a batch, its items before parsing. */
type GivenOf<P> = P extends { readonly fields: infer F extends Params }
  ? readonly InputOf<F>[]
  : P extends OfDuration
    ? ValueOf<P> | string
    : ValueOf<P>;

/** Input of library callers: parameters with a default may be omitted. */
export type InputOf<P extends Params> = {
  readonly [K in keyof P as P[K] extends { readonly presence: 'required' } ? K : never]: GivenOf<P[K]>;
} & { readonly [K in keyof P as P[K] extends { readonly presence: 'required' } ? never : K]?: GivenOf<P[K]> };

/** Common declaration of parameters of any type. */
export interface Spec<T> {
  readonly help: string;
  readonly required?: true;
  readonly default?: T;
  readonly cli?: CliParam;
}

/** Describes a parameter that commands accept, but that neither help nor completions show. */
export const hidden = (help: string) => ({ help, cli: { hidden: true } }) as const;

type Presence<S> = S extends { readonly required: true }
  ? 'required'
  : S extends { readonly default: unknown }
    ? 'default'
    : 'optional';

/** Words that a parameter suggests, if their type lists them; for callers in TypeScript. */
export type SuggestedWords<S> = S extends { readonly suggests?: () => readonly (infer W extends string)[] }
  ? W
  : never;

export type Declared<T, S> = Param<T> & {
  readonly presence: Presence<S>;
  /** Only a type: what `cli.suggest` returns. */
  readonly suggests?: S extends { readonly cli: { readonly suggest: infer F } } ? F : never;
};

/** Declares a parameter of a custom type; the functions below declare the usual ones. */
export function declare<T, S extends Spec<T>>(
  spec: S,
  schema: Schema,
  parse: (value: unknown, field: string) => T,
  repeated = false,
): Declared<T, S> {
  const presence = spec.required ? 'required' : spec.default === undefined ? 'optional' : 'default';
  return {
    help: spec.help,
    schema: {
      ...schema,
      description: spec.help,
      default: spec.default,
    },
    presence: presence as Presence<S>,
    defaultValue: spec.default,
    cli: spec.cli ?? {},
    repeated,
    parse,
  };
}

/** Text parameter. A `long` one is only limited by the size of a request. */
export function text<const S extends Spec<string>>(spec: S & { readonly long?: true }): Declared<string, S> {
  if (spec.long) return declare<string, S>(spec, { type: 'string' }, parseText);
  return declare<string, S>(spec, SHORT_TEXT, parseShortText);
}

const SHORT_TEXT: Schema = { type: 'string', maxLength: MOST_CHARACTERS };

/**
 * Parses a text of limited length.
 * @throws `invalid` naming the field
 */
export function parseShortText(value: unknown, field: string): string {
  const given = parseText(value, field);
  if (given.length <= MOST_CHARACTERS) return given;
  throw invalid(`${field} must have at most ${MOST_CHARACTERS} characters, not ${given.length}`, { field });
}

/** Advice for items that need not be in one request: unlike those of a setting, which a second request replaces. */
export const IN_PARTS = 'send several requests';

/**
 * Limits the number of items.
 * @throws `invalid` naming the field
 */
export function checkCount(items: readonly unknown[], most: number, field: string, hint?: string): void {
  if (items.length <= most) return;
  throw invalid(`${field} must have at most ${most} items, not ${items.length}`, { field, hint });
}

/** Base64 parameter. It is not decoded here: the operation knows in which order errors have to be reported. */
export function base64<const S extends Spec<string>>(spec: S): Declared<string, S> {
  return declare<string, S>(spec, { type: 'string', format: 'byte' }, parseText);
}

/** Parameter with one of a few words. `unknown` creates the error text for others. */
export function choice<const W extends string, const S extends Spec<W>>(
  words: readonly W[],
  spec: S & { readonly unknown?: (value: string) => string },
): Declared<W, S> {
  return declare<W, S>(spec, { type: 'string', enum: words }, (value, field) => {
    const given = parseText(value, field);
    const word = words.find((candidate) => candidate === given);
    if (word !== undefined) return word;
    const known = words.filter((candidate) => candidate !== '').join(', ');
    throw invalid(spec.unknown?.(given) ?? `${field} must be one of ${known}, not "${given}"`, {
      field,
      hint: `use one of ${known}`,
    });
  });
}

/** Integer parameter. Numbers in texts are accepted, also `0x…`, `0b…` and octal with a leading 0, as in Vault. */
export function integer<const S extends Spec<number>>(
  spec: S & { readonly minimum?: number; readonly maximum?: number },
): Declared<number, S> {
  const { minimum = -MOST_NUMBER, maximum = MOST_NUMBER } = spec;
  return declare<number, S>(spec, { type: 'integer', minimum, maximum }, (value, field) => {
    const parsed = parseInteger(value, field);
    if (parsed < minimum) throw invalid(`${field} must be at least ${minimum}, not ${parsed}`, { field });
    if (parsed > maximum) throw invalid(`${field} must be at most ${maximum}, not ${parsed}`, { field });
    return parsed;
  });
}

/** Boolean parameter. */
export function flag<const S extends Spec<boolean>>(spec: S): Declared<boolean, S> {
  return declare<boolean, S>(spec, { type: 'boolean' }, parseBoolean);
}

/** List of texts: an array, or comma-separated text. */
export function texts<const S extends Spec<readonly string[]>>(spec: S): Declared<readonly string[], S> {
  const parse = (value: unknown, field: string): readonly string[] => {
    if (value === null || value === '') return [];
    const given: readonly unknown[] = Array.isArray(value) ? value : parseText(value, field).split(',');
    checkCount(given, MOST_TEXTS, field);
    const items = given.map((item) => parseShortText(item, field));
    return Array.isArray(value) ? items : items.map((item) => item.trim());
  };
  const schema: Schema = { type: 'array', items: SHORT_TEXT, maxItems: MOST_TEXTS };
  return declare<readonly string[], S>(spec, schema, parse, true);
}

/** Object whose members are texts. */
export function textMap<const S extends Spec<Readonly<Record<string, string>>>>(
  spec: S,
): Declared<Readonly<Record<string, string>>, S> {
  const schema: Schema = { type: 'object', additionalProperties: { type: 'string' } };
  return declare<Readonly<Record<string, string>>, S>(spec, schema, (value, field) => {
    if (value === null || value === '') return {};
    if (!isObject(value)) throw wrongType(field, 'an object');
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, parseText(item, field)]));
  });
}

/** Object whose members are parameters; others are ignored. */
export function members<const F extends Params, const S extends Spec<never>>(
  fields: F,
  spec: S,
): Declared<Partial<ValuesOf<F>>, S> {
  const properties = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.schema]));
  return declare<Partial<ValuesOf<F>>, S>(spec, { type: 'object', properties }, (value, field) => {
    if (value === null || value === '') return {};
    if (!isObject(value)) throw wrongType(field, 'an object');
    return parseValues(fields, value).values;
  });
}

/** Item of a batch. An invalid item carries its error instead of failing the whole call. */
export interface ParsedItem<V> {
  readonly values: Partial<V>;
  readonly problem?: CofferError;
}

/**
 * `batch_input`: an array of objects, each parsed separately by `fields`. Unknown members are ignored. As in Vault,
 * `null` is not a batch, so that the call is for a single value.
 */
export function batch<const F extends Params, const S extends Omit<Spec<never>, 'required' | 'default'>>(
  fields: F,
  spec: S,
): Param<readonly ParsedItem<ValuesOf<F>>[] | undefined> & {
  readonly presence: 'optional';
  readonly fields: F;
} {
  const properties = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.schema]));
  const schema: Schema = { type: 'array', items: { type: 'object', properties }, maxItems: MOST_ITEMS };
  const named = Object.entries(fields);
  const parse = (value: unknown, field: string): readonly ParsedItem<ValuesOf<F>>[] | undefined => {
    if (value === null) return undefined;
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (items !== value && !isObject(value)) throw wrongType(`${field}[0]`, 'an object');
    checkCount(items, MOST_ITEMS, field, IN_PARTS);
    return items.map((item, index) =>
      isObject(item)
        ? (parseItem(named, item, field, index) as ParsedItem<ValuesOf<F>>)
        : { values: {}, problem: wrongType(`${field}[${index}]`, 'an object') },
    );
  };
  return {
    ...declare<readonly ParsedItem<ValuesOf<F>>[] | undefined, Spec<never>>(spec, schema, parse),
    presence: 'optional',
    fields,
  };
}

/** Parses an item. Its position, `list[index]`, is only printed in errors. */
function parseItem(
  fields: readonly (readonly [string, Param<unknown>])[],
  item: Readonly<Record<string, unknown>>,
  list: string,
  index: number,
): ParsedItem<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  let problem: CofferError | undefined;
  for (const [name, field] of fields) {
    const value = item[name];
    if (value === undefined || !Object.hasOwn(item, name)) continue;
    try {
      values[name] = field.parse(value, name);
    } catch {
      // Parse it again, now with the full name for the error.
      problem ??= refusalOf(() => field.parse(value, `${list}[${index}].${name}`));
    }
  }
  return problem === undefined ? { values } : { values, problem };
}

function refusalOf(attempt: () => unknown): CofferError {
  try {
    attempt();
  } catch (error) {
    if (error instanceof CofferError) return error;
    throw error;
  }
  throw new TypeError('a value was refused and then taken');
}

export interface Parsed<P extends Params> {
  readonly values: ValuesOf<P>;
  /** Unknown names, sorted; callers may warn, but must not refuse. */
  readonly unrecognized: readonly string[];
}

/**
 * Parses raw values (wire name → JSON value, or text from a URL or a flag) by the declaration: the common parser of the
 * command line, the HTTP routes and the library.
 * @throws `invalid` naming the first parameter that is missing or of the wrong type
 */
export function parseValues<P extends Params>(params: P, raw: Readonly<Record<string, unknown>>): Parsed<P> {
  const values: Record<string, unknown> = {};
  for (const name in params) {
    const param = params[name];
    if (param === undefined) continue;
    const value = Object.hasOwn(raw, name) ? raw[name] : undefined;
    const isAbsent = value === undefined || (value === null && param.nullIsAbsent === true);
    if (!isAbsent) values[name] = param.parse(value, name);
    else if (param.presence === 'default') values[name] = param.defaultValue;
    else if (param.presence === 'required') {
      throw invalid(ownWords(`missing ${name}`), { field: name, hint: param.help });
    }
  }
  return { values: values as ValuesOf<P>, unrecognized: unrecognizedIn(params, raw) };
}

/** Returns the values of some parameters that were given. */
export const givenOf = <P extends Params>(
  params: P,
  values: { readonly [Name in keyof P]?: unknown },
): Partial<ValuesOf<P>> =>
  Object.fromEntries(
    Object.entries(values).filter(([name, value]) => value !== undefined && Object.hasOwn(params, name)),
  ) as Partial<ValuesOf<P>>;

const NONE: readonly string[] = [];

function unrecognizedIn(params: Params, raw: Readonly<Record<string, unknown>>): readonly string[] {
  const names: string[] = [];
  for (const name of Object.keys(raw)) if (!Object.hasOwn(params, name)) names.push(name);
  return names.length === 0 ? NONE : names.sort();
}

/** Returns the kebab-case flag of a parameter, without dashes. */
export const flagOf = (name: string, param: Param<unknown>): string =>
  param.cli.flag ?? name.replaceAll('_', '-');
