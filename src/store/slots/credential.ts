/**
 * Value that a credential reveals; undefined if the caller has nothing to offer after all (an empty answer at a
 * prompt).
 */
type Revealed<T> = T | undefined | Promise<T | undefined>;

/**
 * Credential that may unlock a store. `reveal` runs only if the store has a slot that it could open, and once, or again
 * each time that `again` returns true; so a prompt behind it appears only if an answer can help. Byte arrays that it
 * returns are overwritten after use.
 */
export type Credential = {
  /** Name in messages, e.g. `COFFER_MASTER_KEY` or `the passphrase`. */
  readonly source: string;
  /** Set if revealing prompts the user: everything else is tried first, and then these in the order given. */
  readonly asks?: true;
  /** Called if the revealed secret does not open the store. Returns whether another one can be obtained. */
  again?(): boolean;
} & (
  | { readonly kind: 'raw' | 'key-file' | 'command'; readonly reveal: () => Revealed<Uint8Array> }
  /** Passphrase; bytes are UTF-8. */
  | { readonly kind: 'passphrase'; readonly reveal: () => Revealed<string | Uint8Array> }
  /** Share texts in any order. */
  | { readonly kind: 'shares'; readonly reveal: () => Revealed<readonly string[]> }
  /**
   * Private keys. `reveal` is given the encrypted secrets of all slots that have one (files in the age format), and
   * returns one that it could decrypt; `none` if it has keys, but none of them is for these slots.
   */
  | {
      readonly kind: 'recipient';
      readonly reveal: (wrapped: readonly Uint8Array[]) => Revealed<Uint8Array | 'none'>;
    }
);
