import type { KeyObject } from 'node:crypto';
import { unsupported } from '../../ground/errors.ts';
import { ownWords } from '../../ground/own-words.ts';
import { parseBech32 } from './age/bech32.ts';
import { x25519Kem } from './age/x25519.ts';
import { rawKeys } from './raw-keys.ts';

/**
 * Returns the public key in an `age1…`.
 * @throws `invalid`; `unsupported` for a hybrid one, which only has age's encoding
 */
export function recipientKey(recipient: string): KeyObject {
  const { prefix, bytes } = parseBech32(recipient);
  if (prefix === x25519Kem.recipientPrefix) {
    return rawKeys.createPublicKey({ key: bytes, format: 'raw-public', asymmetricKeyType: 'x25519' });
  }
  throw unsupported(ownWords('a hybrid public key has no form but that of age'), {
    field: 'format',
    hint: 'say --format age',
  });
}
