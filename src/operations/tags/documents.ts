/** Documents that the operations on organizations, workspaces and tags return. */

import { type Binding, bindingIdentifier, type EffectiveBinding } from '../../tags/bindings.ts';
import type { BoundTag } from '../../tags/bound-tags.ts';
import { printIdentifier } from '../../tags/names.ts';
import { defaultProjectKey, type Organization } from '../../tags/organization.ts';
import type { Project } from '../../tags/projects.ts';
import type { Page } from '../../tags/record-table.ts';
import type { ReservedKey } from '../../tags/reserved-keys.ts';
import { DEFAULT_EXECUTION_MODE, DEFAULT_ORGANIZATION_SETTINGS } from '../../tags/settings.ts';
import type { Tag } from '../../tags/tag-pool.ts';
import type { Tags } from '../../tags/tags.ts';
import type { Workspace } from '../../tags/workspaces.ts';
import { operationsOf } from '../declaration/mount-operations.ts';
import { type Call, type Declaration, documentOperation, type Operation } from '../declaration/operation.ts';
import type { NoParams, Params } from '../declaration/params.ts';
import type { Table } from '../declaration/table.ts';
import { type ListDocument, listDocument } from '../json-api/pages.ts';
import { organizationAttributes, workspaceAttributes } from './attributes.ts';

/** Resources of the tags API as Terraform Enterprise clients read them; the same form for create, show and list. */

/** Document with a single resource. */
export interface ResourceDocument<R> {
  readonly data: R;
  /** Included resources. */
  readonly included?: readonly object[] | undefined;
}

/** Document with several resources, possibly one page. */
export interface Resources<R> {
  readonly data: readonly R[];
}

export interface TagsCall extends Call {
  readonly tags: Tags;
}

const withTags = operationsOf(
  undefined,
  async (call): Promise<TagsCall> => ({ ...call, tags: await call.core.tags() }),
  documentOperation,
);

/**
 * Declares an operation below `/api/v2`. All of them are harmless without the secret of the store: tags grant no access to
 * it or its keys.
 */
export const tagOperation = <D, P extends Params = NoParams>(
  declaration: Declaration<P, D, undefined, TagsCall>,
): Operation<P, D, undefined> => withTags({ withoutSecret: true, ...declaration });

const PREFIX = '/api/v2';

/** Formats a time with milliseconds, and `Z` for UTC: clients do not accept any other form. */
const timestamp = (epochMs: number): string => new Date(epochMs).toISOString();

const linkageTo = (organization: string) => ({
  data: { id: organization, type: 'organizations' as const },
});

export type TagResource = ReturnType<typeof tagResource>;

export const tagResource = (tag: Tag) => ({
  id: tag.id,
  type: 'tags' as const,
  attributes: {
    name: tag.name,
    'created-at': timestamp(tag.createdAt),
    'instance-count': tag.instances,
  },
  relationships: { organization: linkageTo(tag.organization) },
});

const projectLinkage = (id: string) => ({ data: { id, type: 'projects' as const } });

export type BindingResource = ReturnType<typeof bindingResource>;

/**
 * Formats a tag.
 * @param owner identifier of the resource that it is bound to
 */
export const bindingResource = (owner: string, { key, value, createdAt }: Binding) => ({
  id: `tb-${bindingIdentifier(owner, key)}`,
  type: 'tag-bindings' as const,
  attributes: { key, value, 'created-at': timestamp(createdAt) },
});

/** Fields that can be requested in an organization's list of tags. */
export const BOUND_TAG_FIELDS = ['key', 'value', 'created-at', 'counts', 'target'] as const;
export type BoundTagField = (typeof BOUND_TAG_FIELDS)[number];

export type BoundTagResource = ReturnType<typeof boundTagResource>;

