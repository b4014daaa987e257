import type { IdentifierKind } from '../../tags/names.ts';

/** Properties of a kind of resource with names. */
export interface KindFacts {
  /** Operation whose lines are the names, for completions. */
  readonly list: string;
  /** Parameter that filters the list, so that large ones stay fast. */
  readonly search?: string;
  /** Example name, the same in all examples. */
  readonly example: string;
  /** Identifier, for kinds that have one in the JSON:API. */
  readonly identifier?: {
    readonly prefix: IdentifierKind;
    /** `type` of its resources. */
    readonly type: string;
    /** Operation that shows one, and its parameters for the identifier and for the name. */
    readonly show: string;
    readonly param: string;
    readonly nameParam: string;
    /** Placeholder for either of them in help. */
    readonly metavar: string;
  };
}

/** Every kind of resource with names; parameters refer to them by `refersTo`. */
export const RESOURCE_KINDS = {
  key: { list: 'transit keys list', example: 'orders' },
  organization: { list: 'orgs list', example: 'acme' },
  workspace: {
    list: 'workspaces list',
    search: 'search[name]',
    example: 'billing-prod',
    identifier: {
      prefix: 'ws',
      type: 'workspaces',
      show: 'workspaces show',
      param: 'workspace_id',
      nameParam: 'workspace_name',
      metavar: 'WS',
    },
  },
  tag: {
    list: 'tags list',
    search: 'q',
    example: 'env:prod',
    identifier: {
      prefix: 'tag',
      type: 'tags',
      show: 'tags show',
      param: 'tag_id',
      nameParam: 'tag_name',
      metavar: 'TAG',
    },
  },
  project: {
    list: 'projects list',
    search: 'q',
    example: 'platform',
    identifier: {
      prefix: 'prj',
      type: 'projects',
      show: 'projects show',
      param: 'project_id',
      nameParam: 'project_name',
      metavar: 'PROJECT',
    },
  },
  'reserved-key': {
    list: 'tags reserved list',
    example: 'env',
    identifier: {
      prefix: 'rtk',
      type: 'reserved-tag-keys',
      show: 'tags reserved show',
      param: 'reserved_tag_key_id',
      nameParam: 'reserved_tag_key',
      metavar: 'KEY',
    },
  },
  policy: { list: 'policy list', example: 'clerk' },
  'token-role': { list: 'token roles list', example: 'release' },
  mount: { list: 'mounts list', example: 'teams/payments' },
  login: { list: 'auth list', example: 'userpass' },
} as const satisfies Readonly<Record<string, KindFacts>>;

export type ResourceKind = keyof typeof RESOURCE_KINDS;

/** Kinds with identifiers. */
export type IdentifiedKind = {
  [K in ResourceKind]: (typeof RESOURCE_KINDS)[K] extends { readonly identifier: object } ? K : never;
}[ResourceKind];

const ALL: readonly KindFacts[] = Object.values(RESOURCE_KINDS);

/** Path parameters that are identifiers. */
export const IDENTIFIER_PARAMS: readonly string[] = ALL.flatMap(({ identifier }) => identifier?.param ?? []);

export const kindNamed = (word: string): KindFacts | undefined =>
  Object.hasOwn(RESOURCE_KINDS, word) ? RESOURCE_KINDS[word as ResourceKind] : undefined;
