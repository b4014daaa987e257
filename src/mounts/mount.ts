/* Mounts and their settings. */

/** Place in the API's path space of one engine or login method, with data of its own. */
export interface Mount {
  /** Name of its `MountType`. */
  readonly type: string;
  /** Path without slashes at the ends, e.g. `transit`, `teams/payments` or `auth/approle`. */
  readonly path: string;
  readonly description: string;
  /** Stable accessor in Vault's form, `transit_1a2b3c4d`. */
  readonly accessor: string;
  /** Permanent identity of the mount's collections, so that a path that is reused starts empty. */
  readonly uuid: string;
  /** Of a login method that was moved: the move's ID. Its tokens contain it, so that earlier ones are invalid. */
  readonly moved?: string | undefined;
  /** Options, e.g. the dialect of transit; unknown ones as well. */
  readonly options: MountOptions;
  /** Defaults for all mounts of its type, which `options` override; absent if there are none. */
  readonly defaults?: MountOptions | undefined;
  readonly config?: MountConfig | undefined;
  readonly traits?: MountTraits | undefined;
}

/**
 * Immutable properties, in API terms. They have no effect: a store is not replicated, and everything in it is sealed.
 * Terraform compares them, and would recreate a mount without its keys if it did not return them.
 */
export interface MountTraits {
  readonly local?: boolean;
  readonly seal_wrap?: boolean;
  readonly external_entropy_access?: boolean;
}

/** Settings besides the options, in API terms; members that were not set are absent. */
export interface MountConfig {
  /** In seconds. There are no leases; it limits the tokens of login methods. */
  readonly default_lease_ttl?: number;
  readonly max_lease_ttl?: number;
  readonly force_no_cache?: boolean;
  /** Parameters whose values are recorded in the clear in the audit log. */
  readonly audit_non_hmac_request_keys?: readonly string[];
  readonly audit_non_hmac_response_keys?: readonly string[];
  /** `unauth`: also visible without a token. */
  readonly listing_visibility?: 'hidden' | 'unauth';
  /** Type of the tokens that a login method issues. */
  readonly token_type?: 'service' | 'batch' | 'default-batch';
  /** Lockout settings of a login method. */
  readonly user_lockout_config?: LockoutConfig;
  readonly passthrough_request_headers?: readonly string[];
  readonly allowed_response_headers?: readonly string[];
}

/** Lockout settings, in API terms; 0 is the default. Times in seconds. */
export interface LockoutConfig {
  readonly user_lockout_threshold?: number;
  readonly user_lockout_duration?: number;
  readonly user_lockout_counter_reset_duration?: number;
  readonly user_lockout_disable?: boolean;
}

export type MountOptions = Readonly<Record<string, string>>;

/** Settings of a mount that can be changed. */
export interface MountSettings {
  readonly description?: string | undefined;
  /** Options to change; an empty text removes one. */
  readonly options?: MountOptions | undefined;
  /** Replaced as a whole. */
  readonly config?: MountConfig | undefined;
}

/** Type of an engine or login method, defined by its own module. */
export type MountType = {
  /** Name in the API, e.g. `transit`. */
  readonly name: string;
  /** Collections with a mount's data, as names for `collectionOf`; they are deleted with the mount. */
  readonly collections: readonly string[];
  /** Collection with the roles or users of a login method, by name. */
  readonly roles?: string;
} & (
  | // Engine: its mounts are anywhere except below `auth/`.
  { readonly isLogin?: undefined; readonly login?: undefined; readonly operationsOf?: undefined }
  // Login method: its mounts are below `auth/`.
  | { readonly isLogin: true; readonly login: LoginForm; readonly operationsOf?: undefined }
  // Second name of a login method, whose mounts have its operations.
  | { readonly isLogin: true; readonly login?: undefined; readonly operationsOf: string }
);

/** Parts of a login method that the command line needs; the server checks everything else. */
export interface LoginForm {
  /** Help text of the method's commands. */
  readonly summary: string;
  /** Required parameters. */
  readonly needs: readonly string[];
  /** Parameter that must not appear in the process list, and its prompt. */
  readonly secret?: {
    readonly name: string;
    readonly question: string;
    /** Whether it may be empty, in which case it is not sent and the server decides. */
    readonly isOptional?: true;
    /** Whether it is accepted as an argument: it is short-lived, and its issuer puts it where others may read it. */
    readonly isExposed?: true;
  };
  /** Parameter at the end of the login's path, `login/NAME`; absent if the path is `login`. */
  readonly inPath?: string;
}
