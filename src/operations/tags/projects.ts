import { projectName } from '../../tags/names.ts';
import { projectNotFound, workspaceNotFound } from '../../tags/organization.ts';
import type { ProjectContent, ProjectFields } from '../../tags/projects.ts';
import { FOR_GOOD } from '../declaration/deleting.ts';
import { done } from '../declaration/operation.ts';
import { hidden, text, texts, type ValuesOf } from '../declaration/params.ts';
import { bindingsRelationship, TAGGED, taggedFilter, taggedQuery } from '../json-api/bindings.ts';
import { workspaceIdentifiers } from '../json-api/linkage.ts';
import {
  attribute,
  attributePointer,
  eachIdentifierOf,
  organizationName,
  pageParams,
  projectId,
  settingOverwrites,
  unkeptAttribute,
} from '../json-api/params.ts';
import { executionModes, NO_AGENTS, onlyStored } from './attributes.ts';
import { idsFor, whichOf } from './by-name.ts';
import {
  countedIn,
  createdText,
  listing,
  type ProjectResource,
  pageDocument,
  projectResource,
  tagOperation,
} from './documents.ts';
import { besideProjects, mayUpdateWorkspace, projectIncludes, seesBindings, shownOf } from './sights.ts';
import { orderOf, sortParam } from './sorting.ts';

const printing = listing<ProjectResource>('project', ['Name', 'Workspaces'], ({ id, attributes }) => [
  attributes.name,
  String(attributes['workspace-count']),
  attributes['created-at'],
  id,
]);

const which = whichOf('project', 'use a project ID, or a name and an organization');

const contentParams = {
  description: attribute('description', { help: 'Description of the project.', cli: { metavar: 'TEXT' } }),
  'auto-destroy-activity-duration': attribute(
    'auto-destroy-activity-duration',
    hidden(onlyStored('Auto-destroy its workspaces after this time without activity, e.g. 14d.')),
  ),
  'default-execution-mode': executionModes('default-execution-mode'),
  'setting-overwrites': settingOverwrites('default-execution-mode'),
  'default-agent-pool-id': unkeptAttribute('default-agent-pool-id', NO_AGENTS),
};

const bindingsOf = (help: string) =>
  bindingsRelationship({ help, cli: { flag: 'bind', metavar: 'KEY=VALUE' } });

const FIELDS: ProjectFields = {
  name: attributePointer('name'),
  description: attributePointer('description'),
  autoDestroyActivityDuration: attributePointer('auto-destroy-activity-duration'),
};

type ContentParams = typeof contentParams & { readonly 'tag-bindings': ReturnType<typeof bindingsOf> };

function contentIn(values: Partial<ValuesOf<ContentParams>>): ProjectContent {
  const { description, 'tag-bindings': bindings, 'default-execution-mode': mode } = values;
  const duration = values['auto-destroy-activity-duration'];
  const executionMode = values['setting-overwrites'] === false ? null : mode;
  return {
    description: description === undefined ? undefined : description || null,
    bindings,
    autoDestroyActivityDuration: duration === undefined ? undefined : duration || null,
    executionMode,
  };
}

export const create = tagOperation({
  route: 'POST /organizations/:organization_name/projects',
  capability: 'create',
  resource: 'projects',
  params: {
    organization_name: organizationName,
    name: attribute('name', {
      help: 'Name of the project: 3 to 40 letters, digits, spaces, "-" and "_".',
      required: true,
      cli: { positional: 'each', rule: (name) => projectName(name) },
    }),
    'tag-bindings': bindingsOf('KEY=VALUE tags of the project, which its workspaces inherit.'),
    ...contentParams,
  },
  cli: {
    makes: true,
    ...printing.one,
    instead: ({ organization_name }, document) =>
      createdText('project', printing.one.lines(document), organization_name),
    examples: {
      'coffer projects create platform --bind env=prod --org acme':
        'Create a project whose workspaces inherit env=prod',
    },
  },
  async run(call, { organization_name, name, ...content }) {
    const project = await call.tags.projects.create(
      organization_name,
      name ?? '',
      contentIn(content),
      FIELDS,
    );
    return { created: true, data: { data: projectResource(call, project) } };
  },
});

