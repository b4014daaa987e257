import type { Invocation } from './command.ts';
import { shellWord } from './terminal/shell-word.ts';

/** Option with the type of key that a command needs; no option if the default type does. */
const SIGNING = ' --type ed25519';
const ENCRYPTING = '';
const FOR_AGE = ' --type x25519';

/** Commands that use nothing which an existing key has made: for them, a new key does as well as one that exists. */
const WITH_NEW_KEYS: ReadonlyMap<string, string> = new Map([
  ['sign', SIGNING],
  ['transit sign', SIGNING],
  ['transit hmac', ENCRYPTING],
  ['transit datakey', ENCRYPTING],
  ['transit datakeys', ENCRYPTING],
  ['transit envelope encrypt', ENCRYPTING],
  ['agent offer', ENCRYPTING],
]);

/** Options with which a command needs a key of another type: protocols of the agent, and recipients of age. */
const BY_OPTION: readonly (readonly [flag: string, type: string])[] = [
  ['recipient', FOR_AGE],
  ['ssh', SIGNING],
  ['pkcs11', ' --type ecdsa-p256'],
  ['age', FOR_AGE],
];

/**
 * Returns the hint that creates the key which a command lacks.
 * @returns undefined if the command needs the key that has made its input
 */
export function keyCreation({ path, given }: Invocation, name: string): string | undefined {
  const fallback = WITH_NEW_KEYS.get(path.join(' '));
  if (fallback === undefined) return undefined;
  const [, usual = fallback] = BY_OPTION.find(([flag]) => given.options.has(flag)) ?? [];
  const key = shellWord(name);
  return `to create it, run "coffer transit keys create ${key}${usual}"; "coffer transit keys list" lists the keys`;
}
