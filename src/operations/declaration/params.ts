import { CofferError, invalid } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import { ownWords } from '../../ground/own-words.ts';
import type { ResourceKind } from '../resource-kinds.ts';
import { parseBoolean, parseDurationSeconds, parseInteger, parseText, wrongType } from './weak-values.ts';

/*
 * What comes in is bounded here, so that nothing behind has to ask what a number or a text may be at most. No honest
 * client comes near; what is narrower by its meaning says so in its own declaration or room.
 * @see docs/decisions/0112
 */

/** Whole numbers, of either sign. */
export const MOST_NUMBER = 2 ** 31 - 1;
/** Characters of a text that is not declared `long`: as much as the head of a request has room for. */
export const MOST_CHARACTERS = 16 * 1024;
/** Texts in a list. */
export const MOST_TEXTS = 10_000;
/** Items of a batch. */
export const MOST_ITEMS = 500_000;

/** The part of JSON Schema that parameters need; goes into the OpenAPI document as it is. */
export interface Schema {
  readonly type?: 'string' | 'integer' | 'boolean' | 'array' | 'object';
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly required?: readonly string[];
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly description?: string;
  readonly default?: unknown;
}

/** How a parameter shows on the command line; what is left out follows from the wire name and the kind. */
export interface CliParam {
  /** Flag without dashes; default: the wire name in kebab case. */
  readonly flag?: string;
  /**
   * Taken by position, in the order of declaration, instead of by a flag. `variadic` takes all that follow. So does `each`: the
   * operation runs once for each of them, and its table and lines get a list where `data` is one resource.
   */
  readonly positional?: boolean | 'variadic' | 'each';
  /** The word shown for the value in help, e.g. `NAME`; default: the flag in capitals. */
  readonly metavar?: string;
  /** Base64 on the wire: a second flag `--<flag>-text` takes plain text in its place. */
  readonly textTwin?: boolean;
  /** `@FILE` in place of the value names a file that holds it. */
  readonly orFile?: boolean;
  /** A boolean also gets `--no-<flag>`. */
  readonly negatable?: boolean;
  /** Flags that can't be meant beside this one; the API may have a rule of its own for who is heard then. */
  readonly excludes?: readonly string[];
  /** Never offered on the command line. */
  readonly hidden?: boolean;
  /** Read when the flag is absent. */
  readonly environment?: string;
  /** Words worth offering in help and completions; other words are not refused by the parser. */
  readonly suggest?: () => readonly string[];
  /** Other words than those are refused on the command line: the API takes them for something that nobody means who types them. */
  readonly onlySuggested?: true;
  /** What `complete` offers for it, and what a name given in place of an id is looked up in. */
  readonly refersTo?: ResourceKind;
}

/**
 * One parameter, declared once: the parser, the JSON schema, the command-line flag and the help derive from it.
 * The parser has the weak typing of the Vault family (a number may come as text, and so on), so that real
 * clients are understood; `null` counts as present with the zero value.
 */
export interface Param<T> {
  readonly help: string;
  readonly schema: Schema;
  readonly presence: 'required' | 'optional' | 'default';
  readonly defaultValue?: T;
  readonly cli: CliParam;
  /** Where a JSON:API request document has it: `data` as a whole, or a member of the one resource in `data`. */
  readonly document?: 'data' | 'attributes' | 'relationships';
  /** True when the command line repeats the flag, or lists values, to give several. */
  readonly repeated: boolean;
  /** `null` is as good as no value, where it else is the zero value: what is there stays. */
  readonly nullIsAbsent?: true;
  /** @throws `invalid` naming the field. */
  parse(value: unknown, field: string): T;
  /** A name in a path as it is understood, where several spellings are one name: policies must allow that path, too. */
  readonly understoodAs?: (name: string) => string;
  /** The JSON value that a request carries for a parsed value, where that is not the value itself. */
  print?(value: T): unknown;
  /** The name that a request to a server says it by, where not all of the family look at its own. */
  readonly sentAs?: string;
  /** A parameter that a query writes as several, whose names begin with its own: `filter[tagged][0][key]`. */
  readonly query?: {
    /** Some of the names, for descriptions. */
    readonly names: readonly string[];
    /** A raw value for `parse`. @throws `invalid` for a name that is none of them. */
    read(members: readonly (readonly [string, unknown])[]): unknown;
    /** @param value raw. */
    print(value: unknown): readonly (readonly [string, string])[];
  };
}

