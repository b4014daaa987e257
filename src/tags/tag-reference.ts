/** A tag by its name, as a request gives it: not folded, not checked. */
export interface NamedTag {
  readonly name: string;
  /** Where the name stands in the request, for errors. */
  readonly field?: string;
}

/** A tag as a request names it: by identifier, or by a name that the pool need not have yet. */
export type TagReference = { readonly id: string } | NamedTag;
