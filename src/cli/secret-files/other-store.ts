/** Advice about the store of an author. The user may be this author, in a shell that does not name the store. */
const YOUR_STORE =
  'if you encrypted it, name your store with --store or COFFER_STORE, or restore its backup with "coffer store restore FILE"';

/** Hint where creating a store or a key, which other hints suggest, would not help. */
export const SHARING = `${YOUR_STORE}; if not, ask the author for access: "coffer help sharing"`;