/** Formats a tag with the requested fields; the name of its resource is Coffer's extension. */
export function boundTagResource(tag: BoundTag, fields: ReadonlySet<BoundTagField>) {
  const { kind, target, key, value, createdAt, counts } = tag;
  return {
    id: `tb-${bindingIdentifier(target.id, key)}`,
    type: 'tag-bindings' as const,
    attributes: {
      key: fields.has('key') ? key : undefined,
      value: fields.has('value') ? value : undefined,
      'created-at': fields.has('created-at') ? timestamp(createdAt) : undefined,
      counts: fields.has('counts') ? counts : undefined,
    },
    relationships: fields.has('target')
      ? {
          target: {
            data: { id: target.id, type: kind },
            links: { self: `${PREFIX}/${kind}/${target.id}` },
            meta: { name: target.name },
          },
        }
      : undefined,
  };
}

export type EffectiveBindingResource = ReturnType<typeof effectiveBindingResource>;

/**
 * Formats an effective tag.
 * @param project identifier of the project that it is inherited from
 */
const effectiveBindingResource = (
  owner: string,
  project: string,
  { key, value, createdAt, inherited }: EffectiveBinding,
) => ({
  id: `tb-${bindingIdentifier(inherited ? project : owner, key)}`,
  type: 'effective-tag-bindings' as const,
  attributes: { key, value, 'created-at': timestamp(createdAt) },
  // Clients of the first API read the link, later ones (go-tfe v2) the relationship.
  links: inherited ? { 'inherited-from': `${PREFIX}/projects/${project}` } : undefined,
  relationships: inherited ? { 'inherited-from': projectLinkage(project) } : undefined,
});

/** Formats the effective tags of a workspace, or those of a project, which inherits none. */
export const effectiveBindingsOf = (target: Workspace | Project) =>
  'effectiveBindings' in target
    ? target.effectiveBindings.map((binding) => effectiveBindingResource(target.id, target.project, binding))
    : target.bindings.map((binding) =>
        effectiveBindingResource(target.id, target.id, { ...binding, inherited: false }),
      );

const identify = ({ id, type }: { readonly id: string; readonly type: string }) => ({ id, type });

/** Formats a relationship: always its link, and its data if requested. */
const bindingRelations = <B extends { readonly id: string; readonly type: string }>(
  related: string,
  bindings: readonly B[] | undefined,
) => ({
  data: bindings?.map(identify),
  links: { related: `${PREFIX}/${related}` },
});

export type WorkspaceResource = ReturnType<typeof workspaceResource>;

/** Requested bindings of a workspace that the caller may see. */
export interface ShownBindings {
  readonly own?: readonly BindingResource[] | undefined;
  readonly effective?: readonly EffectiveBindingResource[] | undefined;
}

export function workspaceResource({ caller }: Call, workspace: Workspace, shown: ShownBindings = {}) {
  const path = `organizations/${workspace.organization}/workspaces/${workspace.name}`;
  const byId = `workspaces/${workspace.id}`;
  const canDestroy = caller.may(path, 'delete');
  const canUpdate = caller.may(path, 'update');
  return {
    id: workspace.id,
    type: 'workspaces' as const,
    attributes: {
      name: workspace.name,
      'created-at': timestamp(workspace.createdAt),
      'updated-at': timestamp(workspace.updatedAt),
      description: workspace.description,
      ...workspaceAttributes.print(workspace.settings),
      actions: { 'is-destroyable': canDestroy },
      'execution-mode': workspace.executionMode,
      operations: workspace.executionMode !== 'local',
      'setting-overwrites': {
        'execution-mode': workspace.hasExecutionMode,
        'agent-pool': workspace.hasExecutionMode,
      },
      environment: 'default',
      'hyok-enabled': false,
      locked: false,
      'resource-count': 0,
      source: 'tfe-api',
      'tag-names': workspace.tagNames,
      'vcs-repo': null,
      permissions: {
        'can-update': canUpdate,
        'can-destroy': canDestroy,
        'can-force-delete': canDestroy,
        'can-read-settings': caller.may(path, 'read'),
        'can-manage-tags': caller.may(
          `organizations/${workspace.organization}/workspaces/${workspace.id}/relationships/tags`,
          'update',
        ),
        // Features that need runs, state or variables are not available to anyone.
        'can-force-unlock': false,
        'can-lock': false,
        'can-unlock': false,
        'can-manage-run-tasks': false,
        'can-queue-apply': false,
        'can-queue-destroy': false,
        'can-queue-run': false,
        'can-read-state-versions': false,
        'can-read-variable': false,
        'can-update-variable': false,
      },
    },
    relationships: {
      organization: linkageTo(workspace.organization),
      project: projectLinkage(workspace.project),
      'tag-bindings': bindingRelations(`${byId}/tag-bindings`, shown.own),
      'effective-tag-bindings': bindingRelations(`${byId}/effective-tag-bindings`, shown.effective),
    },
    links: {
      self: `${PREFIX}/${path}`,
      // Page that clients offer to open; nothing is served there.
      'self-html': `/app/${workspace.organization}/workspaces/${workspace.name}`,
    },
  };
}

