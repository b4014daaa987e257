import { invalid } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import {
  type CliParam,
  checkCount,
  declare,
  hidden,
  MOST_CHARACTERS,
  MOST_NUMBER,
  parseShortText,
  type Spec,
  text,
} from '../declaration/params.ts';
import { type IdentifiedKind, RESOURCE_KINDS } from '../declaration/resource-kinds.ts';

/** Common parameters of the tags API: organization, pages, attributes of the resource in a request. */

export const DEFAULT_PAGE_SIZE = 20;
const MAX_PAGE_SIZE = 100;

export const organizationFlag = {
  flag: 'org',
  metavar: 'NAME',
  environment: 'COFFER_ORG',
  refersTo: 'organization',
} as const satisfies CliParam;

const requiredOrganization = (cli: CliParam) =>
  text({ help: 'Name of the organization.', required: true, cli });

/** The organization in a path, `--org` on the command line. */
export const organizationName = requiredOrganization(organizationFlag);

const inArguments = { metavar: 'NAME', refersTo: 'organization' } as const;

/** Organization that an operation is about, as the command's argument. */
export const namedOrganization = requiredOrganization({ positional: true, ...inArguments });
export const eachOrganization = requiredOrganization({ positional: 'each', ...inArguments });

/** Organization in a path, for operations that also accept only an identifier. */
export const optionalOrganizationName = text({
  help: 'Name of the organization; not needed if an ID is given.',
  cli: organizationFlag,
});

const inWords = (kind: IdentifiedKind): string => (kind === 'reserved-key' ? 'reserved tag key' : kind);

/** Declares a parameter that takes an identifier or, on the command line, a name. */
export const identifierOf = (kind: IdentifiedKind) => ({
  help: `ID of the ${inWords(kind)}.`,
  cli: {
    positional: true,
    metavar: RESOURCE_KINDS[kind].identifier.metavar,
    refersTo: kind,
    help: `Name or ID of the ${inWords(kind)}.`,
  },
});

/** Declares the same parameter for commands that take several. */
export const eachIdentifierOf = (kind: IdentifiedKind) => {
  const { help, cli } = identifierOf(kind);
  return { help, cli: { ...cli, positional: 'each' } } as const;
};

/** Name in the path of an operation that also has a path with the identifier. */
export const nameInsteadOf = (kind: IdentifiedKind) =>
  text(hidden(`Name of the ${inWords(kind)}, instead of its ID.`));

export const workspaceId = text({ ...identifierOf('workspace'), required: true });
export const tagId = text({ ...identifierOf('tag'), required: true });
export const projectId = text({ ...identifierOf('project'), required: true });

/**
 * `page[number]` and `page[size]`. Invalid numbers are ignored, as real clients expect.
 * @see docs/decisions/0046
 */
export const pageParams = {
  'page[number]': lenientCount(MOST_NUMBER, {
    help: 'Page number, from 1.',
    default: 1,
    cli: { flag: 'page' },
  }),
  'page[size]': lenientCount(MAX_PAGE_SIZE, {
    help: `Items per page, at most ${MAX_PAGE_SIZE}.`,
    default: DEFAULT_PAGE_SIZE,
    cli: { flag: 'page-size' },
  }),
};

/** Page parameters of a list that is complete if neither is given. */
export const optionalPageParams = {
  'page[number]': withoutDefault(pageParams['page[number]']),
  'page[size]': withoutDefault(pageParams['page[size]']),
};

function withoutDefault(param: ReturnType<typeof lenientCount>) {
  const { defaultValue: _value, schema, ...rest } = param;
  const { default: _default, ...described } = schema;
  return { ...rest, schema: described, presence: 'optional' } as const;
}

function lenientCount(maximum: number, spec: Spec<number> & { readonly default: number }) {
  return declare<number, typeof spec>(spec, { type: 'integer', minimum: 1, maximum }, (value) => {
    const digits = typeof value === 'number' ? String(value) : value;
    if (typeof digits !== 'string' || !/^\d+$/.test(digits)) return spec.default;
    return Math.min(Number(digits), maximum) || spec.default;
  });
}

/** Text attribute of the resource in the request; null and absent differ. */
export function attribute<const S extends Spec<string | null>>(name: string, spec: S) {
  const declared = declare<string | null, S>(
    spec,
    { type: 'string', maxLength: MOST_CHARACTERS },
    (value) => {
      if (value === null) return value;
      if (typeof value === 'string') return parseShortText(value, name);
      throw invalid(`${name} must be a string`, { field: `/data/attributes/${name}` });
    },
  );
  return { ...declared, document: 'attributes' } as const;
}

/** Returns the JSON pointer of an attribute in a request. */
export const attributePointer = (name: string): string => `/data/attributes/${name}`;

