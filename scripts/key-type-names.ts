import { keyTypes } from '../src/transit/key-types/index.ts';

/** Generated source with the names of key types as a type. */
export const KEY_TYPE_NAMES = 'src/transit/key-types/names.ts';

/** Returns that source: Coffer's names, then those of Vault and OpenBao. */
export function keyTypeNamesSource(): string {
  const own = keyTypes().map(({ name }) => name);
  const others = keyTypes().flatMap(({ familyNames = [] }) => familyNames.map(({ name }) => name));
  const names = [...new Set([...own, ...others])].map((name) => `  | '${name}'`);
  return `/* Written by "npm run generate" from the registered key types. */

/** Name of a key type: Coffer's, or that of Vault or OpenBao. */
export type KeyTypeName =
${names.join('\n')};
`;
}
