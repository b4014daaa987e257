import { invalid } from '../../ground/errors.ts';
import { isPattern, plainName } from '../../tags/names.ts';
import { projectNotFound } from '../../tags/organization.ts';
import type { Workspace, WorkspaceFields } from '../../tags/workspaces.ts';
import { done, type TerminalContext } from '../declaration/operation.ts';
import { text, texts } from '../declaration/params.ts';
import type { Table } from '../declaration/table.ts';
import { TAGGED, taggedFilter, taggedQuery } from '../json-api/bindings.ts';
import { tagsRelationship } from '../json-api/linkage.ts';
import {
  attribute,
  attributePointer,
  eachIdentifierOf,
  organizationName,
  pageParams,
} from '../json-api/params.ts';
import {
  bindingsOf,
  descriptionOf,
  executionModeIn,
  fieldOfSetting,
  projectOf,
  workspaceAttributes,
  workspaceParams,
} from './attributes.ts';
import { idsFor, inTurn, nameOfProject, namesAmong, newTagsIn, whichOf } from './by-name.ts';
import { copiedFirst } from './copied-first.ts';
import {
  counted,
  createdText,
  listing,
  pageDocument,
  type ResourceDocument,
  shortTime,
  type TagsCall,
  tagOperation,
  type WorkspaceResource,
  workspaceResource,
} from './documents.ts';
import { besideWorkspaces, mayMoveInto, seesBindings, shownOf, workspaceIncludes } from './sights.ts';
import { orderOf, sortParam } from './sorting.ts';

const printing = listing<WorkspaceResource>('workspace', ['Name', 'Tags'], ({ id, attributes }) => [
  attributes.name,
  attributes['tag-names'].join(' '),
  attributes['created-at'],
  id,
]);

/** Formats all details of one workspace, by default as scripts have always had them. */
const workspaceDetails = (
  { data: { id, attributes, relationships } }: ResourceDocument<WorkspaceResource>,
  project: string = relationships.project.data.id,
): Table => ({
  head: ['', ''],
  rows: [
    ['Name', attributes.name],
    ['Description', attributes.description ?? ''],
    ['Tags', attributes['tag-names'].join(' ')],
    ['Project', project],
    ['Created', { time: shortTime(attributes['created-at']) }],
    ['Updated', { time: shortTime(attributes['updated-at']) }],
    ['ID', id],
  ],
});

/** Returns the details for a terminal: with the name of the project, if the caller may see it. */
async function workspaceView(
  document: ResourceDocument<WorkspaceResource>,
  { runner, wide }: TerminalContext,
): Promise<readonly Table[]> {
  if (wide) return [workspaceDetails(document)];
  const project = await nameOfProject(runner, document.data.relationships.project.data.id);
  return [workspaceDetails(document, project)];
}

const which = whichOf('workspace', 'use a workspace ID, or a name and an organization');

const FIELDS: WorkspaceFields = { name: attributePointer('name'), setting: fieldOfSetting };

/**
 * Resolves the project of a request, which does not exist for callers who may not add workspaces to it.
 * @throws `not-found`
 */
async function placeIn(
  call: TagsCall,
  organization: string,
  project: string | null | undefined,
): Promise<string | null | undefined> {
  if (project === undefined || project === null) return project;
  if (
    mayMoveInto(call, organization, project) ||
    (await call.tags.projects.isDefault(organization, project))
  ) {
    return project;
  }
  throw projectNotFound(project);
}

const projectByName = idsFor({ project: 'project' });

