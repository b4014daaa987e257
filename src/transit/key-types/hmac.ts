import type { KeyType } from './key-type.ts';
import { encodeAndWipe, type SecretKey, secretKeyType } from './secret-key.ts';

/** Key size limits in bytes, the same as in Vault and OpenBao. */
const SIZE = { minimumBytes: 32, maximumBytes: 512 };

const fits = (length: number): boolean => length >= SIZE.minimumBytes && length <= SIZE.maximumBytes;

/** HMAC-only key of a chosen length. */
export const hmac: KeyType<SecretKey> = {
  ...secretKeyType('hmac', { openbao: 10, vault: 11 }, fits),
  size: SIZE,
  generate: (random, keyBytes) => ({ secret: encodeAndWipe(random.bytes(keyBytes)) }),
  hmacKeyOf: (stored) => stored.secret ?? '',
};
