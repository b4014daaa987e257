/** What a request asks for. `sudo` stands beside another one, on paths that ask for more than the usual right. */
export type Capability = 'create' | 'read' | 'update' | 'delete' | 'list' | 'sudo';

/**
 * A set of capabilities as a bit mask: policies are united and tested on every request.
 * `patch` and `scan` are understood in policies, since peers have them, though no request here asks for them.
 */
export type Capabilities = number;

/** By the words of policies, in their alphabetical order, which is the order of answers. */
const BITS = {
  create: 1,
  delete: 2,
  list: 4,
  patch: 8,
  read: 16,
  scan: 32,
  sudo: 64,
  update: 128,
} as const;

/** Refuses everything, whatever other policies grant on the same path. */
export const DENY: Capabilities = 256;

export const bitOf = (capability: Capability): Capabilities => BITS[capability];

/** The mask of one word of a policy; undefined when it is none. */
export function parseCapability(word: string): Capabilities | undefined {
  if (word === 'deny') return DENY;
  return Object.hasOwn(BITS, word) ? BITS[word as keyof typeof BITS] : undefined;
}

export const CAPABILITY_WORDS: readonly string[] = [...Object.keys(BITS), 'deny'];

/** The words of a mask, sorted; `['deny']` when there is nothing in it, or a refusal. */
export function printCapabilities(capabilities: Capabilities): readonly string[] {
  if (capabilities === 0 || (capabilities & DENY) !== 0) return ['deny'];
  return Object.entries(BITS)
    .filter(([, bit]) => (capabilities & bit) !== 0)
    .map(([word]) => word);
}
