import { invalid, ownWords } from '../../ground/errors.ts';
import { isObject, madeOnce } from '../../ground/objects.ts';
import { MOST_BINDINGS, type NewBinding } from '../../tags/bindings.ts';
import type { BindingFilter } from '../../tags/workspace-query.ts';
import { type CliParam, declare, parseShortText, type Schema, type Spec } from '../declaration/params.ts';
import { itemsOf, resourceOf } from './linkage.ts';

/** Parameters for key-value tags: in documents typed resources, on the command line `KEY=VALUE` or `KEY`. */

const TYPE = 'tag-bindings';

const ITEM: Schema = {
  type: 'object',
  properties: {
    type: { type: 'string', enum: [TYPE] },
    attributes: {
      type: 'object',
      properties: { key: { type: 'string' }, value: { type: 'string' } },
      required: ['key'],
    },
  },
  required: ['type', 'attributes'],
};

type BindingSpec = Pick<Spec<never>, 'help' | 'cli'>;

const printBinding = ({ key, value }: NewBinding) => ({ type: TYPE, attributes: { key, value } });

function bindingOf(item: unknown, at: string): NewBinding {
  if (typeof item === 'string') return { ...typedBinding(item), field: at };
  // Input of programs, which has no resource type.
  if (isObject(item) && typeof item['key'] === 'string' && !Object.hasOwn(item, 'type')) {
    return { key: item['key'], value: textIn(item, 'value', at) ?? '', field: at };
  }
  const { attributes } = resourceOf(item, TYPE, at);
  const key = isObject(attributes) ? textIn(attributes, 'key', at) : undefined;
  if (key === undefined) throw invalid(ownWords('missing key'), { field: `${at}/attributes/key` });
  return {
    key,
    value: (isObject(attributes) ? textIn(attributes, 'value', at) : undefined) ?? '',
    field: at,
  };
}

function textIn(holder: Readonly<Record<string, unknown>>, name: string, at: string): string | undefined {
  const value = holder[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  throw invalid(`${name} must be a string`, { field: `${at}/attributes/${name}` });
}

/** Splits `KEY=VALUE`, or a single `KEY`. */
function typedBinding(text: string): { readonly key: string; readonly value: string } {
  const at = text.indexOf('=');
  return at === -1 ? { key: text, value: '' } : { key: text.slice(0, at), value: text.slice(at + 1) };
}

function bindingList<S extends Spec<readonly NewBinding[]>>(spec: S, pointer: string) {
  const declared = declare<readonly NewBinding[], S>(
    spec,
    { type: 'array', items: ITEM },
    (value) => itemsOf(value, pointer).map((item, index) => bindingOf(item, `${pointer}/${index}`)),
    true,
  );
  return { ...declared, print: (bindings: readonly NewBinding[]) => bindings.map(printBinding) };
}

/** `data` of a document that binds tags. */
export const boundTags = (spec: BindingSpec) =>
  ({ ...bindingList({ ...spec, required: true }, '/data'), document: 'data' }) as const;

/** Tags bound to a workspace or project, in the relationships of its document. */
export const bindingsRelationship = (spec: BindingSpec) =>
  ({ ...bindingList(spec, '/data/relationships/tag-bindings/data'), document: 'relationships' }) as const;

/** `data` of a document that removes tags: only their keys are used. */
export const boundKeys = (spec: BindingSpec) => {
  const declared = declare<readonly string[], { readonly help: string; readonly required: true }>(
    { ...spec, required: true },
    { type: 'array', items: ITEM },
    (value) => itemsOf(value, '/data').map((item, index) => bindingOf(item, `/data/${index}`).key),
    true,
  );
  const print = (keys: readonly string[]) => keys.map((key) => printBinding({ key, value: '' }));
  return { ...declared, document: 'data', print } as const;
};

/** `filter[tagged][i][key]` and `filter[tagged][i][value]`. */
export const TAGGED = 'filter[tagged]';

/** Maximum number of conditions: a workspace's maximum of own and inherited tags. */
const MOST_CONDITIONS = 2 * MOST_BINDINGS;

const ALL_OF_THESE =
  'Only workspaces with all of these KEY=VALUE tags, set on the workspace or on its project; KEY alone stands for any value.';

/**
 * Filter by key-value tags. An absent or empty value matches any, including none; a value without a key matches any
 * key.
 */
export function taggedFilter(cli: CliParam, help = ALL_OF_THESE) {
  const schema: Schema = {
    type: 'array',
    items: { type: 'object', properties: { key: { type: 'string' }, value: { type: 'string' } } },
  };
  const parse = (value: unknown, field: string): readonly BindingFilter[] => {
    const given: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (given.length > MOST_CONDITIONS) {
      throw invalid(`${field} must have at most ${MOST_CONDITIONS} conditions, not ${given.length}`, {
        field,
      });
    }
    return given.flatMap((item) => conditionOf(item, field));
  };
  const declared = declare<readonly BindingFilter[], Spec<never>>({ help, cli }, schema, parse, true);
  return {
    ...declared,
    query: {
      names: FIRST_CONDITION,
      read: readConditions,
      print: (value: unknown) => printConditions(parse(value, TAGGED)),
    },
  };
}

function conditionOf(item: unknown, field: string): BindingFilter[] {
  const { key, value } = typeof item === 'string' ? typedBinding(item) : partsOf(item, field);
  if (key === '' && value === '') return [];
  if (key === '') return [{ value }];
  return [value === '' ? { key } : { key, value }];
}

function partsOf(item: unknown, field: string): { readonly key: string; readonly value: string } {
  if (!isObject(item))
    throw invalid(ownWords('each condition must be KEY=VALUE, or an object with key and value'), { field });
  const part = (name: string): string => parseShortText(item[name] ?? '', `${field}[][${name}]`);
  return { key: part('key'), value: part('value') };
}

const conditionName = (index: number, part: 'key' | 'value'): string => `${TAGGED}[${index}][${part}]`;

/** Example names for descriptions, because the names cannot be enumerated. */
const FIRST_CONDITION = [conditionName(0, 'key'), conditionName(0, 'value')] as const;

const CONDITION = /^filter\[tagged\]\[([^\][]*)\]\[(key|value)\]$/;

/** Reads the conditions of a query, grouped by index, in the order of their first occurrence. */
function readConditions(query: readonly (readonly [string, unknown])[]): unknown {
  const conditions = new Map<string, Record<string, unknown>>();
  for (const [name, value] of query) {
    const [, index, part] = CONDITION.exec(name) ?? [];
    if (index === undefined || part === undefined) {
      throw invalid(`unknown parameter "${name}"`, {
        field: name,
        hint: 'write filter[tagged][0][key] and filter[tagged][0][value]',
      });
    }
    madeOnce(conditions, index, (): Record<string, unknown> => ({}))[part] = value;
  }
  return [...conditions.values()];
}

const printConditions = (filters: readonly BindingFilter[]): readonly (readonly [string, string])[] =>
  filters.flatMap((filter, index) => [
    [conditionName(index, 'key'), 'key' in filter ? filter.key : ''] as const,
    [conditionName(index, 'value'), filter.value ?? ''] as const,
  ]);

/** Prints the conditions, for the links of a page. */
export const taggedQuery = (
  filters: readonly BindingFilter[] | undefined,
): Readonly<Record<string, string>> => Object.fromEntries(printConditions(filters ?? []));