export const list = tagOperation({
  route: 'GET /organizations/:organization_name/projects',
  capability: 'list',
  params: {
    organization_name: organizationName,
    q: text({
      help: 'Only projects whose name contains this text, case-insensitive.',
      cli: { positional: true, metavar: 'QUERY' },
    }),
    'filter[names]': texts({
      help: 'Only projects with one of these names, case-insensitive.',
      cli: { flag: 'name', refersTo: 'project' },
    }),
    [TAGGED]: taggedFilter(
      { flag: 'bound', metavar: 'KEY=VALUE' },
      'Only projects with all of these KEY=VALUE tags; KEY alone stands for any value.',
    ),
    sort: sortParam,
    include: projectIncludes,
    ...pageParams,
  },
  cli: {
    empty: { what: 'projects', create: 'coffer projects create NAME' },
    paged: true,
    ...printing.page,
    examples: { 'coffer projects list --org acme': 'List the first 20 projects' },
  },
  async run(call, values) {
    const { organization_name, q, 'filter[names]': names, [TAGGED]: bindings, sort, include } = values;
    const order = orderOf(sort);
    const page = await call.tags.projects.list(organization_name, {
      search: q,
      names: names === undefined ? undefined : names.filter((name) => name !== ''),
      bindings,
      order,
      sees: (project) => seesBindings(call, 'projects', { organization: organization_name, ...project }),
      page: { number: values['page[number]'], size: values['page[size]'] },
    });
    const path = `organizations/${encodeURIComponent(organization_name)}/projects`;
    const query = {
      q,
      'filter[names]': names?.join(','),
      ...taggedQuery(bindings),
      sort,
      include: include?.join(','),
    };
    const included = await besideProjects(call, page.items, include);
    const document = pageDocument(call, page, {
      print: (project) => projectResource(call, project, shownOf(call, project, include)),
      path,
      query,
      included,
    });
    return { data: document };
  },
});

export const show = tagOperation({
  route: which.routes('GET'),
  params: { ...which.params, include: projectIncludes },
  cli: { resolve: which.resolve, ...printing.one },
  async run(call, { include, ...values }) {
    const project = await call.tags.projects.get(which.meant(values));
    const included = await besideProjects(call, [project], include);
    const data = projectResource(call, project, shownOf(call, project, include));
    return { data: { data, included } };
  },
});

export const update = tagOperation({
  route: which.routes('PATCH'),
  resource: 'projects',
  params: {
    ...which.params,
    name: attribute('name', { help: 'New name of the project.' }),
    'tag-bindings': bindingsOf(
      'Replace all KEY=VALUE tags of the project, which its workspaces inherit, with these.',
    ),
    ...contentParams,
  },
  cli: {
    resolve: which.resolve,
    ...printing.one,
    examples: { 'coffer projects update platform --name infrastructure --org acme': 'Rename a project' },
  },
  async run(call, { name, ...values }) {
    const change = { ...contentIn(values), name: name === undefined ? undefined : (name ?? '') };
    const project = await call.tags.projects.update(which.meant(values), change, FIELDS);
    return { data: { data: projectResource(call, project) } };
  },
});

export const remove = tagOperation({
  route: which.routes('DELETE'),
  params: { ...which.params, project_id: text(eachIdentifierOf('project')) },
  cli: {
    resolve: which.resolve,
    foresee: (values, runner) => runner.run('projects show', values),
    confirm: async ({ project_id, project_name }) =>
      `Delete project ${String(project_name ?? project_id)}? ${FOR_GOOD}`,
    done: ({ project_id, project_name }) => `Deleted project ${String(project_name ?? project_id)}.`,
  },
  run: done(({ tags }, values) => tags.projects.delete(which.meant(values))),
});

export const move = tagOperation({
  route: 'POST /projects/:project_id/relationships/workspaces',
  params: { project_id: projectId, data: workspaceIdentifiers },
  cli: {
    resolve: idsFor({ project_id: 'project', data: 'workspace' }),
    done: ({ data }) => `Moved ${countedIn(data, 'workspace')}.`,
    examples: {
      'coffer projects move platform --workspace billing --org acme':
        'Move the workspace billing from its project to platform',
    },
  },
  run: done(async (call, { project_id, data }) => {
    const { tags } = call;
    const organization = await tags.organizationOf(project_id);
    if (organization === undefined) throw projectNotFound(project_id);
    for (const id of data) if (!mayUpdateWorkspace(call, organization, id)) throw workspaceNotFound(id);
    await tags.projects.move(project_id, data);
  }),
});
