/* What a mount is, and what can be set for it. */

/** A place in the API's path space where one engine or login method answers, with data of its own. */
export interface Mount {
  /** The name of its `MountType`. */
  readonly type: string;
  /** Without slashes at the ends, e.g. `transit`, `teams/payments` or `auth/approle`. */
  readonly path: string;
  readonly description: string;
  /** Stable handle in the form that peers use, `transit_1a2b3c4d`. */
  readonly accessor: string;
  /** Names the mount's collections for good, so that a path taken again starts empty. */
  readonly uuid: string;
  /** What was set for it, e.g. the dialect of transit; also words that nothing here knows. */
  readonly options: Options;
  /** What was set for all mounts of its type, where `options` say nothing; absent when there is nothing. */
  readonly defaults?: Options;
  readonly config?: MountConfig;
  readonly traits?: MountTraits;
}

/**
 * What a mount was made with for good, in the words of the API. Nothing acts on them: a store is not replicated, and all of it is sealed.
 * Terraform compares them, and makes a mount anew, without its keys, that does not show what it was made with.
 */
export interface MountTraits {
  readonly local?: boolean;
  readonly seal_wrap?: boolean;
  readonly external_entropy_access?: boolean;
}

/** What was set for a mount beside its options, in the words of the API; a member that was not set is absent. */
export interface MountConfig {
  /** Seconds. Nothing leases here; they bound the tokens of login methods. */
  readonly default_lease_ttl?: number;
  readonly max_lease_ttl?: number;
  readonly force_no_cache?: boolean;
  /** Parameters whose values stand in clear in the audit trail. */
  readonly audit_non_hmac_request_keys?: readonly string[];
  readonly audit_non_hmac_response_keys?: readonly string[];
  /** `unauth`: shown to those without a token, too. */
  readonly listing_visibility?: 'hidden' | 'unauth';
  /** Of the tokens that a login method issues. */
  readonly token_type?: 'service' | 'batch' | 'default-batch';
  /** When a login method locks names out. */
  readonly user_lockout_config?: LockoutConfig;
  readonly passthrough_request_headers?: readonly string[];
  readonly allowed_response_headers?: readonly string[];
}

/** What was set of it, in the words of the API; 0 is the default. Times in seconds. */
export interface LockoutConfig {
  readonly user_lockout_threshold?: number;
  readonly user_lockout_duration?: number;
  readonly user_lockout_counter_reset_duration?: number;
  readonly user_lockout_disable?: boolean;
}

export type Options = Readonly<Record<string, string>>;

/** What can be chosen for a mount, and changed later. */
export interface MountSettings {
  readonly description?: string;
  /** An empty text takes an option back. */
  readonly options?: Options;
  /** Taken as a whole. */
  readonly config?: MountConfig;
}
