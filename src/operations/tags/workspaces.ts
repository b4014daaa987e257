import { invalid } from '../../ground/errors.ts';
import type { Reference } from '../../tags/organization.ts';
import { documentOperation, type Table } from '../declaration/operation.ts';
import { text, texts, type ValuesOf } from '../declaration/params.ts';
import { tagsRelationship } from '../json-api/linkage.ts';
import type { ListDocument } from '../json-api/pages.ts';
import {
  attribute,
  identifierOf,
  nameInsteadOf,
  optionalOrganizationName,
  organizationName,
  pageParams,
} from '../json-api/params.ts';
import { nameBesideId } from './by-name.ts';
import {
  counted,
  pageDocument,
  pageSummary,
  type ResourceDocument,
  type Resources,
  shortTime,
  type WorkspaceResource,
  workspaceResource,
} from './documents.ts';

/** Workspaces as people read them. */
const workspaceTable = ({ data }: Resources<WorkspaceResource>): Table => ({
  head: ['Name', 'Tags', 'Created', 'Id'],
  rows: data.map(({ id, attributes }) => [
    attributes.name,
    attributes['tag-names'].join(' '),
    shortTime(attributes['created-at']),
    id,
  ]),
});

/** One page of them, and which page it is. */
const workspacePageTable = (document: ListDocument<WorkspaceResource>): Table => ({
  ...workspaceTable(document),
  summary: pageSummary(document, 'workspace'),
});

const workspaceLines = ({ data }: Resources<WorkspaceResource>): readonly string[] =>
  data.map(({ attributes }) => attributes.name);

/** The parameters of operations that find a workspace by its identifier, or by its organization and name. */
const whichWorkspace = {
  workspace_id: text(identifierOf('workspace')),
  organization_name: optionalOrganizationName,
  workspace_name: nameInsteadOf('workspace'),
};

/** Both paths of such an operation; the first one needs no organization. */
const workspaceRoutes = (method: string, action = ''): readonly string[] => [
  `${method} /workspaces/:workspace_id${action}`,
  `${method} /organizations/:organization_name/workspaces/:workspace_name${action}`,
];

const workspaceByName = nameBesideId('workspace');

function workspaceMeant(values: ValuesOf<typeof whichWorkspace>): Reference {
  const { workspace_id, organization_name, workspace_name } = values;
  if (workspace_id !== undefined) return { id: workspace_id };
  if (organization_name !== undefined && workspace_name !== undefined) {
    return { organization: organization_name, name: workspace_name };
  }
  throw invalid('missing workspace_id', {
    field: 'workspace_id',
    hint: 'give the identifier of a workspace, or its name and organization',
  });
}

export const create = documentOperation({
  route: 'POST /organizations/:organization_name/workspaces',
  capability: 'create',
  resource: 'workspaces',
  params: {
    organization_name: organizationName,
    name: attribute('name', {
      help: 'The name: letters, digits, - and _.',
      required: true,
      cli: { positional: true, metavar: 'NAME' },
    }),
    description: attribute('description', { help: 'What it is for.', cli: { metavar: 'TEXT' } }),
    tags: tagsRelationship({
      help: 'Tags to put on it, by identifier or name; a name that the pool does not have is added to it.',
      cli: { flag: 'tag', metavar: 'TAG', refersTo: 'tag' },
    }),
  },
  cli: {
    table: ({ data }) => workspaceTable({ data: [data] }),
    lines: ({ data }) => workspaceLines({ data: [data] }),
    examples: [
      ['coffer workspaces create billing --tag env:prod --org acme', 'a workspace with one tag on it'],
    ],
  },
  async run(call, { organization_name, name, description, tags }) {
    const { workspaces } = await call.core.tags();
    const workspace = await workspaces.create(organization_name, {
      name: name ?? '',
      description: description || null,
      tags: tags ?? [],
      field: '/data/attributes/name',
    });
    return { created: true, data: { data: workspaceResource(call, workspace) } };
  },
});

