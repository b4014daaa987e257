import type { Clock } from '../ground/clock.ts';
import { type CofferError, type ErrorDetails, notFound } from '../ground/errors.ts';
import type { Random } from '../ground/random.ts';
import type { DocumentRef, Store, View } from '../store/store.ts';
import type { Binding } from './bindings.ts';
import { type IdentifierKind, keyInExternalId, parseIdentifier } from './identifiers.ts';
import type { OrganizationSettings } from './organization-settings.ts';
import { RecordTable } from './record-table.ts';
import type { TableRecord, TableShape } from './record-table-format.ts';
import type { ExecutionMode, WorkspaceSettings } from './workspace-settings.ts';

/** What the rooms below give to every part of this one. */
export interface Ports {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
}

export interface Organization {
  /** Also its identifier in the API. */
  readonly name: string;
  readonly email: string | null;
  /** `org-` and 16 letters and digits: names the organization's tables, so that a later one of this name shares nothing. */
  readonly externalId: string;
  /** What the identifiers of its tags and workspaces begin with. */
  readonly home: string;
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number;
  /** Absent: as with everybody. */
  readonly executionMode?: ExecutionMode;
  /** Those that are not as they were from the start. */
  readonly settings?: Partial<OrganizationSettings>;
}

export interface TagRecord extends TableRecord {
  readonly createdAt: number;
  /** How many workspaces carry it. */
  readonly instances: number;
}

export interface WorkspaceRecord extends TableRecord {
  readonly description: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  /**
   * Keys of the tags that it carries, in the order in which they were added. Keys of deleted tags may be among them
   * for a while: they are never used again, so they only have to be passed over.
   */
  readonly tags: readonly string[];
  /** How many tags were left when keys of deleted ones were last cleared away. */
  readonly tagsWhenCleared: number;
  /** The key of its project; absent: the default one. */
  readonly project?: string;
  readonly bindings?: readonly Binding[];
  /** Those that are not as they were from the start. */
  readonly settings?: Partial<WorkspaceSettings>;
  /** Absent: that of the project. */
  readonly executionMode?: ExecutionMode;
}

export interface ProjectRecord extends TableRecord {
  readonly description: string | null;
  readonly createdAt: number;
  /** How many workspaces it holds; not kept of the default project, which has all that no other one has. */
  readonly workspaces: number;
  readonly bindings?: readonly Binding[];
  readonly autoDestroyActivityDuration?: string | null;
  /** Absent: that of the organization. */
  readonly executionMode?: ExecutionMode;
}

/** A named key of transit, in the organization whose tags it carries: `name` says where it is. */
export interface TaggedKeyRecord extends TableRecord {
  /** Keys of tags, as in a workspace. */
  readonly tags: readonly string[];
  readonly bindings?: readonly Binding[];
}

/** Its name is the key. */
export interface ReservedKeyRecord extends TableRecord {
  /** What a project binds to it can't be overridden by its workspaces. */
  readonly disableOverrides: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A tag by its name, as a request gives it: not folded, not checked. */
export interface NamedTag {
  readonly name: string;
  /** Where the name stands in the request, for errors. */
  readonly field?: string;
}

/** A tag as a request names it: by identifier, or by a name that the pool need not have yet. */
export type TagReference = { readonly id: string } | NamedTag;

export const ORGANIZATIONS = 'tags/organizations';

export const organizationRef = (name: string): DocumentRef => ({ collection: ORGANIZATIONS, id: name });

/** Leads from an identifier of a tag, a workspace and so on to its organization: holds the same as the document by name. */
export const homeRef = (home: string): DocumentRef => ({ collection: 'tags/homes', id: home });

/** About 12 kB a slice: what a change of one record rewrites. */
const TAGS_PER_SLICE = 96;
/** Workspaces are larger: some fifty tags each make 16 kB. */
const WORKSPACES_PER_SLICE = 16;
const PROJECTS_PER_SLICE = 16;

export const tagsOf = ({ externalId }: Organization): TableShape => ({
  collection: `tags/${externalId}/tags`,
  perSlice: TAGS_PER_SLICE,
});

export const workspacesOf = ({ externalId }: Organization): TableShape => ({
  collection: `tags/${externalId}/workspaces`,
  perSlice: WORKSPACES_PER_SLICE,
});

/** Written with the first project beside the default one, or the first change of that: older organizations have none. */
export const projectsOf = ({ externalId }: Organization): TableShape => ({
  collection: `tags/${externalId}/projects`,
  perSlice: PROJECTS_PER_SLICE,
  isLazy: true,
});

/** Written with the first reserved key. */
export const reservedKeysOf = ({ externalId }: Organization): TableShape => ({
  collection: `tags/${externalId}/reserved-keys`,
  perSlice: TAGS_PER_SLICE,
  isLazy: true,
});

/** Written with the first key that carries a tag. */
export const taggedKeysOf = ({ externalId }: Organization): TableShape => ({
  collection: `tags/${externalId}/keys`,
  perSlice: TAGS_PER_SLICE,
  isLazy: true,
});

/** Every table of an organization, for those who clear it away. */
export const tablesOf = (organization: Organization): readonly TableShape[] =>
  [tagsOf, workspacesOf, projectsOf, reservedKeysOf, taggedKeysOf].map((tableOf) => tableOf(organization));

/** The project that every organization has, and that holds each workspace of which nobody said otherwise. */
export const defaultProjectKey = ({ externalId }: Organization): string => keyInExternalId(externalId);

/** As it is until somebody changes it. */
export const defaultProject = (organization: Organization): ProjectRecord => ({
  key: defaultProjectKey(organization),
  name: 'Default Project',
  description: null,
  createdAt: organization.createdAt,
  workspaces: 0,
});

/** @throws `not-found` */
export async function organizationCalled(view: View, name: string): Promise<Organization> {
  const organization = name === '' ? undefined : await view.get<Organization>(organizationRef(name));
  if (organization === undefined) throw organizationNotFound(name);
  return organization;
}

export const organizationNotFound = (name: string): CofferError =>
  notFound(`organization "${name}" not found`);

export const organizationAt = (view: View, home: string): Promise<Organization | undefined> =>
  view.get<Organization>(homeRef(home));

/** An existing tag, workspace, project or reserved key as a request names it. */
export type Reference = { readonly id: string } | { readonly organization: string; readonly name: string };

/** What a request names, with its organization; undefined when it is not there. @throws `not-found` for an organization by name. */
export async function findRecord<R extends TableRecord>(
  view: View,
  kind: IdentifierKind,
  reference: Reference,
  tableOf: (organization: Organization) => TableShape,
): Promise<{ readonly organization: Organization; readonly record: R } | undefined> {
  const address = 'id' in reference ? parseIdentifier(kind, reference.id) : undefined;
  const organization =
    'id' in reference
      ? address && (await organizationAt(view, address.home))
      : await organizationCalled(view, reference.organization);
  if (organization === undefined) return undefined;
  const table = await RecordTable.open<R>(view, tableOf(organization));
  const key = 'id' in reference ? address?.key : await table.keyOf(reference.name);
  const record = key === undefined ? undefined : await table.get(key);
  return record && { organization, record };
}

export const tagNotFound = (id: string, details?: ErrorDetails): CofferError =>
  notFound(`tag "${id}" not found`, details);
export const projectNotFound = (id: string): CofferError => notFound(`project "${id}" not found`);
export const reservedKeyNotFound = (id: string): CofferError =>
  notFound(`reserved tag key "${id}" not found`);
export const workspaceNotFound = (id: string): CofferError => notFound(`workspace "${id}" not found`);
