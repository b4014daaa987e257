/** Result that cannot be reverted. */
export interface Lasting {
  /** What the user should know about it. */
  readonly lasts: string;
}

/** Operation that reverts another. */
export interface Undoing {
  readonly operation: string;
  readonly raw: Readonly<Record<string, unknown>>;
  /** Name of the reverted object: `the token`. */
  readonly what: string;
  /** Manual alternative if it fails. */
  readonly hint: string;
}