export const list = documentOperation({
  route: 'GET /organizations/:organization_name/workspaces',
  capability: 'list',
  params: {
    organization_name: organizationName,
    'search[name]': text({
      help: 'Only workspaces whose name contains this text, whatever its case.',
      cli: { positional: true, metavar: 'QUERY' },
    }),
    'search[tags]': texts({
      help: 'Only workspaces that carry all of these tags.',
      cli: { flag: 'tag', metavar: 'NAME', refersTo: 'tag' },
    }),
    'search[exclude-tags]': texts({
      help: 'Only workspaces that carry none of these tags.',
      cli: { flag: 'exclude-tag', metavar: 'NAME', refersTo: 'tag' },
    }),
    'search[wildcard-name]': text({
      help: 'Only names that match as a whole, with * at either end for anything.',
      cli: { flag: 'wildcard', metavar: 'PATTERN' },
    }),
    sort: text({
      help: 'The order: name, or -name for the reverse; any other word counts as name.',
      cli: { metavar: 'ORDER', suggest: () => ['name', '-name'] },
    }),
    ...pageParams,
  },
  cli: {
    paged: true,
    table: workspacePageTable,
    lines: workspaceLines,
    examples: [
      ['coffer workspaces list --org acme', 'the first 20'],
      ['coffer workspaces list --tag env:prod --exclude-tag team:core --all --org acme', 'by their tags'],
    ],
  },
  async run(call, values) {
    const { workspaces } = await call.core.tags();
    const { organization_name, 'page[number]': number, 'page[size]': size } = values;
    const tags = named(values['search[tags]']);
    const excludeTags = named(values['search[exclude-tags]']);
    const page = await workspaces.list(organization_name, {
      search: values['search[name]'] ?? '',
      wildcard: values['search[wildcard-name]'] ?? '',
      tags,
      excludeTags,
      descending: values.sort === '-name',
      page: { number, size },
    });
    const path = `organizations/${encodeURIComponent(organization_name)}/workspaces`;
    const query = {
      'search[name]': values['search[name]'],
      'search[tags]': tags.join(',') || undefined,
      'search[exclude-tags]': excludeTags.join(',') || undefined,
      'search[wildcard-name]': values['search[wildcard-name]'],
      sort: values.sort,
    };
    return { data: pageDocument(call, page, (item) => workspaceResource(call, item), path, query) };
  },
});

/** A list such as `a,,b` or `,` names no tag in its empty places. */
const named = (names: readonly string[] | undefined): readonly string[] =>
  (names ?? []).filter((name) => name !== '');

export const show = documentOperation({
  route: workspaceRoutes('GET'),
  capability: 'read',
  params: whichWorkspace,
  cli: {
    resolve: workspaceByName,
    table: ({ data }) => workspaceTable({ data: [data] }),
    lines: ({ data }) => workspaceLines({ data: [data] }),
  },
  async run(call, values) {
    const { workspaces } = await call.core.tags();
    return { data: { data: workspaceResource(call, await workspaces.get(workspaceMeant(values))) } };
  },
});

export const update = documentOperation({
  route: workspaceRoutes('PATCH'),
  capability: 'update',
  resource: 'workspaces',
  params: {
    ...whichWorkspace,
    name: attribute('name', { help: 'A new name.', cli: { metavar: 'NAME' } }),
    description: attribute('description', { help: 'What it is for.', cli: { metavar: 'TEXT' } }),
  },
  cli: {
    resolve: workspaceByName,
    table: ({ data }) => workspaceTable({ data: [data] }),
    lines: ({ data }) => workspaceLines({ data: [data] }),
    examples: [
      ['coffer workspaces update billing --name invoicing --org acme', 'its tags and identifier stay'],
    ],
  },
  async run(call, { name, description, ...which }) {
    const { workspaces } = await call.core.tags();
    const change = {
      ...(name === undefined ? {} : { name: name ?? '' }),
      ...(description === undefined ? {} : { description: description || null }),
    };
    const workspace = await workspaces.update(workspaceMeant(which), change, '/data/attributes/name');
    return { data: { data: workspaceResource(call, workspace) } };
  },
});

export const remove = documentOperation({
  // Nothing here can make the safe form of the call refuse: a workspace has no resources of its own.
  route: [...workspaceRoutes('DELETE'), ...workspaceRoutes('POST', '/actions/safe-delete')],
  capability: 'delete',
  params: whichWorkspace,
  cli: {
    resolve: workspaceByName,
    async confirm(values, runner) {
      const { data: document } = await runner.run('workspaces show', values);
      const { data } = document as ResourceDocument<WorkspaceResource>;
      const { name, 'tag-names': tags } = data.attributes;
      return `Delete workspace ${name}? It carries ${counted(tags.length, 'tag')}.`;
    },
    done: ({ workspace_id, workspace_name }) => `Deleted workspace ${workspace_name ?? workspace_id}.`,
  },
  async run({ core }, values) {
    const { workspaces } = await core.tags();
    await workspaces.delete(workspaceMeant(values));
    return {};
  },
});
