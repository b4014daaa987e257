/** The key types: a file for each type or family of them, which has all that Coffer knows about it. */

import { ecdsa } from './ecdsa.ts';
import { ed25519 } from './ed25519.ts';
import { hmac } from './hmac.ts';
import type { FamilyName, KeyType } from './key-type.ts';
import { nodeAeads } from './node-aead-types.ts';
import { mlDsa, slhDsa } from './post-quantum.ts';
import { recipientTypes } from './recipients.ts';
import { rsa } from './rsa.ts';
import { xchacha20Poly1305 } from './xchacha20-poly1305.ts';

/** Every key type, in the order in which help names them. */
const KEY_TYPES: readonly KeyType[] = [
  ...nodeAeads,
  xchacha20Poly1305,
  ed25519,
  ...ecdsa,
  ...rsa,
  ...mlDsa,
  ...slhDsa,
  ...recipientTypes,
  hmac,
];

const byName = new Map(KEY_TYPES.map((type) => [type.name, type]));

/** What a key is when nobody says. */
export const DEFAULT_KEY_TYPE = 'aes256-gcm96';

/** The type of this exact name, or undefined. */
export const keyTypeNamed = (name: string): KeyType | undefined => byName.get(name);

/** A type, and by which name of the Vault family it was called, if by one. */
export interface CalledType {
  readonly type: KeyType;
  readonly familyName?: FamilyName;
}

/**
 * The type that a name means, our own or one of the family's.
 * @param parameterSet empty for none. Beside a name that says enough it may be there, and must not contradict.
 */
export function keyTypeCalled(name: string, parameterSet: string): CalledType | undefined {
  return calledTypes(name).find(({ type, familyName }) => {
    if (familyName?.parameterSet !== undefined) return familyName.parameterSet === parameterSet;
    return parameterSet === '' || setsOf(type).includes(parameterSet);
  });
}

/** What `parameter_set` may say beside a name; undefined for a name that is none. */
export function parameterSetsOf(name: string): string[] | undefined {
  const called = calledTypes(name);
  return called.length === 0 ? undefined : called.flatMap(({ type }) => setsOf(type));
}

function calledTypes(name: string): CalledType[] {
  const own = byName.get(name);
  if (own !== undefined) return [{ type: own }];
  return KEY_TYPES.flatMap((type) =>
    (type.familyNames ?? [])
      .filter((known) => known.name === name)
      .map((familyName) => ({ type, familyName })),
  );
}

const setsOf = ({ familyNames = [] }: KeyType): string[] =>
  familyNames.flatMap(({ parameterSet }) => parameterSet ?? []);

export const keyTypeNames = (): string[] => [...byName.keys()];

/** Only symmetric keys come into being by encrypting: they are made at once, and nothing has to be decided about them. */
export const encryptMakes = ({ aead }: KeyType): boolean => aead !== undefined;

export const keyTypes = (): readonly KeyType[] => KEY_TYPES;
