import { invalid } from '../../ground/errors.ts';
import {
  type CliParam,
  declare,
  MOST_CHARACTERS,
  MOST_NUMBER,
  parseShortText,
  type Spec,
  text,
} from '../declaration/params.ts';
import { type IdentifiedKind, RESOURCE_KINDS } from '../resource-kinds.ts';

/** Parameters that operations of the tags API share: the organization, pages, attributes of the resource in a request. */

export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 100;

const organizationFlag = {
  flag: 'org',
  metavar: 'NAME',
  environment: 'COFFER_ORG',
  refersTo: 'organization',
} as const satisfies CliParam;

/** The organization in a path, `--org` on the command line. */
export const organizationName = text({ help: 'The organization.', required: true, cli: organizationFlag });

/** The organization that an operation is about, as the command's own argument. */
export const namedOrganization = text({
  help: 'The organization.',
  required: true,
  cli: { positional: true, metavar: 'NAME', refersTo: 'organization' },
});

/** The organization in a path, for operations that can also be told an identifier alone. */
export const optionalOrganizationName = text({
  help: 'The organization, where a name is given in place of an identifier.',
  cli: organizationFlag,
});

/** What a parameter is that takes the identifier of something or, on the command line, its name. */
export const identifierOf = (kind: IdentifiedKind) => ({
  help: `The ${kind}: its identifier, on the command line also its name.`,
  cli: { positional: true, metavar: RESOURCE_KINDS[kind].identifier.metavar, refersTo: kind },
});

/** The name in a path that an operation knows beside the one with the identifier. */
export const nameInsteadOf = (kind: IdentifiedKind) =>
  text({ help: `The name of the ${kind}, in place of its identifier.`, cli: { hidden: true } });

export const workspaceId = text({ ...identifierOf('workspace'), required: true });
export const tagId = text({ ...identifierOf('tag'), required: true });

/**
 * `page[number]` and `page[size]`. Numbers that make no sense count as not given, as real clients expect.
 * @see docs/decisions/0046
 */
export const pageParams = {
  'page[number]': lenientCount(MOST_NUMBER, {
    help: 'Page to show, from 1.',
    default: 1,
    cli: { flag: 'page', metavar: 'N' },
  }),
  'page[size]': lenientCount(MAX_PAGE_SIZE, {
    help: `Items on a page, at most ${MAX_PAGE_SIZE}.`,
    default: DEFAULT_PAGE_SIZE,
    cli: { flag: 'page-size', metavar: 'N' },
  }),
};

/** The same for a list that is whole when neither is given. */
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

/** A text attribute of the one resource in the request; null and absent are not the same. */
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
