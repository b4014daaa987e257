import type { OfferedKeyData } from './agent-door.ts';

/** Why a key can't encrypt for a program that has nothing but data to give. @param who the program. */
export function sealingRefusal(who: string, { type, derived }: OfferedKeyData): string | undefined {
  if (derived) return `it is derived, and ${who} has no context to give`;
  const encrypts = /^(?:aes|chacha20|xchacha20|rsa)/.test(type);
  return encrypts ? undefined : `it does not encrypt (${type})`;
}
