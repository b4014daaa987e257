import type { OfferedKeyData } from './agent-door.ts';

/**
 * Returns why a key cannot encrypt for a program that only supplies data; undefined if it can.
 * @param who name of the program
 */
export function sealingRefusal(
  who: string,
  { type, derived, encryptsData }: OfferedKeyData,
): string | undefined {
  if (derived) return `derived keys need a context, which ${who} does not send`;
  return encryptsData ? undefined : `it does not encrypt (${type})`;
}
