import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';
import { utf8, wipe } from '../../ground/bytes.ts';
import { denied, invalid } from '../../ground/errors.ts';

const DATA_KEY_BYTES = 32;
const MAC_INFO = utf8('coffer envelope 1 header');
const PAYLOAD_INFO = utf8('coffer envelope 1 payload');

/** Keys of one file, derived from its data key. */
export interface FileKeys {
  /** MAC of the sealed header. */
  readonly mac: Buffer;
  /** Key of the chunks. It depends on the MAC, so no chunk opens with another header. */
  readonly payload: KeyObject;
}

/**
 * Derives the keys of one file by HKDF-SHA256 (RFC 5869) and overwrites the data key. HMAC with a key derived by HKDF
 * commits to the data key, which AES-GCM alone does not.
 * @param salt salt of the file, so that a data key used twice would still yield different keys
 */
export function deriveFileKeys(dataKey: Buffer, salt: Buffer, sealedHeader: Buffer): FileKeys {
  if (dataKey.length !== DATA_KEY_BYTES) {
    throw invalid(`the data key has ${dataKey.length} bytes instead of ${DATA_KEY_BYTES}`);
  }
  const macKey = derive(dataKey, salt, MAC_INFO);
  const mac = createHmac('sha256', macKey).update(sealedHeader).digest();
  const payload = derive(dataKey, salt, Buffer.concat([PAYLOAD_INFO, mac]));
  try {
    return { mac, payload: createSecretKey(payload) };
  } finally {
    wipe(dataKey, macKey, payload);
  }
}

const derive = (dataKey: Buffer, salt: Buffer, info: Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', dataKey, salt, info, 32));

/**
 * Derives the keys of a file to decrypt.
 * @throws `denied` if the MAC does not match this header and data key
 */
export function openFileKeys(dataKey: Buffer, salt: Buffer, sealedHeader: Buffer, mac: Buffer): FileKeys {
  const keys = deriveFileKeys(dataKey, salt, sealedHeader);
  if (!timingSafeEqual(keys.mac, mac)) {
    throw denied('the header of the envelope was changed, or its data key belongs to another file', {
      hint: 'get a fresh copy of the file',
    });
  }
  return keys;
}
