import { isObject } from '../../ground/objects.ts';
import type { NewBinding } from '../../tags/bindings.ts';
import type { Projects } from '../../tags/projects.ts';
import type { Workspaces } from '../../tags/workspaces.ts';
import type { Call } from '../declaration/operation.ts';
import type { Table } from '../declaration/table.ts';
import { boundKeys, boundTags } from '../json-api/bindings.ts';
import { projectId, workspaceId } from '../json-api/params.ts';
import { idsFor } from './by-name.ts';
import {
  type BindingResource,
  bindingResource,
  counted,
  countedIn,
  type EffectiveBindingResource,
  effectiveBindingsOf,
  effectiveBindingsOfProject,
  type Resources,
  tagOperation,
} from './documents.ts';
import { bindingsMissing, type ChangeWords, changeText, lengthOf } from './unchanged.ts';

/** Key-value tags of workspaces and projects. All of them are in one response, because there are few. */

type AnyBinding = BindingResource | EffectiveBindingResource;

const inheritedFrom = (binding: AnyBinding): string =>
  'links' in binding ? (binding.links?.['inherited-from'].split('/').at(-1) ?? '') : '';

const bindingTable = ({ data }: Resources<AnyBinding>): Table => ({
  head: ['Key', 'Value', 'Inherited from'],
  rows: data.map((binding) => [binding.attributes.key, binding.attributes.value, inheritedFrom(binding)]),
  summary: counted(data.length, 'tag'),
});

const bindingLines = ({ data }: Resources<AnyBinding>): readonly string[] =>
  data.map(({ attributes: { key, value } }) => (value === '' ? key : `${key}=${value}`));

const listed = { table: bindingTable, lines: bindingLines };

type Owners = 'workspaces' | 'projects';

/** Answers with the tags of a workspace or project, after a change if there is one. */
async function own(
  { core }: Call,
  owners: Owners,
  id: string,
  change?: readonly ['bind' | 'rebind', readonly NewBinding[]],
) {
  const {
    [owners]: home,
  }: Record<Owners, Pick<Workspaces | Projects, 'get' | 'bind' | 'rebind'>> = await core.tags();
  const { bindings } =
    change === undefined ? await home.get({ id }) : await home[change[0]]({ id }, change[1]);
  return { data: { data: bindings.map((binding) => bindingResource(id, binding)) } };
}

const byName = {
  workspace: idsFor({ workspace_id: 'workspace' }),
  project: idsFor({ project_id: 'project' }),
} as const;

/** Warns about a key without a value: it is a valid tag, but its value was probably forgotten. */
function withoutValue(data: unknown): string {
  const keys = (Array.isArray(data) ? data : []).flatMap((item: unknown) =>
    isObject(item) && item['value'] === '' ? [String(item['key'])] : [],
  );
  const [key] = keys;
  if (key === undefined) return '';
  return `; ${keys.join(', ')} ${keys.length === 1 ? 'has' : 'have'} no value (set one with ${key}=VALUE)`;
}

/** Declares a command that sets tags. */
const setOn = (owner: 'workspace' | 'project', how = '') =>
  ({
    resolve: byName[owner],
    ...listed,
    acts: true,
    done: ({ data }: { readonly data?: unknown }) =>
      `Set ${countedIn(data, 'tag')} on the ${owner}${how}${withoutValue(data)}.`,
  }) as const;

const given = boundTags({
  help: 'Tags to set, as KEY=VALUE, or KEY for a tag without a value.',
  cli: { positional: 'variadic', metavar: 'KEY=VALUE' },
});
const unbound = (owner: string): ChangeWords => ({
  noun: 'key',
  changed: (count) => `Removed ${counted(count, 'key')} from the ${owner}`,
  unchanged: (count) =>
    `the ${owner} has no tag of its own with ${count === 1 ? 'this key' : 'any of these keys'}`,
});
const takenOff = boundKeys({
  help: 'KEY of each KEY=VALUE tag to remove; those that are not set are ignored.',
  cli: { positional: 'variadic', metavar: 'KEY' },
});

export const ofWorkspace = tagOperation({
  route: [
    'GET /workspaces/:workspace_id/tag-bindings',
    'GET /workspaces/:workspace_id/relationships/tag-bindings',
  ],
  capability: 'list',
  params: { workspace_id: workspaceId },
  cli: {
    resolve: byName.workspace,
    ...listed,
    empty: { what: 'tags on the workspace', create: 'coffer workspaces bind WS KEY=VALUE' },
  },
  run: (call, { workspace_id }) => own(call, 'workspaces', workspace_id),
});

export const effectiveOfWorkspace = tagOperation({
  route: 'GET /workspaces/:workspace_id/effective-tag-bindings',
  capability: 'list',
  params: { workspace_id: workspaceId },
  cli: { resolve: byName.workspace, ...listed },
  async run({ core }, { workspace_id }) {
    const { workspaces } = await core.tags();
    return { data: { data: effectiveBindingsOf(await workspaces.get({ id: workspace_id })) } };
  },
});

