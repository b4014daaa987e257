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