export const create = tagOperation({
  route: 'POST /organizations/:organization_name/workspaces',
  capability: 'create',
  resource: 'workspaces',
  params: {
    organization_name: organizationName,
    name: attribute('name', {
      help: 'Name of the workspace: letters, digits, "-" and "_".',
      required: true,
      cli: { positional: 'each', rule: (name) => plainName(name) },
    }),
    description: descriptionOf,
    tags: tagsRelationship({
      help: 'Tags to add, by ID or name; those that do not exist are created.',
      cli: { flag: 'tag', refersTo: 'tag' },
    }),
    'tag-bindings': bindingsOf('KEY=VALUE tags to set. Can be repeated.'),
    project: projectOf('of the workspace. Default: the default project.'),
    ...workspaceParams,
  },
  cli: {
    makes: true,
    resolve: inTurn(projectByName, namesAmong('tags')),
    byTheWay: newTagsIn('tags'),
    ...printing.one,
    instead: ({ organization_name }, document) =>
      createdText('workspace', printing.one.lines(document), organization_name),
    examples: {
      'coffer workspaces create web api --org acme': 'Create two workspaces',
      'coffer workspaces create billing --tag env:prod --org acme': 'Create a workspace with a tag',
      'coffer workspaces create web --bind env=prod --project platform --org acme':
        'Create a workspace in a project',
    },
  },
  async run(call, { organization_name, name, description, tags, ...values }) {
    const project = await placeIn(call, organization_name, values.project);
    const executionMode = executionModeIn(values);
    const workspace = await call.tags.workspaces.create(organization_name, {
      name: name ?? '',
      description: description || null,
      tags: tags ?? [],
      bindings: values['tag-bindings'] ?? [],
      settings: workspaceAttributes.settingsIn(values),
      project: project ?? undefined,
      executionMode: executionMode ?? undefined,
      fields: FIELDS,
    });
    return { created: true, data: { data: workspaceResource(call, workspace) } };
  },
});

const PROJECT = 'filter[project][id]';
/** Extension of the API, like patterns: names cannot contain `*`, so no other search changes its meaning. */
const ANY_TAGS = 'search[any-tags]';

export const list = tagOperation({
  route: 'GET /organizations/:organization_name/workspaces',
  capability: 'list',
  params: {
    organization_name: organizationName,
    'search[name]': text({
      help: 'Only workspaces whose name contains this text, case-insensitive.',
      cli: { positional: true, metavar: 'QUERY' },
    }),
    'search[tags]': texts({
      help: 'Only workspaces with all of these tags; * is a wildcard.',
      cli: { flag: 'tag', metavar: 'NAME', refersTo: 'tag' },
    }),
    [ANY_TAGS]: texts({
      help: 'Only workspaces with any of these tags; * is a wildcard.',
      cli: { flag: 'any-tag', metavar: 'NAME', refersTo: 'tag' },
    }),
    'search[exclude-tags]': texts({
      help: 'Only workspaces with none of these tags; * is a wildcard.',
      cli: { flag: 'without-tag', formerFlags: ['exclude-tag'], metavar: 'NAME', refersTo: 'tag' },
    }),
    'search[wildcard-name]': text({
      help: 'Only workspaces whose name matches PATTERN; * is a wildcard, allowed at either end.',
      cli: { flag: 'wildcard', metavar: 'PATTERN' },
    }),
    [TAGGED]: taggedFilter({ flag: 'bound', metavar: 'KEY=VALUE' }),
    [PROJECT]: text({
      help: 'Only workspaces in this project.',
      cli: { flag: 'project', refersTo: 'project' },
    }),
    sort: sortParam,
    include: workspaceIncludes,
    ...pageParams,
  },
  cli: {
    empty: { what: 'workspaces', create: 'coffer workspaces create NAME' },
    paged: true,
    ...printing.page,
    resolve: idsFor({ [PROJECT]: 'project' }),
    examples: {
      'coffer workspaces list --org acme': 'List the first 20 workspaces',
      "coffer workspaces list --without-tag '*' --org acme": 'List workspaces without any tag',
      'coffer workspaces list --tag env:prod --without-tag team:core --all --org acme':
        'List all workspaces that have one tag but not another',
      "coffer workspaces list --any-tag 'env:*' team:core --org acme":
        'List workspaces with any of several tags',
      'coffer workspaces list --bound env=prod --project platform --org acme':
        'List workspaces of a project that have a KEY=VALUE tag',
    },
  },
  async run(call, values) {
    const { organization_name, [TAGGED]: bindings, [PROJECT]: project, sort, include } = values;
    const tags = named(values['search[tags]'], 'search[tags]');
    const anyTags = named(values[ANY_TAGS], ANY_TAGS);
    const excludeTags = named(values['search[exclude-tags]'], 'search[exclude-tags]');
    const page = await call.tags.workspaces.list(organization_name, {
      search: values['search[name]'] ?? '',
      wildcard: values['search[wildcard-name]'] ?? '',
      tags,
      anyTags,
      excludeTags,
      bindings,
      project: project ?? undefined,
      viewer: {
        id: call.caller.id,
        sees: (workspace) =>
          seesBindings(call, 'workspaces', { organization: organization_name, ...workspace }),
      },
      descending: orderOf(sort) === 'descending',
      page: { number: values['page[number]'], size: values['page[size]'] },
    });
    const path = `organizations/${encodeURIComponent(organization_name)}/workspaces`;
    const query = {
      'search[name]': values['search[name]'],
      'search[tags]': tags.join(',') || undefined,
      [ANY_TAGS]: anyTags.join(',') || undefined,
      'search[exclude-tags]': excludeTags.join(',') || undefined,
      'search[wildcard-name]': values['search[wildcard-name]'],
      ...taggedQuery(bindings),
      [PROJECT]: project,
      sort,
      include: include?.join(','),
    };
    const print = (item: Workspace) => workspaceResource(call, item, shownOf(call, item, include));
    const included = await besideWorkspaces(call, page.items, include);
    return { data: pageDocument(call, page, { print, path, query, included }) };
  },
});

