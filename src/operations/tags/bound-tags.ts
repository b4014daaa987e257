import { invalid } from '../../ground/errors.ts';
import { TAGGABLE_KINDS } from '../../tags/bound-tags.ts';
import { choice, hidden, texts } from '../declaration/params.ts';
import type { Table } from '../declaration/table.ts';
import { TAGGED, taggedFilter, taggedQuery } from '../json-api/bindings.ts';
import type { ListDocument } from '../json-api/pages.ts';
import { organizationName, pageParams } from '../json-api/params.ts';
import {
  BOUND_TAG_FIELDS,
  type BoundTagField,
  type BoundTagResource,
  boundTagResource,
  pageDocument,
  pageSummary,
  tagOperation,
} from './documents.ts';
import { seesBindings } from './sights.ts';
import { plainTagsAmong } from './unchanged.ts';

const KIND = 'filter[taggable-type]';
const FIELDS = 'fields[tag-binding]';

/** Default fields. */
const USUAL_FIELDS: readonly BoundTagField[] = ['key', 'value', 'created-at'];

const isField = (word: string): word is BoundTagField => BOUND_TAG_FIELDS.some((field) => field === word);

/**
 * Parses the fields.
 * @throws `invalid` for an unknown field, which would be missing in the response
 */
function fieldsOf(words: readonly string[] | undefined): ReadonlySet<BoundTagField> {
  if (words === undefined || words.every((word) => word === '')) return new Set(USUAL_FIELDS);
  const fields = words.filter((word) => word !== '').map((word) => word.replaceAll('_', '-'));
  const unknown = fields.find((field) => !isField(field));
  if (unknown === undefined) return new Set(fields.filter(isField));
  throw invalid(`unknown tag binding field ${unknown}`, {
    field: FIELDS,
    hint: `use ${BOUND_TAG_FIELDS.join(', ')}`,
  });
}

const KIND_WORDS = { projects: 'project', workspaces: 'workspace' } as const;

const boundTagTable = (document: ListDocument<BoundTagResource>): Table => ({
  head: ['Key', 'Value', 'On', 'Name', 'Workspaces'],
  rows: document.data.map(({ attributes: { key = '', value = '', counts }, relationships }) => {
    const target = relationships?.target;
    return [
      key,
      value,
      target === undefined ? '' : KIND_WORDS[target.data.type],
      target?.meta.name ?? '',
      String(counts?.workspaces ?? ''),
    ];
  }),
  summary: pageSummary(document, 'tag'),
});

/** Prints tag, kind and name, separated by tabs. */
const boundTagLines = ({ data }: ListDocument<BoundTagResource>): readonly string[] =>
  data.map(({ attributes: { key = '', value = '' }, relationships }) => {
    const target = relationships?.target;
    const tag = value === '' ? key : `${key}=${value}`;
    return [tag, target && KIND_WORDS[target.data.type], target?.meta.name].join('\t');
  });

/**
 * Lists key-value tags across the whole organization.
 * @see https://developer.hashicorp.com/terraform/cloud-docs/api-docs/organization-tags, "List tag bindings"
 */
export const where = tagOperation({
  route: 'GET /organizations/:organization_name/tag-bindings',
  capability: 'list',
  params: {
    organization_name: organizationName,
    [TAGGED]: taggedFilter(
      { positional: 'variadic', metavar: 'KEY=VALUE' },
      'Tags to find: KEY=VALUE, KEY for any value, or =VALUE for any key. With several, one match is enough.',
    ),
    [KIND]: choice(TAGGABLE_KINDS, {
      help: 'Search only "projects", or only "workspaces".',
      cli: { flag: 'on', metavar: 'KIND', suggest: () => TAGGABLE_KINDS },
    }),
    [FIELDS]: texts(
      hidden(
        'Fields to return: key, value, created-at, counts and target. Default: key, value and created-at.',
      ),
    ),
    ...pageParams,
  },
  cli: {
    paged: true,
    empty: { what: 'key-value tags', create: 'coffer workspaces bind WS KEY=VALUE' },
    table: boundTagTable,
    lines: boundTagLines,
    doubts: plainTagsAmong,
    resolve: async (raw) => ({ [FIELDS]: BOUND_TAG_FIELDS.join(','), ...raw }),
    examples: {
      'coffer tags where env=prod --org acme': 'Find the projects and workspaces with a tag',
      'coffer tags where env=prod env=stage --on workspaces --org acme':
        'Find workspaces with either of two tags',
      'coffer tags where owner --all --org acme':
        'Find all projects and workspaces with a tag "owner", whatever its value',
    },
  },
  async run(call, values) {
    const { organization_name, [TAGGED]: any, [KIND]: kind, [FIELDS]: asked } = values;
    const fields = fieldsOf(asked);
    const page = await call.tags.bound.list(organization_name, {
      kind,
      any,
      sees: (target, { id, name }) =>
        seesBindings(call, target, { organization: organization_name, id, name }),
      isCounted: fields.has('counts'),
      page: { number: values['page[number]'], size: values['page[size]'] },
    });
    const path = `organizations/${encodeURIComponent(organization_name)}/tag-bindings`;
    const query = { [KIND]: kind, ...taggedQuery(any), [FIELDS]: asked?.join(',') };
    return { data: pageDocument(call, page, { print: (tag) => boundTagResource(tag, fields), path, query }) };
  },
});
