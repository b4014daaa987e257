/** Undefined means that the caller has nothing to offer after all (an empty answer at a prompt). */
type Revealed<T> = T | undefined | Promise<T | undefined>;

/**
 * Something that may unlock a store, offered by the caller. `reveal` runs only when the store has a slot that this
 * could open, and once, or once more each time that `again` is true; so a prompt behind it appears only when an answer can help.
 * Byte arrays that it returns are overwritten after use.
 */
export type Credential = {
  /** How messages call it, e.g. `COFFER_MASTER_KEY` or `the passphrase`. */
  readonly source: string;
  /** Revealing it asks a person: everything else is tried first, and then these in the order given. */
  readonly asks?: true;
  /** Called when what was revealed does not open the store: whether another answer can be had. */
  again?(): boolean;
} & (
  | { readonly kind: 'raw'; readonly reveal: () => Revealed<Uint8Array> }
  | { readonly kind: 'key-file'; readonly reveal: () => Revealed<Uint8Array> }
  | { readonly kind: 'command'; readonly reveal: () => Revealed<Uint8Array> }
  /** As bytes it is UTF-8. */
  | { readonly kind: 'passphrase'; readonly reveal: () => Revealed<string | Uint8Array> }
  /** Share texts in any order. */
  | { readonly kind: 'shares'; readonly reveal: () => Revealed<readonly string[]> }
);