export type Params = Readonly<Record<string, Param<unknown>>>;

type ValueOf<P> = P extends Param<infer T> ? T : never;
type OptionalNames<P extends Params> = {
  [K in keyof P]: P[K] extends { readonly presence: 'optional' } ? K : never;
}[keyof P];

/** What a handler gets: wire names, parsed values; optional ones may be absent. */
export type ValuesOf<P extends Params> = {
  readonly [K in Exclude<keyof P, OptionalNames<P>>]: ValueOf<P[K]>;
} & { readonly [K in OptionalNames<P>]?: ValueOf<P[K]> };

/** What a caller gives for one parameter: of a batch, the items as they are before parsing. */
type GivenOf<P> = P extends { readonly fields: infer F extends Params } ? readonly InputOf<F>[] : ValueOf<P>;

/** What a caller of the library gives: parameters with a default may be left out. */
export type InputOf<P extends Params> = {
  readonly [K in keyof P as P[K] extends { readonly presence: 'required' } ? K : never]: GivenOf<P[K]>;
} & { readonly [K in keyof P as P[K] extends { readonly presence: 'required' } ? never : K]?: GivenOf<P[K]> };

/** How a parameter of any kind is declared. */
export interface Spec<T> {
  readonly help: string;
  readonly required?: true;
  readonly default?: T;
  readonly cli?: CliParam;
}

type Presence<S> = S extends { readonly required: true }
  ? 'required'
  : S extends { readonly default: unknown }
    ? 'default'
    : 'optional';

export type Declared<T, S> = Param<T> & { readonly presence: Presence<S> };

/** A parameter of a new kind; those of the functions below are there already. */
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
      ...(spec.default === undefined ? {} : { default: spec.default }),
    },
    presence: presence as Presence<S>,
    ...(spec.default === undefined ? {} : { defaultValue: spec.default }),
    cli: spec.cli ?? {},
    repeated,
    parse,
  };
}

/** Free text. One that is `long` is bounded by what a request may hold. */
export function text<const S extends Spec<string>>(spec: S & { readonly long?: true }): Declared<string, S> {
  if (spec.long) return declare<string, S>(spec, { type: 'string' }, parseText);
  return declare<string, S>(spec, SHORT_TEXT, parseShortText);
}

const SHORT_TEXT: Schema = { type: 'string', maxLength: MOST_CHARACTERS };

/** @throws `invalid` naming the field. */
export function parseShortText(value: unknown, field: string): string {
  const given = parseText(value, field);
  if (given.length <= MOST_CHARACTERS) return given;
  throw invalid(`${field} must have at most ${MOST_CHARACTERS} characters, not ${given.length}`, { field });
}

/** @throws `invalid` naming the field. */
export function checkCount(items: readonly unknown[], most: number, field: string): void {
  if (items.length <= most) return;
  throw invalid(`${field} must have at most ${most} items, not ${items.length}`, {
    field,
    hint: 'do it in several calls',
  });
}

/** Base64 text. It stays text: whoever decodes it knows in which order mistakes are to be reported. */
export function base64<const S extends Spec<string>>(spec: S): Declared<string, S> {
  return declare<string, S>(spec, { type: 'string', format: 'byte' }, parseText);
}

/** One of a few words. What else is said of an unknown word is up to `unknown`. */
export function choice<const W extends string, const S extends Spec<W>>(
  words: readonly W[],
  spec: S & { readonly unknown?: (value: string) => string },
): Declared<W, S> {
  return declare<W, S>(spec, { type: 'string', enum: words }, (value, field) => {
    const given = parseText(value, field);
    const word = words.find((candidate) => candidate === given);
    if (word === undefined) {
      throw invalid(spec.unknown?.(given) ?? `${field} must be one of ${words.join(', ')}, not "${given}"`, {
        field,
        hint: `use one of ${words.join(', ')}`,
      });
    }
    return word;
  });
}

/** A whole number. Numbers in texts count, also `0x…`, `0b…` and octal with a leading 0, as peers accept. */
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

/** Yes or no. */
export function flag<const S extends Spec<boolean>>(spec: S): Declared<boolean, S> {
  return declare<boolean, S>(spec, { type: 'boolean' }, parseBoolean);
}

