import { constants, createCipheriv, type KeyObject, publicEncrypt } from 'node:crypto';

/** Keys as clients bring them in, made of OpenSSL's own parts and of plain bytes: nothing is shared with the program under test. */

/** What a client does: PKCS#11 CKM_RSA_AES_KEY_WRAP. @param under the wrapping key. */
export function wrappedUnder(under: KeyObject, target: Uint8Array, oaepHash = 'sha256'): string {
  const ephemeral = Buffer.alloc(32, 0x5a);
  const padding = constants.RSA_PKCS1_OAEP_PADDING;
  const cipher = createCipheriv('id-aes256-wrap-pad', ephemeral, Buffer.from('a65959a6', 'hex'));
  return Buffer.concat([
    publicEncrypt({ key: under, padding, oaepHash }, ephemeral),
    cipher.update(target),
    cipher.final(),
  ]).toString('base64');
}

const tlv = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, content.length]), content]);
};
const oid = (hex: string): Buffer => tlv(0x06, Buffer.from(hex, 'hex'));

/** An Ed25519 key as NSS writes it: id-ecPublicKey on 1.3.6.1.4.1.11591.15.1, with an ECPrivateKey of RFC 5915 in it. */
export const nssPkcs8 = (seed: Uint8Array, curve = '2b06010401da470f01'): Buffer =>
  tlv(
    0x30,
    tlv(0x02, Buffer.alloc(1)),
    tlv(0x30, oid('2a8648ce3d0201'), oid(curve)),
    tlv(0x04, tlv(0x30, tlv(0x02, Buffer.from([1])), tlv(0x04, seed))),
  );
