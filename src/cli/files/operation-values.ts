import { decodeBase64 } from '../../ground/base64.ts';
import { utf8 } from '../../ground/bytes.ts';
import { CofferError, invalid } from '../../ground/errors.ts';
import type { Operation, Runner } from '../../operations/declaration/operation.ts';
import type { Param } from '../../operations/declaration/params.ts';
import { RESOURCE_KINDS } from '../../operations/declaration/resource-kinds.ts';
import { type Given, type OptionValue, variable } from '../given.ts';
import {
  type FlagMeaning,
  helpOf,
  type OperationSpec,
  TWIN_SUFFIX,
  takesMany,
} from '../parse/operation-spec.ts';
import type { Session } from '../session.ts';
import { readAtFile } from './in-file.ts';
import { inputText, MAX_INPUT_BYTES } from './input.ts';

export type RawValues = Readonly<Record<string, unknown>>;

/** Returns the raw values that a command line gives an operation, except its main input. */
export function rawValues(
  session: Session,
  operation: Operation,
  spec: OperationSpec,
  given: Given,
): Record<string, unknown> {
  const raw: Record<string, unknown> = {};
  spec.positional.forEach((name, index) => {
    const param = operation.params[name];
    const many = param !== undefined && takesMany(param);
    const value = many ? given.arguments.slice(index) : given.arguments[index];
    if (value === undefined || (many && value.length === 0)) return;
    raw[name] = param?.cli.positional === 'each' && value.length === 1 ? value[0] : value;
  });
  for (const [flag, value] of given.options) {
    const meaning = spec.flags.get(flag);
    if (meaning === undefined) continue;
    const orFile = operation.params[meaning.param]?.cli.orFile === true;
    raw[meaning.param] = meant(flag, meaning, orFile ? textOrFile(flag, value) : value);
  }
  for (const [name, param] of Object.entries(operation.params)) {
    const value = raw[name] === undefined ? fromElsewhere(session, param) : undefined;
    if (value !== undefined) raw[name] = value;
  }
  return raw;
}

/** Returns raw values with the identifiers of objects in place of their names. */
export const resolved = async ({ cli }: Operation, raw: RawValues, runner: Runner): Promise<RawValues> =>
  (await cli?.resolve?.(raw, runner)) ?? raw;

/** Returns the value of a parameter whose own flag is absent: from a global option or from the environment. */
function fromElsewhere(session: Session, param: Param<unknown>): string | undefined {
  if (param.cli.positional) return undefined;
  if (param.cli.flag === 'org') return session.settings.organization;
  return param.cli.environment === undefined
    ? undefined
    : variable(session.environment, param.cli.environment);
}

/** Replaces `@FILE` by the content of the file. */
function textOrFile(flag: string, value: OptionValue): OptionValue {
  if (value === true) return value;
  return typeof value === 'string' ? wholeText(flag, value) : value.map((text) => wholeText(flag, text));
}

const wholeText = (flag: string, text: string): string =>
  text.startsWith('@') ? inputText(readAtFile(text, `--${flag}`, MAX_INPUT_BYTES), `--${flag}`) : text;

function meant(flag: string, meaning: FlagMeaning, value: OptionValue): unknown {
  if (meaning.as === 'true') return true;
  if (meaning.as === 'false') return false;
  const texts = value === true ? [] : [value].flat();
  if (meaning.as === 'pairs') return namedPairs(`--${flag}`, texts);
  if (meaning.as === 'pairs-with-lists') return pairsWithLists(`--${flag}`, texts);
  return meaning.as === 'base64-of-text' ? utf8(String(value)).toString('base64') : value;
}

/**
 * Parses `NAME=VALUE` texts into an object.
 * @throws `invalid` naming the flag, also for a name with two values: the user cannot have meant both
 */
export function namedPairs(label: string, texts: readonly string[]): Readonly<Record<string, string>> {
  const found = new Map<string, string>();
  for (const [name, value] of texts.map((text) => pairIn(label, text))) {
    if ((found.get(name) ?? value) !== value)
      throw invalid(`"${name}" is given twice with different values`, {
        field: label,
        hint: 'use each NAME once',
      });
    found.set(name, value);
  }
  return Object.fromEntries(found);
}

/** Parses `NAME=VALUE` texts, as `namedPairs`; a name given several times has the list of its values. */
function pairsWithLists(
  label: string,
  texts: readonly string[],
): Readonly<Record<string, string | readonly string[]>> {
  const found = Map.groupBy(
    texts.map((text) => pairIn(label, text)),
    ([name]) => name,
  );
  return Object.fromEntries(
    [...found].map(([name, pairs]) => {
      const values = pairs.map(([, value]) => value);
      return [name, values.length === 1 ? String(values[0]) : values];
    }),
  );
}