/** Boolean attribute; null means absent. */
export function booleanAttribute<const S extends Spec<boolean>>(name: string, spec: S) {
  const declared = declare<boolean, S>(spec, { type: 'boolean' }, (value) => {
    if (typeof value === 'boolean') return value;
    if (value === 'true' || value === 'false') return value === 'true';
    throw invalid(`${name} must be true or false`, { field: attributePointer(name) });
  });
  return { ...declared, document: 'attributes', nullIsAbsent: true } as const;
}

/** Integer attribute of at least 0; null means none. */
export function countAttribute<const S extends Spec<number | null>>(name: string, spec: S) {
  const schema = { type: 'integer', minimum: 0, maximum: MOST_NUMBER } as const;
  const declared = declare<number | null, S>(spec, schema, (value) => {
    if (value === null) return null;
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MOST_NUMBER)
      return value;
    throw invalid(`${name} must be a whole number from 0 to ${MOST_NUMBER}`, {
      field: attributePointer(name),
    });
  });
  return { ...declared, document: 'attributes' } as const;
}

/** List of texts; null means empty. */
export function textsAttribute<const S extends Spec<readonly string[]>>(name: string, spec: S) {
  const schema = { type: 'array', items: { type: 'string' }, maxItems: MOST_LISTED } as const;
  const declared = declare<readonly string[], S>(
    spec,
    schema,
    (value) => {
      const field = attributePointer(name);
      if (value === null) return [];
      const items = typeof value === 'string' ? [value] : value;
      if (!Array.isArray(items) || items.some((item) => typeof item !== 'string')) {
        throw invalid(`${name} must be an array of strings`, { field });
      }
      checkCount(items, MOST_LISTED, field);
      return items.map((item) => parseShortText(item, name));
    },
    true,
  );
  return { ...declared, document: 'attributes' } as const;
}

/** One of a few words; null means none. */
export function choiceAttribute<const W extends string>(
  name: string,
  words: readonly W[],
  spec: Spec<W | null> & { readonly refusal?: (word: string) => string | undefined },
) {
  const declared = declare<W | null, Spec<W | null>>(spec, { type: 'string', enum: words }, (value) => {
    if (value === null) return null;
    const word = words.find((candidate) => candidate === value);
    if (word !== undefined) return word;
    const why = typeof value === 'string' ? spec.refusal?.(value) : undefined;
    throw invalid(why ?? `${name} must be one of ${words.join(', ')}`, { field: attributePointer(name) });
  });
  return { ...declared, document: 'attributes' } as const;
}

/** `setting-overwrites`: whether `setting` has a value of its own, or is inherited. Undefined if not given. */
export function settingOverwrites(setting: string) {
  const name = 'setting-overwrites';
  const help = `Whether ${setting} is set here (true) or inherited (false).`;
  const schema = { type: 'object', properties: { [setting]: { type: 'boolean' } } } as const;
  const declared = declare<boolean | undefined, Spec<never>>(hidden(help), schema, (value) => {
    if (value === null) return undefined;
    if (!isObject(value)) throw invalid(`${name} must be an object`, { field: attributePointer(name) });
    const own = value[setting];
    if (own === undefined || own === null || typeof own === 'boolean') return own ?? undefined;
    throw invalid(`${setting} must be true or false`, { field: `${attributePointer(name)}/${setting}` });
  });
  return { ...declared, document: 'attributes' } as const;
}

/** Attribute of a feature that does not exist: accepted only with an empty value. */
export function unkeptAttribute(name: string, why: string) {
  const declared = declare<null, Spec<null>>(hidden(`Must be empty: ${why}.`), {}, (value) => {
    const isNothing =
      value === null || value === false || value === '' || (typeof value === 'object' && isEmpty(value));
    if (isNothing) return null;
    throw invalid(`${name} cannot be set: ${why}`, { field: attributePointer(name) });
  });
  return { ...declared, document: 'attributes' } as const;
}

/** Whether a list or object is empty: one client sends an empty repository with every workspace. */
const isEmpty = (value: object): boolean => Object.keys(value).length === 0;

/** Maximum number of entries of a list attribute. */
const MOST_LISTED = 1000;

/**
 * `include`: relationships whose resources are included in the response.
 * @param words known relationships
 */
export function includeParam(words: readonly string[]) {
  const schema = { type: 'array', items: { type: 'string', enum: words } } as const;
  return declare<readonly string[], Spec<never>>(
    hidden('Related resources to include, comma-separated.'),
    schema,
    (value, field) => {
      const given = parseShortText(value, field)
        .split(',')
        .map((word) => word.trim().replaceAll('-', '_'))
        .filter((word) => word !== '');
      const unknown = given.find((word) => !words.includes(word));
      if (unknown === undefined) return given;
      throw invalid(`cannot include "${unknown}"`, {
        field,
        hint: `use one of ${words.join(', ')}`,
      });
    },
  );
}
