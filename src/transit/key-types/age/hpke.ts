import { wipe } from '../../../ground/bytes.ts';
import { expand, extract } from './kem.ts';

/**
 * HPKE in base mode (RFC 9180, 4 to 6.1) as age uses it: HKDF-SHA256, ChaCha20-Poly1305, one message without associated
 * data.
 */

const BASE_MODE = 0;
const NONE = Buffer.alloc(0);

/**
 * Creates LabeledExtract and LabeledExpand of one suite (RFC 9180, 4).
 * @param suite `suite_id`
 */
export function labelledBy(suite: Uint8Array) {
  const labelled = (label: string): Buffer =>
    Buffer.concat([Buffer.from('HPKE-v1'), suite, Buffer.from(label)]);
  return {
    extract: (salt: Uint8Array, label: string, inputKey: Uint8Array): Buffer =>
      extract(salt, Buffer.concat([labelled(label), inputKey])),
    expand(key: Uint8Array, label: string, context: Uint8Array, bytes: number): Buffer {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(bytes);
      return expand(key, Buffer.concat([length, labelled(label), context]), bytes);
    },
  };
}

/**
 * Derives key and nonce of the only message (RFC 9180, 5.1, `KeySchedule` of base mode).
 * @param kem KEM ID in the HPKE registry
 * @param shared shared secret of the KEM, which is overwritten
 */
export function keyOfOneMessage(
  kem: number,
  info: string,
  shared: Buffer,
): { readonly key: Buffer; readonly nonce: Buffer } {
  const id = Buffer.alloc(2);
  id.writeUInt16BE(kem);
  // KDF 0x0001, AEAD 0x0003 (RFC 9180, 7).
  const labelled = labelledBy(Buffer.concat([Buffer.from('HPKE'), id, Buffer.from('00010003', 'hex')]));
  const context = Buffer.concat([
    Buffer.from([BASE_MODE]),
    labelled.extract(NONE, 'psk_id_hash', NONE),
    labelled.extract(NONE, 'info_hash', Buffer.from(info)),
  ]);
  const secret = labelled.extract(shared, 'secret', NONE);
  wipe(shared);
  return {
    key: labelled.expand(secret, 'key', context, 32),
    nonce: labelled.expand(secret, 'base_nonce', context, 12),
  };
}