export const bindWorkspace = tagOperation({
  route: [
    'PATCH /workspaces/:workspace_id/tag-bindings',
    'POST /workspaces/:workspace_id/relationships/tag-bindings',
  ],
  params: { workspace_id: workspaceId, data: given },
  cli: {
    ...setOn('workspace'),
    examples: [['coffer workspaces bind billing env=prod team=core --org acme', 'Set two tags']],
  },
  run: (call, { workspace_id, data }) => own(call, 'workspaces', workspace_id, ['bind', data]),
});

export const rebindWorkspace = tagOperation({
  route: 'PATCH /workspaces/:workspace_id/relationships/tag-bindings',
  params: { workspace_id: workspaceId, data: given },
  cli: {
    ...setOn('workspace', ', replacing all others'),
    examples: [
      [
        'coffer workspaces rebind billing env=prod --org acme',
        'Set env=prod, and remove all other KEY=VALUE tags',
      ],
    ],
  },
  run: (call, { workspace_id, data }) => own(call, 'workspaces', workspace_id, ['rebind', data]),
});

export const unbindWorkspace = tagOperation({
  route: [
    'DELETE /workspaces/:workspace_id/tag-bindings',
    'DELETE /workspaces/:workspace_id/relationships/tag-bindings',
  ],
  capability: 'update',
  params: { workspace_id: workspaceId, data: takenOff },
  cli: {
    resolve: byName.workspace,
    unchanged: ({ workspace_id, data }, runner) =>
      bindingsMissing(runner, 'workspaces bindings', { workspace_id }, data),
    done: ({ data }, _data, _existing, missing) => changeText(unbound('workspace'), lengthOf(data), missing),
    examples: [
      [
        'coffer workspaces unbind billing env --org acme',
        'Remove the tag env=…; one inherited from the project stays',
      ],
    ],
  },
  async run({ core }, { workspace_id, data }) {
    const { workspaces } = await core.tags();
    await workspaces.unbind({ id: workspace_id }, data);
    return {};
  },
});

export const ofProject = tagOperation({
  route: ['GET /projects/:project_id/tag-bindings', 'GET /projects/:project_id/relationships/tag-bindings'],
  capability: 'list',
  params: { project_id: projectId },
  cli: {
    resolve: byName.project,
    ...listed,
    empty: { what: 'tags on the project', create: 'coffer projects bind PROJECT KEY=VALUE' },
  },
  run: (call, { project_id }) => own(call, 'projects', project_id),
});

export const effectiveOfProject = tagOperation({
  route: 'GET /projects/:project_id/effective-tag-bindings',
  capability: 'list',
  params: { project_id: projectId },
  async run({ core }, { project_id }) {
    const { projects } = await core.tags();
    return { data: { data: effectiveBindingsOfProject(await projects.get({ id: project_id })) } };
  },
});

export const bindProject = tagOperation({
  route: [
    'PATCH /projects/:project_id/tag-bindings',
    'POST /projects/:project_id/relationships/tag-bindings',
  ],
  params: { project_id: projectId, data: given },
  cli: {
    ...setOn('project'),
    examples: [
      [
        'coffer projects bind platform env=prod --org acme',
        'Set a tag, which all workspaces of the project inherit',
      ],
    ],
  },
  run: (call, { project_id, data }) => own(call, 'projects', project_id, ['bind', data]),
});

export const rebindProject = tagOperation({
  route: 'PATCH /projects/:project_id/relationships/tag-bindings',
  params: { project_id: projectId, data: given },
  cli: {
    ...setOn('project', ', replacing all others'),
    examples: [
      [
        'coffer projects rebind platform env=prod --org acme',
        'Set env=prod, and remove all other KEY=VALUE tags',
      ],
    ],
  },
  run: (call, { project_id, data }) => own(call, 'projects', project_id, ['rebind', data]),
});

export const unbindProject = tagOperation({
  route: [
    'DELETE /projects/:project_id/tag-bindings',
    'DELETE /projects/:project_id/relationships/tag-bindings',
  ],
  capability: 'update',
  params: { project_id: projectId, data: takenOff },
  cli: {
    resolve: byName.project,
    unchanged: ({ project_id, data }, runner) =>
      bindingsMissing(runner, 'projects bindings', { project_id }, data),
    done: ({ data }, _data, _existing, missing) => changeText(unbound('project'), lengthOf(data), missing),
    examples: [
      [
        'coffer projects unbind platform env --org acme',
        'Remove the tag env=…, which the workspaces then no longer inherit',
      ],
    ],
  },
  async run({ core }, { project_id, data }) {
    const { projects } = await core.tags();
    await projects.unbind({ id: project_id }, data);
    return {};
  },
});
