import type { OfferedKeyData } from './agent-door.ts';

/**
 * Returns why a key cannot encrypt for a program that only supplies data; undefined if it can.
 * @param who name of the program
 */
export function sealingRefusal(
  who: string,
  { type, derived, encryptsData }: OfferedKeyData,
): string | undefined {
  if (derived) return `it is derived, and ${who} has no context to give`;
  return encryptsData ? undefined : `it does not encrypt (${type})`;
}