/** Maximum number of patterns, because each is matched against every tag of the pool. */
const MOST_PATTERNS = 20;

/** Splits texts into names; empty parts, as in `a,,b` or `,`, are ignored. */
function named(given: readonly string[] | undefined, field: string): readonly string[] {
  const names = (given ?? [])
    .flatMap((text) => text.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const patterns = names.filter(isPattern);
  if (patterns.length <= MOST_PATTERNS) return names;
  throw invalid(`${field} must have at most ${MOST_PATTERNS} names with *, not ${patterns.length}`, {
    field,
  });
}

export const show = tagOperation({
  route: which.routes('GET'),
  params: { ...which.params, include: workspaceIncludes },
  cli: {
    resolve: which.resolve,
    table: (document) => workspaceDetails(document),
    forTerminal: workspaceView,
    lines: printing.one.lines,
  },
  async run(call, { include, ...values }) {
    const workspace = await call.tags.workspaces.get(which.meant(values));
    const data = workspaceResource(call, workspace, shownOf(call, workspace, include));
    const included = await besideWorkspaces(call, [workspace], include);
    return { data: { data, included } };
  },
});

export const update = tagOperation({
  route: which.routes('PATCH'),
  resource: 'workspaces',
  params: {
    ...which.params,
    name: attribute('name', { help: 'New name of the workspace.' }),
    description: descriptionOf,
    'tag-bindings': bindingsOf('Replace all KEY=VALUE tags of the workspace itself with these.'),
    project: projectOf('to move the workspace to.'),
    ...workspaceParams,
  },
  cli: {
    resolve: inTurn(which.resolve, projectByName),
    ...printing.one,
    examples: {
      'coffer workspaces update billing --name invoicing --org acme':
        'Rename a workspace; its ID and tags are kept',
    },
  },
  async run(call, { name, description, ...values }) {
    const { tags } = call;
    const { 'tag-bindings': bindings } = values;
    const meant = which.meant(values);
    const organization = 'id' in meant ? await tags.organizationOf(meant.id) : meant.organization;
    const project = await placeIn(call, organization ?? '', values.project);
    const executionMode = executionModeIn(values);
    const change = {
      name: name === undefined ? undefined : (name ?? ''),
      description: description === undefined ? undefined : description || null,
      bindings,
      project,
      executionMode,
      settings: workspaceAttributes.settingsIn(values),
    };
    const workspace = await tags.workspaces.update(meant, change, FIELDS);
    return { data: { data: workspaceResource(call, workspace) } };
  },
});

export const remove = tagOperation({
  // The safe form is the same here: a workspace has no resources that could prevent deletion.
  route: [...which.routes('DELETE'), ...which.routes('POST', '/actions/safe-delete')],
  params: { ...which.params, workspace_id: text(eachIdentifierOf('workspace')) },
  cli: {
    resolve: which.resolve,
    async confirm(values, runner) {
      const { data: document } = await runner.run('workspaces show', values);
      const { name, 'tag-names': tags } = (document as ResourceDocument<WorkspaceResource>).data.attributes;
      return `Delete workspace ${name}? It has ${counted(tags.length, 'tag')}. ${copiedFirst(undefined, 'descriptions or settings')}`;
    },
    done: ({ workspace_id, workspace_name }) => `Deleted workspace ${workspace_name ?? workspace_id}.`,
  },
  run: done(({ tags }, values) => tags.workspaces.delete(which.meant(values))),
});
