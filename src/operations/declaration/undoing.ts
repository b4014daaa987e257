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

/** What is done if the result of an operation, which cannot be retrieved again, could not be delivered. */
export interface ShownOnce<D> {
  /**
   * Returns the operation that reverts it, because its result contains a secret; or what the user should know if there is
   * none.
   * @param values parameters of the operation
   */
  undo?(data: D, values: Readonly<Record<string, unknown>>): Undoing | Lasting;
  /** Hint if there is nothing to revert. */
  readonly onceOnly?: string;
}