export type ProjectResource = ReturnType<typeof projectResource>;

export function projectResource({ caller }: Call, project: Project, shown: ShownBindings = {}) {
  const path = `organizations/${project.organization}/projects/${project.id}`;
  const byId = `projects/${project.id}`;
  return {
    id: project.id,
    type: 'projects' as const,
    attributes: {
      name: project.name,
      description: project.description,
      'created-at': timestamp(project.createdAt),
      'auto-destroy-activity-duration': project.autoDestroyActivityDuration,
      'default-execution-mode': project.executionMode,
      'is-unified': false,
      'setting-overwrites': {
        'default-execution-mode': project.hasExecutionMode,
        'default-agent-pool': project.hasExecutionMode,
      },
      'team-count': 0,
      'workspace-count': project.workspaces,
      permissions: {
        'can-read': caller.may(path, 'read'),
        'can-update': caller.may(path, 'update'),
        'can-destroy': caller.may(path, 'delete'),
        'can-create-workspace': caller.may(`${path}/relationships/workspaces`, 'update'),
        'can-move-workspace': caller.may(`${path}/relationships/workspaces`, 'update'),
      },
    },
    relationships: {
      organization: linkageTo(project.organization),
      'default-agent-pool': { data: null },
      'tag-bindings': bindingRelations(`${byId}/tag-bindings`, shown.own),
      'effective-tag-bindings': bindingRelations(`${byId}/effective-tag-bindings`, shown.effective),
    },
    links: { self: `${PREFIX}/${byId}` },
  };
}

export type ReservedKeyResource = ReturnType<typeof reservedKeyResource>;

export const reservedKeyResource = (key: ReservedKey) => ({
  id: key.id,
  type: 'reserved-tag-keys' as const,
  attributes: {
    key: key.key,
    'disable-overrides': key.disableOverrides,
    'is-registry-tag': false,
    'created-at': timestamp(key.createdAt),
    'updated-at': timestamp(key.updatedAt),
    // Name that one client reads.
    created_at: timestamp(key.createdAt),
    updated_at: timestamp(key.updatedAt),
  },
  relationships: { organization: linkageTo(key.organization) },
});

export type OrganizationResource = ReturnType<typeof organizationResource>;

export function organizationResource({ caller }: Call, organization: Organization) {
  const path = `organizations/${organization.name}`;
  const project = printIdentifier('prj', { home: organization.home, key: defaultProjectKey(organization) });
  return {
    // Programs build paths from it.
    id: organization.name,
    type: 'organizations' as const,
    attributes: {
      name: organization.name,
      email: organization.email,
      'external-id': organization.externalId,
      'created-at': timestamp(organization.createdAt),
      ...organizationAttributes.print({ ...DEFAULT_ORGANIZATION_SETTINGS, ...organization.settings }),
      'default-execution-mode': organization.executionMode ?? DEFAULT_EXECUTION_MODE,
      'enforce-hyok': false,
      'is-unified': false,
      permissions: {
        'can-update': caller.may(path, 'update'),
        'can-destroy': caller.may(path, 'delete'),
        'can-create-workspace': caller.may(`${path}/workspaces`, 'create'),
        'can-manage-tags': caller.may(`${path}/tags`, 'delete'),
        'can-create-project': caller.may(`${path}/projects`, 'create'),
      },
    },
    relationships: { 'default-project': projectLinkage(project) },
    links: { self: `${PREFIX}/${path}` },
  };
}

