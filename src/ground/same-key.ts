import type { KeyObject } from 'node:crypto';

/**
 * Whether two keys are the same. To compare keys of different types, OpenSSL would fail, and leave an error behind with
 * which Node then refuses the next private key that it reads.
 */
export const isSameKey = (key: KeyObject, other: KeyObject): boolean =>
  key.asymmetricKeyType === other.asymmetricKeyType && key.equals(other);
