/** Advice about the store of an author. The user may be this author, in a shell that does not name the store. */
const YOUR_STORE =
  'if it is your store, use --store or set COFFER_STORE, or run "coffer store restore FILE" with its backup';

/** Hint where creating a store or a key, which other hints suggest, would not help. */
export const SHARING = `${YOUR_STORE}; if not, its author can share it with a keyring: "coffer help sharing"`;
