import { isObject, type JsonObject } from '../../ground/objects.ts';
import type { NewBinding } from '../../tags/bindings.ts';
import type { Projects } from '../../tags/projects.ts';
import type { Workspaces } from '../../tags/workspaces.ts';
import { type Call, type CliShape, done, type Runner } from '../declaration/operation.ts';
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

/** Warns about a key without a value: it is a valid tag, but its value was probably forgotten. */
function withoutValue(data: unknown): string {
  const keys = (Array.isArray(data) ? data : []).flatMap((item: unknown) =>
    isObject(item) && item['value'] === '' ? [String(item['key'])] : [],
  );
  const [key] = keys;
  if (key === undefined) return '';
  return `; ${keys.join(', ')} ${keys.length === 1 ? 'has' : 'have'} no value (set one with ${key}=VALUE)`;
}

const given = boundTags({
  help: 'Tags to set, as KEY=VALUE, or KEY for a tag without a value.',
  cli: { positional: 'variadic', metavar: 'KEY=VALUE' },
});
const takenOff = boundKeys({
  help: 'KEY of each KEY=VALUE tag to remove; those that are not set are ignored.',
  cli: { positional: 'variadic', metavar: 'KEY' },
});

type Examples = NonNullable<CliShape<unknown>['examples']>;

/** Returns what the operations on the tags of workspaces and those of projects have in common. */
function operationsOn(owner: 'workspace' | 'project', metavar: string) {
  const param = `${owner}_id`;
  const path = `/${owner}s/:${param}`;
  const own = `${path}/tag-bindings`;
  const related = `${path}/relationships/tag-bindings`;
  const resolve = idsFor({ [param]: owner });
  const setting = (examples: Examples, how = '') => ({
    resolve,
    ...listed,
    acts: true as const,
    done: ({ data }: { readonly data?: unknown }) =>
      `Set ${countedIn(data, 'tag')} on the ${owner}${how}${withoutValue(data)}.`,
    examples,
  });
  const removed: ChangeWords = {
    noun: 'key',
    changed: (count) => `Removed ${counted(count, 'key')} from the ${owner}`,
    unchanged: (count) =>
      `the ${owner} has no tag of its own with ${count === 1 ? 'this key' : 'any of these keys'}`,
  };
  return {
    list: {
      route: [`GET ${own}`, `GET ${related}`],
      capability: 'list',
      cli: {
        resolve,
        ...listed,
        empty: { what: `tags on the ${owner}`, create: `coffer ${owner}s bind ${metavar} KEY=VALUE` },
      },
    },
    effective: { route: `GET ${path}/effective-tag-bindings`, capability: 'list' },
    bind: (examples: Examples) => ({ route: [`PATCH ${own}`, `POST ${related}`], cli: setting(examples) }),
    rebind: (name: string) => ({
      route: `PATCH ${related}`,
      cli: setting(
        [
          [
            `coffer ${owner}s rebind ${name} env=prod --org acme`,
            'Set env=prod, and remove all other KEY=VALUE tags',
          ],
        ],
        ', replacing all others',
      ),
    }),
    unbind: (examples: Examples) => ({
      route: [`DELETE ${own}`, `DELETE ${related}`],
      capability: 'update' as const,
      cli: {
        resolve,
        unchanged: ({ [param]: id, data }: JsonObject, runner: Runner) =>
          bindingsMissing(runner, `${owner}s bindings`, { [param]: id }, data),
        done: ({ data }: JsonObject, _data?: unknown, _existing?: true, missing?: number) =>
          changeText(removed, lengthOf(data), missing),
        examples,
      },
    }),
  } as const;
}

const onWorkspace = operationsOn('workspace', 'WS');

export const ofWorkspace = tagOperation({
  ...onWorkspace.list,
  params: { workspace_id: workspaceId },
  run: (call, { workspace_id }) => own(call, 'workspaces', workspace_id),
});

export const effectiveOfWorkspace = tagOperation({
  ...onWorkspace.effective,
  params: { workspace_id: workspaceId },
  cli: { resolve: onWorkspace.list.cli.resolve, ...listed },
  async run({ core }, { workspace_id }) {
    const { workspaces } = await core.tags();
    return { data: { data: effectiveBindingsOf(await workspaces.get({ id: workspace_id })) } };
  },
});

export const bindWorkspace = tagOperation({
  ...onWorkspace.bind([['coffer workspaces bind billing env=prod team=core --org acme', 'Set two tags']]),
  params: { workspace_id: workspaceId, data: given },
  run: (call, { workspace_id, data }) => own(call, 'workspaces', workspace_id, ['bind', data]),
});

export const rebindWorkspace = tagOperation({
  ...onWorkspace.rebind('billing'),
  params: { workspace_id: workspaceId, data: given },
  run: (call, { workspace_id, data }) => own(call, 'workspaces', workspace_id, ['rebind', data]),
});

export const unbindWorkspace = tagOperation({
  ...onWorkspace.unbind([
    [
      'coffer workspaces unbind billing env --org acme',
      'Remove the tag env=…; one inherited from the project stays',
    ],
  ]),
  params: { workspace_id: workspaceId, data: takenOff },
  run: done(async ({ core }, { workspace_id, data }) =>
    (await core.tags()).workspaces.unbind({ id: workspace_id }, data),
  ),
});

const onProject = operationsOn('project', 'PROJECT');

export const ofProject = tagOperation({
  ...onProject.list,
  params: { project_id: projectId },
  run: (call, { project_id }) => own(call, 'projects', project_id),
});

/** Projects inherit nothing. */
export const effectiveOfProject = tagOperation({
  ...onProject.effective,
  params: { project_id: projectId },
  async run({ core }, { project_id }) {
    const { projects } = await core.tags();
    return { data: { data: effectiveBindingsOfProject(await projects.get({ id: project_id })) } };
  },
});

export const bindProject = tagOperation({
  ...onProject.bind([
    [
      'coffer projects bind platform env=prod --org acme',
      'Set a tag, which all workspaces of the project inherit',
    ],
  ]),
  params: { project_id: projectId, data: given },
  run: (call, { project_id, data }) => own(call, 'projects', project_id, ['bind', data]),
});

export const rebindProject = tagOperation({
  ...onProject.rebind('platform'),
  params: { project_id: projectId, data: given },
  run: (call, { project_id, data }) => own(call, 'projects', project_id, ['rebind', data]),
});

export const unbindProject = tagOperation({
  ...onProject.unbind([
    [
      'coffer projects unbind platform env --org acme',
      'Remove the tag env=…, which the workspaces then no longer inherit',
    ],
  ]),
  params: { project_id: projectId, data: takenOff },
  run: done(async ({ core }, { project_id, data }) =>
    (await core.tags()).projects.unbind({ id: project_id }, data),
  ),
});