function pairIn(label: string, text: string): [name: string, value: string] {
  const at = text.indexOf('=');
  if (at < 1) throw invalid(`invalid value "${text}"`, { field: label, hint: 'use NAME=VALUE' });
  return [text.slice(0, at), text.slice(at + 1)];
}

/**
 * Checks and parses the typed values before anything is read, unlocked or asked, with errors in the terms of the
 * command line.
 * @param except parameter that the main input fills
 * @returns values as handlers receive them, without the main input and without names that must still be looked up
 * @throws `invalid` naming the argument or flag
 */
export function checkTyped(
  operation: Operation,
  spec: OperationSpec,
  raw: RawValues,
  except: string | undefined,
): RawValues {
  const values: Record<string, unknown> = {};
  for (const [name, param] of Object.entries(operation.params)) {
    if (name === except) continue;
    const label = spec.labelOf?.(name) ?? name;
    const value = raw[name];
    if (value === undefined) {
      if (param.presence === 'required') throw missing(label, param);
      if (param.presence === 'default') values[name] = param.defaultValue;
      continue;
    }
    // Skipped here, because it may be a name: it is checked when it has been resolved to an ID.
    if (operation.cli?.resolve !== undefined && param.cli.refersTo !== undefined) continue;
    values[name] = checkedValue(param, value, label);
    if (param.cli.textTwin) checkBase64(String(value), label);
  }
  return values;
}

/** Returns the error for commands on tags and workspaces if no organization is named. */
export const missingOrganization = (): CofferError =>
  invalid('missing required value --org', {
    hint: 'use --org NAME or set COFFER_ORG; "coffer orgs list" lists them, "coffer orgs create NAME" creates one',
  });

function missing(label: string, param: Param<unknown>): CofferError {
  const { cli } = param;
  const help = helpOf(param);
  if (cli.refersTo === 'organization' && label === '--org') return missingOrganization();
  // A word in capitals, such as ID, keeps them.
  const first = /^[A-Z]{2}/.test(help) ? help.charAt(0) : help.charAt(0).toLowerCase();
  const meaning = `${first}${help.slice(1).replace(/\.$/, '')}`;
  const otherwise = cli.environment === undefined ? '' : `; or set ${cli.environment}`;
  const list = cli.refersTo === undefined ? undefined : RESOURCE_KINDS[cli.refersTo].list;
  const listed = list === undefined ? '' : `; "coffer ${list}" lists the existing ones`;
  return invalid(`missing required value ${label}`, { hint: meaning + otherwise + listed });
}

function checkedValue(param: Param<unknown>, value: unknown, label: string): unknown {
  const words = param.cli.onlySuggested ? (param.cli.suggest?.() ?? []) : undefined;
  if (words?.includes(String(value)) === false) throw wrong(label, value, `use one of ${words.join(', ')}`);
  checkText(param, String(value), label);
  if (param.schema.type === 'integer') checkInteger(param, String(value), label);
  try {
    return param.parse(value, label);
  } catch (error) {
    if (!(error instanceof CofferError) || error.hint === undefined) throw error;
    throw wrong(label, value, error.hint);
  }
}

/** Applies a parameter's own check, with the label of the argument or flag in the error. */
export function checkText({ cli }: Param<unknown>, value: string, label: string): void {
  try {
    cli.check?.(value);
  } catch (error) {
    if (!(error instanceof CofferError)) throw error;
    throw invalid(error.message, { field: label, hint: error.hint });
  }
}

/** Checks base64, with a hint about the flag for text, which is what users have more often. */
function checkBase64(text: string, label: string): void {
  try {
    decodeBase64(text, label);
  } catch (error) {
    if (!(error instanceof CofferError)) throw error;
    throw invalid(error.message, {
      field: label,
      hint: `${error.hint}, or plain text with ${label}${TWIN_SUFFIX}`,
    });
  }
}

/**
 * Checks a number, more strictly than the API, where an empty number is zero, a leading zero means octal, and some
 * numbers out of range count as not given: on a command line, these are an unset variable, padding, or a typing error.
 */
function checkInteger({ schema: { minimum, maximum } }: Param<unknown>, text: string, label: string): void {
  const value = Number(text);
  if (text.trim() === '' || !Number.isSafeInteger(value)) throw wrong(label, text, 'use an integer');
  if (/^[+-]?0\d/.test(text)) throw wrong(label, text, 'remove the leading zero');
  if (minimum !== undefined && value < minimum) throw wrong(label, text, `use at least ${minimum}`);
  if (maximum !== undefined && value > maximum) throw wrong(label, text, `use at most ${maximum}`);
}

const wrong = (label: string, value: unknown, hint: string): CofferError =>
  invalid(`invalid value ${JSON.stringify(value)}`, { field: label, hint });
