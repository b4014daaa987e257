import { isObject, type JsonObject } from '../../ground/objects.ts';
import type { Project, Projects } from '../../tags/projects.ts';
import type { Workspaces } from '../../tags/workspaces.ts';
import type { CliShape, Outcome } from '../declaration/operation.ts';
import { type Params, text, type ValuesOf } from '../declaration/params.ts';
import { RESOURCE_KINDS } from '../declaration/resource-kinds.ts';
import type { Table } from '../declaration/table.ts';
import { boundKeys, boundTags } from '../json-api/bindings.ts';
import { identifierOf } from '../json-api/params.ts';
import { idsFor } from './by-name.ts';
import {
  type BindingResource,
  bindingResource,
  counted,
  countedIn,
  type EffectiveBindingResource,
  effectiveBindingsOf,
  type Resources,
  type TagsCall,
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
  help: 'KEY of each KEY=VALUE tag to remove; keys that are not set are ignored.',
  cli: { positional: 'variadic', metavar: 'KEY' },
});

type Owned = Pick<Workspaces | Projects, 'get' | 'bind' | 'rebind' | 'unbind'>;

type Examples = NonNullable<CliShape<unknown>['examples']>;

interface BindingExamples {
  /** Name of one in examples. */
  readonly name: string;
  readonly bind: Examples;
  readonly unbind: Examples;
}

/** Declares the operations on the tags of workspaces, or on those of projects. */
function operationsOn<const O extends 'workspace' | 'project'>(
  owner: O,
  { name, bind, unbind }: BindingExamples,
) {
  const { param, metavar } = RESOURCE_KINDS[owner].identifier;
  const id = text({ ...identifierOf(owner), required: true });
  const path = `/${owner}s/:${param}`;
  const own = `${path}/tag-bindings`;
  const related = `${path}/relationships/tag-bindings`;
  const resolve = idsFor({ [param]: owner });

  /** Returns the parameters, and the handler, which gets what is meant by the ID. */
  const on = <More extends Params, D>(
    more: More,
    run: (home: Owned, which: { readonly id: string }, values: ValuesOf<More>) => Promise<Outcome<D>>,
  ) => ({
    params: { [param]: id, ...more } as { readonly [Name in `${O}_id`]: typeof id } & More,
    run: ({ tags }: TagsCall, values: JsonObject) =>
      run(tags[`${owner}s`], { id: String(values[param]) }, values as ValuesOf<More>),
  });
  const shown = ({ id, bindings }: Pick<Project, 'id' | 'bindings'>) => ({
    data: { data: bindings.map((binding) => bindingResource(id, binding)) },
  });
  const setting = (act: 'bind' | 'rebind', how: string, examples: Examples) => ({
    ...on({ data: given }, async (home, which, { data }) => shown(await home[act](which, data))),
    cli: {
      resolve,
      ...listed,
      acts: true as const,
      done: ({ data }: JsonObject) =>
        `Set ${countedIn(data, 'tag')} on the ${owner}${how}${withoutValue(data)}.`,
      examples,
    },
  });
  const removed: ChangeWords = {
    noun: 'key',
    changed: (count) => `Removed ${counted(count, 'key')} from the ${owner}`,
    unchanged: (count) =>
      `the ${owner} has no tag of its own with ${count === 1 ? 'this key' : 'any of these keys'}`,
  };
  return {
    list: tagOperation({
      route: [`GET ${own}`, `GET ${related}`],
      capability: 'list',
      ...on({}, async (home, which) => shown(await home.get(which))),
      cli: {
        resolve,
        ...listed,
        empty: { what: `tags on the ${owner}`, create: `coffer ${owner}s bind ${metavar} KEY=VALUE` },
      },
    }),
    effective: tagOperation({
      route: `GET ${path}/effective-tag-bindings`,
      capability: 'list',
      ...on({}, async (home, which) => ({ data: { data: effectiveBindingsOf(await home.get(which)) } })),
      cli: { resolve, ...listed },
    }),
    bind: tagOperation({ route: [`PATCH ${own}`, `POST ${related}`], ...setting('bind', '', bind) }),
    rebind: tagOperation({
      route: `PATCH ${related}`,
      ...setting('rebind', ', replacing all others', {
        [`coffer ${owner}s rebind ${name} env=prod --org acme`]:
          'Set env=prod, and remove all other KEY=VALUE tags',
      }),
    }),
    unbind: tagOperation({
      route: [`DELETE ${own}`, `DELETE ${related}`],
      capability: 'update',
      ...on({ data: takenOff }, async (home, which, { data }) => {
        await home.unbind(which, data);
        return {};
      }),
      cli: {
        resolve,
        unchanged: ({ [param]: id, data }, runner) =>
          bindingsMissing(runner, `${owner}s bindings`, { [param]: id }, data),
        done: ({ data }, _data, _existing, missing) => changeText(removed, lengthOf(data), missing),
        examples: unbind,
      },
    }),
  };
}

export const onWorkspace = operationsOn('workspace', {
  name: 'billing',
  bind: { 'coffer workspaces bind billing env=prod team=core --org acme': 'Set two tags' },
  unbind: {
    'coffer workspaces unbind billing env --org acme':
      'Remove the tag with the key env; a tag inherited from the project stays',
  },
});

export const onProject = operationsOn('project', {
  name: 'platform',
  bind: {
    'coffer projects bind platform env=prod --org acme':
      'Set a tag, which all workspaces of the project inherit',
  },
  unbind: {
    'coffer projects unbind platform env --org acme':
      'Remove the tag with the key env, which the workspaces then no longer inherit',
  },
});