interface PagePrinting<T, R> {
  readonly print: (item: T) => R;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>> | undefined;
  readonly included?: readonly object[] | undefined;
}

/**
 * Formats a page of resources with its links.
 * @param path path of the list, below the API's prefix, with encoded segments
 * @param query query parameters of the links besides the page
 * @param included included resources
 */
export function pageDocument<T, R>(
  call: Call,
  page: Page<T>,
  { print, path, query = {}, included }: PagePrinting<T, R>,
): ListDocument<R> {
  const resources = { ...page, items: page.items.map(print) };
  const document = listDocument(resources, `${call.baseUrl ?? ''}${PREFIX}/${path}`, query);
  return included === undefined ? document : { ...document, included };
}

/** Formats a time for tables: UTC, in seconds. */
export const shortTime = (time: string): string => time.replace(/\.\d+Z$/, 'Z');

/** Formats a count: `1 tag`, `2 tags`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Maximum number of names in a message; more are counted. */
const MOST_NAMED = 5;

/** Formats the message about new resources: `Created workspaces web and api in acme.` */
export function createdText(noun: string, names: readonly string[], organization?: unknown): string {
  const place = organization === undefined ? '' : ` in ${String(organization)}`;
  if (names.length > MOST_NAMED) return `Created ${counted(names.length, noun)}${place}.`;
  const last = names.at(-1) ?? '';
  const listed = names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`;
  return `Created ${noun}${names.length < 2 ? '' : 's'} ${listed}${place}.`;
}

/** Formats the line below a table: `Page 2 of 5, 87 tags`. */
export function pageSummary({ meta: { pagination } }: ListDocument<unknown>, noun: string): string {
  const { 'current-page': page, 'total-pages': pages, 'total-count': total } = pagination;
  return `Page ${page} of ${pages}, ${counted(total, noun)}`;
}

/** Formats the number of entries of a list parameter, for messages of commands. */
export const countedIn = (list: unknown, noun: string): string =>
  counted(Array.isArray(list) ? list.length : 0, noun);

/**
 * Declares how commands print a kind of resource: in a table, and by names in a pipe.
 * @param noun singular, for the total: `tag`
 */
export function listing<R>(
  noun: string,
  head: readonly [name: string, second: string],
  cells: (resource: R) => readonly [name: string, second: string, created: string, id: string],
) {
  const table = ({ data }: Resources<R>): Table => ({
    head: [...head, 'Created', 'ID'],
    rows: data
      .map(cells)
      .map(([name, second, created, id]) => [name, second, { time: shortTime(created) }, id]),
    whole: 0,
    lesser: [3, 2, 1],
  });
  const lines = ({ data }: Resources<R>): readonly string[] => data.map((resource) => cells(resource)[0]);
  // A command that takes several names prints all their resources at once.
  const all = (data: R) => ({ data: [data].flat() as readonly R[] });
  return {
    all: { table, lines },
    /** One page, with its number. */
    page: {
      table: (document: ListDocument<R>): Table => ({
        ...table(document),
        summary: pageSummary(document, noun),
      }),
      lines,
    },
    one: {
      table: ({ data }: ResourceDocument<R>): Table => table(all(data)),
      lines: ({ data }: ResourceDocument<R>): readonly string[] => lines(all(data)),
    },
  };
}

export const tagListing = listing<TagResource>('tag', ['Name', 'Workspaces'], ({ id, attributes }) => [
  attributes.name,
  String(attributes['instance-count']),
  attributes['created-at'],
  id,
]);
