import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { encodeBase64 } from '../../ground/base64.ts';
import { wipe } from '../../ground/bytes.ts';
import type { StoredMaterial } from './key-type.ts';

/** An asymmetric key as the store holds it. @param key private, or public when that is all there is. */
export function storedKey(key: KeyObject): StoredMaterial {
  if (key.type === 'public') return { publicKey: spki(key) };
  const pkcs8 = key.export({ format: 'der', type: 'pkcs8' });
  try {
    return { secret: encodeBase64(pkcs8), publicKey: spki(createPublicKey(key)) };
  } finally {
    wipe(pkcs8);
  }
}

const spki = (key: KeyObject): string => encodeBase64(key.export({ format: 'der', type: 'spki' }));

/** The counterpart of {@link storedKey}: the private key if it is held, else the public one. */
export function keyOf({ secret, publicKey }: StoredMaterial): KeyObject {
  if (secret === undefined) {
    return createPublicKey({ key: Buffer.from(publicKey ?? '', 'base64'), format: 'der', type: 'spki' });
  }
  const pkcs8 = Buffer.from(secret, 'base64');
  try {
    return createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
  } finally {
    wipe(pkcs8);
  }
}
