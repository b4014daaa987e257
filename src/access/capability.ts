/** Capabilities that requests require. `sudo` is required in addition to another one, on privileged paths. */
export const CAPABILITIES = ['create', 'read', 'update', 'delete', 'list', 'sudo'] as const;

export type Capability = (typeof CAPABILITIES)[number];

/**
 * Set of capabilities as a bit mask: policies are merged and tested on every request. `patch` and `scan` are accepted
 * in policies, because Vault and OpenBao have them, although no request requires them.
 */
export type Capabilities = number;

/** Bits by their names in policies, in alphabetical order, which is the order of responses. */
export const BIT_OF = {
  create: 1,
  delete: 2,
  list: 4,
  patch: 8,
  read: 16,
  scan: 32,
  sudo: 64,
  update: 128,
} as const;

/** Denies every operation, overriding grants of other policies for the same path. */
export const DENY: Capabilities = 256;

/** Parses one word of a policy into its bit; undefined if it is unknown. */
export function parseCapability(word: string): Capabilities | undefined {
  if (word === 'deny') return DENY;
  return Object.hasOwn(BIT_OF, word) ? BIT_OF[word as keyof typeof BIT_OF] : undefined;
}

export const CAPABILITY_WORDS: readonly string[] = [...Object.keys(BIT_OF), 'deny'];

/** Returns the words of a mask, sorted; `['deny']` if it is empty or contains deny. */
export function printCapabilities(capabilities: Capabilities): readonly string[] {
  if (capabilities === 0 || (capabilities & DENY) !== 0) return ['deny'];
  return Object.entries(BIT_OF)
    .filter(([, bit]) => (capabilities & bit) !== 0)
    .map(([word]) => word);
}
