/** The operations on organizations, workspaces and tags; here the documents that they answer. */

import type { Organization } from '../../tags/organization.ts';
import type { Page } from '../../tags/page.ts';
import type { Tag } from '../../tags/tag-pool.ts';
import type { Workspace } from '../../tags/workspaces.ts';
import type { Call, Table } from '../declaration/operation.ts';
import { type ListDocument, listDocument } from '../json-api/pages.ts';

/** The resources of the tags API as clients of Terraform Enterprise read them; one form for create, show and list. */

/** A document with a single resource. */
export interface ResourceDocument<R> {
  readonly data: R;
}

/** One with several, which may be a page of them. */
export interface Resources<R> {
  readonly data: readonly R[];
}

const PREFIX = '/api/v2';

/** Milliseconds, and `Z` for UTC: clients refuse any other way of writing it. */
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

export type WorkspaceResource = ReturnType<typeof workspaceResource>;

export function workspaceResource({ caller }: Call, workspace: Workspace) {
  const path = `organizations/${workspace.organization}/workspaces/${workspace.name}`;
  return {
    id: workspace.id,
    type: 'workspaces' as const,
    attributes: {
      name: workspace.name,
      'created-at': timestamp(workspace.createdAt),
      'updated-at': timestamp(workspace.updatedAt),
      description: workspace.description,
      locked: false,
      'resource-count': 0,
      'tag-names': workspace.tagNames,
      permissions: {
        'can-update': caller.may(path, 'update'),
        'can-destroy': caller.may(path, 'delete'),
        'can-read-settings': caller.may(path, 'read'),
        'can-manage-tags': caller.may(
          `organizations/${workspace.organization}/workspaces/${workspace.id}/relationships/tags`,
          'update',
        ),
      },
    },
    relationships: { organization: linkageTo(workspace.organization) },
    links: { self: `${PREFIX}/${path}` },
  };
}

export type OrganizationResource = ReturnType<typeof organizationResource>;

export function organizationResource({ caller }: Call, organization: Organization) {
  const path = `organizations/${organization.name}`;
  return {
    // Programs build paths from it.
    id: organization.name,
    type: 'organizations' as const,
    attributes: {
      name: organization.name,
      email: organization.email,
      'external-id': organization.externalId,
      'created-at': timestamp(organization.createdAt),
      'default-execution-mode': 'remote' as const,
      permissions: {
        'can-update': caller.may(path, 'update'),
        'can-destroy': caller.may(path, 'delete'),
        'can-create-workspace': caller.may(`${path}/workspaces`, 'create'),
        'can-manage-tags': caller.may(`${path}/tags`, 'delete'),
      },
    },
    links: { self: `${PREFIX}/${path}` },
  };
}

/**
 * A page of resources with its links.
 * @param path Of the list, below the API's prefix, its segments encoded.
 * @param query What the links repeat beside the page.
 */
export function pageDocument<T, R>(
  call: Call,
  page: Page<T>,
  print: (item: T) => R,
  path: string,
  query: Readonly<Record<string, string | undefined>> = {},
): ListDocument<R> {
  const resources = { ...page, items: page.items.map(print) };
  return listDocument(resources, `${call.baseUrl ?? ''}${PREFIX}/${path}`, query);
}

/** A time as a table shows it: UTC, to the second. */
export const shortTime = (time: string): string => time.replace(/\.\d+Z$/, 'Z');

/** `1 tag`, `2 tags`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** `Page 2 of 5, 87 tags`, for the line below a table. */
export function pageSummary({ meta: { pagination } }: ListDocument<unknown>, noun: string): string {
  const { 'current-page': page, 'total-pages': pages, 'total-count': total } = pagination;
  return `Page ${page} of ${pages}, ${counted(total, noun)}`;
}

/** How many things a parameter that lists some has, as the command line's remarks say it. */
export const countedIn = (list: unknown, noun: string): string =>
  counted(Array.isArray(list) ? list.length : 0, noun);

/** Tags as people read them. */
export const tagTable = ({ data }: Resources<TagResource>): Table => ({
  head: ['Name', 'Instances', 'Created', 'Id'],
  rows: data.map(({ id, attributes }) => [
    attributes.name,
    String(attributes['instance-count']),
    shortTime(attributes['created-at']),
    id,
  ]),
});

/** One page of them, and which page it is. */
export const tagPageTable = (document: ListDocument<TagResource>): Table => ({
  ...tagTable(document),
  summary: pageSummary(document, 'tag'),
});

export const tagLines = ({ data }: Resources<TagResource>): readonly string[] =>
  data.map(({ attributes }) => attributes.name);
