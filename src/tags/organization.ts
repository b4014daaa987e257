import type { Clock } from '../ground/clock.ts';
import { type CofferError, type ErrorDetails, notFound } from '../ground/errors.ts';
import type { Random } from '../ground/random.ts';
import type { DocumentRef, Store, View } from '../store/store.ts';
import type { Binding } from './bindings.ts';
import { keyInExternalId } from './names.ts';
import type { TableRecord, TableShape } from './record-table.ts';
import type { ExecutionMode, OrganizationSettings, WorkspaceSettings } from './settings.ts';

/** Ports that every part of this module uses. */
export interface Ports {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
}

export interface Organization {
  /** Name, which is also its identifier in the API. */
  readonly name: string;
  readonly email: string | null;
  /**
   * `org-` and 16 letters and digits: names the organization's tables, so that a later organization with this name
   * shares nothing.
   */
  readonly externalId: string;
  /** Prefix of the identifiers of its tags and workspaces. */
  readonly home: string;
  /** In milliseconds since the Unix epoch. */
  readonly createdAt: number;
  /** Execution mode; absent for the default. */
  readonly executionMode?: ExecutionMode | undefined;
  /** Settings that differ from the default. */
  readonly settings?: Partial<OrganizationSettings> | undefined;
}

export interface TagRecord extends TableRecord {
  readonly createdAt: number;
  /** Number of workspaces with this tag. */
  readonly instances: number;
}

export interface WorkspaceRecord extends TableRecord {
  readonly description: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  /**
   * Keys of its tags, in insertion order. May contain keys of deleted tags for a while: keys are never reused, so they
   * are simply ignored.
   */
  readonly tags: readonly string[];
  /** Number of tags after keys of deleted tags were last removed. */
  readonly tagsWhenCleared: number;
  /** Key of its project; absent for the default one. */
  readonly project?: string | undefined;
  readonly bindings?: readonly Binding[] | undefined;
  /** Settings that differ from the default. */
  readonly settings?: Partial<WorkspaceSettings> | undefined;
  /** Execution mode; absent for that of the project. */
  readonly executionMode?: ExecutionMode | undefined;
  /**
   * Keys of the workspaces that may read its state. May contain keys of deleted ones, which are ignored, like in
   * `tags`.
   */
  readonly stateConsumers?: readonly string[] | undefined;
}

export interface ProjectRecord extends TableRecord {
  readonly description: string | null;
  readonly createdAt: number;
  /** Number of its workspaces; not stored for the default project, which has all others. */
  readonly workspaces: number;
  readonly bindings?: readonly Binding[] | undefined;
  readonly autoDestroyActivityDuration?: string | null | undefined;
  /** Execution mode; absent for that of the organization. */
  readonly executionMode?: ExecutionMode | undefined;
}

/** Named transit key, in the organization whose tags it has: `name` contains its location. */
export interface TaggedKeyRecord extends TableRecord {
  /** Keys of tags, as in a workspace. */
  readonly tags: readonly string[];
  readonly bindings?: readonly Binding[];
}

/** Reserved key, which is its name. */
export interface ReservedKeyRecord extends TableRecord {
  /** Whether workspaces cannot override the project's value. */
  readonly disableOverrides: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Tag by name as given by a request, not normalized or validated. */
export interface NamedTag {
  readonly name: string;
  /** Place of the name in the request, for errors. */
  readonly field?: string;
}

/** Reference to a tag: by identifier, or by a name that need not exist in the pool yet. */
export type TagReference = { readonly id: string } | NamedTag;

export const ORGANIZATIONS = 'tags/organizations';

export const organizationRef = (name: string): DocumentRef => ({ collection: ORGANIZATIONS, id: name });

/** Maps the prefix of identifiers to their organization: the same content as the document by name. */
export const homeRef = (home: string): DocumentRef => ({ collection: 'tags/homes', id: home });

const table =
  (name: string, perSlice: number, isLazy = false) =>
  ({ externalId }: Organization): TableShape => ({
    collection: `tags/${externalId}/${name}`,
    perSlice,
    isLazy,
  });

/** Tags per slice, about 12 kB: the size that is rewritten when one record changes. */
const TAGS_PER_SLICE = 96;
/** Workspaces per slice; they are larger: with some fifty tags each, 16 kB. */
const WORKSPACES_PER_SLICE = 16;
const PROJECTS_PER_SLICE = 16;

export const tagsOf = table('tags', TAGS_PER_SLICE);
export const workspacesOf = table('workspaces', WORKSPACES_PER_SLICE);

/**
 * Created with the first project besides the default one, or the first change of that; absent in older organizations.
 */
export const projectsOf = table('projects', PROJECTS_PER_SLICE, true);

/** Created with the first reserved key. */
export const reservedKeysOf = table('reserved-keys', TAGS_PER_SLICE, true);

/** Created with the first key that has a tag. */
export const taggedKeysOf = table('keys', TAGS_PER_SLICE, true);

/** Returns every table of an organization, for deletion. */
export const tablesOf = (organization: Organization): readonly TableShape[] =>
  [tagsOf, workspacesOf, projectsOf, reservedKeysOf, taggedKeysOf].map((tableOf) => tableOf(organization));

/**
 * Returns the key of the default project, which every organization has, and which has each workspace without an
 * explicit one.
 */
export const defaultProjectKey = ({ externalId }: Organization): string => keyInExternalId(externalId);

/** Returns the default project, as it is until it is changed. */
export const defaultProject = (organization: Organization): ProjectRecord => ({
  key: defaultProjectKey(organization),
  name: 'Default Project',
  description: null,
  createdAt: organization.createdAt,
  workspaces: 0,
});

/**
 * Finds an organization.
 * @throws `not-found`
 */
export async function organizationCalled(view: View, name: string): Promise<Organization> {
  const organization = name === '' ? undefined : await view.get<Organization>(organizationRef(name));
  if (organization === undefined) throw organizationNotFound(name);
  return organization;
}

export const organizationNotFound = (name: string): CofferError =>
  notFound(`organization "${name}" not found`);

export const organizationAt = (view: View, home: string): Promise<Organization | undefined> =>
  view.get<Organization>(homeRef(home));

/** Reference to an existing tag, workspace, project or reserved key. */
export type Reference = { readonly id: string } | { readonly organization: string; readonly name: string };

export const tagNotFound = (id: string, details?: ErrorDetails): CofferError =>
  notFound(`tag "${id}" not found`, details);
export const projectNotFound = (id: string): CofferError => notFound(`project "${id}" not found`);
export const reservedKeyNotFound = (id: string): CofferError =>
  notFound(`reserved tag key "${id}" not found`);
export const workspaceNotFound = (id: string): CofferError => notFound(`workspace "${id}" not found`);
