/** Registry of key types. Each type or family of types has a file with everything that Coffer knows about it. */

import { ecdsa } from './ecdsa.ts';
import { ed25519 } from './ed25519.ts';
import type { FamilyName, KeyProtocol, KeyType } from './key-type.ts';
import type { KeyTypeName } from './names.ts';
import { mlDsa, slhDsa } from './post-quantum.ts';
import { recipientTypes } from './recipients.ts';
import { rsa } from './rsa.ts';
import { hmac, nodeAeads, xchacha20Poly1305 } from './symmetric.ts';

/** Every key type, in the order of the help texts. */
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

/** Default key type. */
export const DEFAULT_KEY_TYPE = 'aes256-gcm96';

/** Finds the type with this exact name; undefined if unknown. */
export const keyTypeNamed = (name: string): KeyType | undefined => byName.get(name);

/** Key type, and Vault's name for it if that was used. */
export interface CalledType {
  readonly type: KeyType;
  readonly familyName?: FamilyName;
}

/**
 * Finds the type by Coffer's name or Vault's.
 * @param parameterSet empty for none; redundant for an unambiguous name, but must not contradict it
 */
export function keyTypeCalled(name: string, parameterSet: string): CalledType | undefined {
  return calledTypes(name).find(({ type, familyName }) => {
    if (familyName?.parameterSet !== undefined) return familyName.parameterSet === parameterSet;
    return parameterSet === '' || setsOf(type).includes(parameterSet);
  });
}

/** Returns the parameter sets that may accompany a name; undefined for an unknown name. */
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

export const keyTypeNames = (): KeyTypeName[] => [...byName.keys()] as KeyTypeName[];

/** Returns the names of the types whose keys have a form in another program's protocol. */
export const keyTypesIn = (protocol: KeyProtocol): readonly string[] =>
  KEY_TYPES.filter(({ protocols }) => protocols?.includes(protocol)).map(({ name }) => name);

/** Whether keys of a type encrypt arbitrary data; age recipients only encrypt file keys. */
export const encryptsData = ({ aead, protocols, publicKeyEncryption }: KeyType): boolean =>
  aead !== undefined || (publicKeyEncryption !== undefined && protocols?.includes('age') !== true);

/**
 * Whether encrypting may create a key of this type: only symmetric ones, which are generated instantly and need no
 * settings.
 */
export const encryptMakes = ({ aead }: KeyType): boolean => aead !== undefined;

/** Returns the names of the types of which encrypting may create keys. */
export const encryptionTypeNames = (): string[] => KEY_TYPES.filter(encryptMakes).map(({ name }) => name);

export const keyTypes = (): readonly KeyType[] => KEY_TYPES;
