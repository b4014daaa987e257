/** The key types: a file for each type or family of them, which has all that Coffer knows about it. */

import { ecdsa } from './ecdsa.ts';
import { ed25519 } from './ed25519.ts';
import { hmac } from './hmac.ts';
import type { KeyType } from './key-type.ts';
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

export const keyTypeNames = (): string[] => [...byName.keys()];

/** Only symmetric keys come into being by encrypting: they are made at once, and nothing has to be decided about them. */
export const encryptMakes = ({ aead }: KeyType): boolean => aead !== undefined;

export const keyTypes = (): readonly KeyType[] => KEY_TYPES;