/**
 * A duration in seconds: a number, digits, `24h`, `1h30m`, `7d`. Never negative, and never longer than Go's own. For peers
 * `null` is none.
 */
export function duration<const S extends Spec<number>>(spec: S): Declared<number, S> {
  const schema: Schema = { type: 'string', format: 'duration' };
  return { ...declare<number, S>(spec, schema, parseDurationSeconds), nullIsAbsent: true };
}

/** Several texts: an array, or a comma-separated text. */
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

/** An object whose members are texts. */
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

/** An object whose members are parameters of their own; others are ignored. */
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

/** One item of a batch. An item that does not parse carries its problem instead of ending the whole call. */
export interface BatchItem<V> {
  readonly values: Partial<V>;
  readonly problem?: CofferError;
}

/**
 * `batch_input`: an array of objects, each parsed on its own by `fields`. Unknown members are ignored.
 * `null` is no batch, so that the call is about one value, as with peers.
 */
export function batch<const F extends Params, const S extends Omit<Spec<never>, 'required' | 'default'>>(
  fields: F,
  spec: S,
): Param<readonly BatchItem<ValuesOf<F>>[] | undefined> & {
  readonly presence: 'optional';
  readonly fields: F;
} {
  const properties = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.schema]));
  const schema: Schema = { type: 'array', items: { type: 'object', properties }, maxItems: MOST_ITEMS };
  const named = Object.entries(fields);
  const parse = (value: unknown, field: string): readonly BatchItem<ValuesOf<F>>[] | undefined => {
    if (value === null) return undefined;
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (items !== value && !isObject(value)) throw wrongType(`${field}[0]`, 'an object');
    checkCount(items, MOST_ITEMS, field);
    return items.map((item, index) =>
      isObject(item)
        ? (parseItem(named, item, field, index) as BatchItem<ValuesOf<F>>)
        : { values: {}, problem: wrongType(`${field}[${index}]`, 'an object') },
    );
  };
  return {
    ...declare<readonly BatchItem<ValuesOf<F>>[] | undefined, Spec<never>>(spec, schema, parse),
    presence: 'optional',
    fields,
  };
}

/** The item's place, `list[index]`, is printed for refusals only. */
function parseItem(
  fields: readonly (readonly [string, Param<unknown>])[],
  item: Readonly<Record<string, unknown>>,
  list: string,
  index: number,
): BatchItem<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  let problem: CofferError | undefined;
  for (const [name, field] of fields) {
    const value = item[name];
    if (value === undefined || !Object.hasOwn(item, name)) continue;
    try {
      values[name] = field.parse(value, name);
    } catch {
      // Once more, now that it matters how the place is called.
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
  /** Names that no parameter has, sorted; callers may warn, and must not refuse. */
  readonly unrecognized: readonly string[];
}

/**
 * Parses raw values (wire name → JSON value, or text from a URL or a flag) by the declaration: the one parser that
 * the command line, the HTTP routes and the library share.
 * @throws `invalid` naming the first parameter that is missing or of the wrong type.
 */
export function parseValues<P extends Params>(params: P, raw: Readonly<Record<string, unknown>>): Parsed<P> {
  const values: Record<string, unknown> = {};
  for (const name in params) {
    const param = params[name];
    if (param === undefined) continue;
    if (isGiven(param, raw, name)) values[name] = param.parse(raw[name], name);
    else if (param.presence === 'default') values[name] = param.defaultValue;
    else if (param.presence === 'required') {
      throw invalid(ownWords(`missing ${name}`), { field: name, hint: param.help });
    }
  }
  return { values: values as ValuesOf<P>, unrecognized: unrecognizedIn(params, raw) };
}

function isGiven(param: Param<unknown>, raw: Readonly<Record<string, unknown>>, name: string): boolean {
  if (!Object.hasOwn(raw, name) || raw[name] === undefined) return false;
  return raw[name] !== null || param.nullIsAbsent !== true;
}

const NONE: readonly string[] = [];

function unrecognizedIn(params: Params, raw: Readonly<Record<string, unknown>>): readonly string[] {
  const names = Object.keys(raw).filter((name) => !Object.hasOwn(params, name));
  return names.length === 0 ? NONE : names.sort();
}

/** The kebab-case flag of a parameter, without dashes. */
export const flagOf = (name: string, param: Param<unknown>): string =>
  param.cli.flag ?? name.replaceAll('_', '-');
