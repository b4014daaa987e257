import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { systemRandom } from '../../src/ground/random.ts';
import type { KeyType, SignatureOptions, StoredMaterial } from '../../src/transit/key-types/key-type.ts';

const OPTIONS: SignatureOptions = {
  hash: 'sha2-256',
  prehashed: false,
  signatureAlgorithm: '',
  marshaling: 'asn1',
  saltLength: 'auto',
};

const TAG_BYTES = 16;
const flipBit = (bytes: Uint8Array, bit: number): Buffer => {
  const changed = Buffer.from(bytes);
  changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
  return changed;
};

/** Returns positions of bits to flip: all of a short value, some of a long one. */
const someBits = (bytes: Uint8Array): number[] => {
  const bits = bytes.length * 8;
  const step = Math.max(1, Math.floor(bits / 64));
  return Array.from({ length: Math.ceil(bits / step) }, (_, i) => i * step);
};

/** Contract of every key type. */
export function keyTypeContract(type: KeyType): void {
  const keyBytes = type.size?.minimumBytes ?? 0;
  let stored: StoredMaterial;
  let material: unknown;
  let other: unknown;

  describe(`the key type ${type.name}`, () => {
    beforeAll(async () => {
      stored = await type.generate(systemRandom, keyBytes);
      material = type.open(stored);
      other = type.open(await type.generate(systemRandom, keyBytes));
    });

    it('can do something with a key', () => {
      const abilities = [type.aead, type.publicKeyEncryption, type.signing, type.hmacKeyOf];
      expect(abilities.some((ability) => ability !== undefined)).toBe(true);
      expect(type.aead === undefined || type.publicKeyEncryption === undefined).toBe(true);
    });

    it('stores its material as base64', () => {
      for (const part of [stored.secret, stored.publicKey]) {
        if (part !== undefined) expect(Buffer.from(part, 'base64').toString('base64')).toBe(part);
      }
      expect(stored.secret).toBeDefined();
      expect(stored.publicKey === undefined).toBe(type.publicKey === undefined);
    });

    it('writes itself into a backup and reads itself from there', async () => {
      expect(await type.backup.read(await type.backup.write(stored))).toEqual(stored);
    });

    it('refuses a backup that has nothing of it', async () => {
      const attempt = Promise.resolve().then(() => type.backup.read({}));
      await expect(attempt).rejects.toMatchObject({ kind: 'invalid', field: 'backup' });
    });

    if (type.importing !== undefined) {
      const { importing } = type;
      it('comes back through an export for import', async () => {
        expect(await importing.secret(importing.secretBytes(material))).toEqual(stored);
      });

      it('refuses to import bytes that are no key', async () => {
        for (const length of [0, 1, 15, 31, 1000]) {
          const attempt = Promise.resolve().then(() => importing.secret(Buffer.alloc(length)));
          const answer = await attempt.catch((error: unknown) => error);
          expect(answer).toMatchObject({ kind: 'invalid' });
        }
      });
    }

    if (type.exportSecret !== undefined) {
      const { exportSecret } = type;
      it('prints its secret in its own form, and refuses forms that it does not have', () => {
        expect(exportSecret(material, '')).not.toBe('');
        for (const format of ['raw', 'der', 'pem'] as const) {
          try {
            expect(exportSecret(material, format)).not.toBe('');
          } catch (error) {
            expect(error).toMatchObject({ kind: 'invalid', field: 'format' });
          }
        }
      });
    }

    if (type.aead !== undefined) aeadContract();
    if (type.publicKeyEncryption !== undefined) publicKeyEncryptionContract();
    if (type.signing !== undefined) signingContract();
    if (type.derivation !== undefined) derivationContract();
  });

  function aeadContract(): void {
    const bytes = fc.uint8Array({ maxLength: 300 });

    it('decrypts what it encrypted, with the same nonce and associated data alone', async () => {
      const cipher = await type.aead?.cipher(material);
      const stranger = await type.aead?.cipher(other);
      const nonceBytes = type.aead?.nonceBytes ?? 0;
      if (cipher === undefined || stranger === undefined) throw new Error('no cipher');
      fc.assert(
        fc.property(bytes, fc.option(bytes, { nil: undefined }), (plaintext, associatedData) => {
          const nonce = systemRandom.bytes(nonceBytes);
          const sealed = Buffer.concat(cipher.encrypt(nonce, plaintext, associatedData));
          expect(sealed).toHaveLength(plaintext.length + TAG_BYTES);
          expect(cipher.decrypt(nonce, sealed, associatedData).equals(Buffer.from(plaintext))).toBe(true);
          const refusal = expect.objectContaining({ kind: 'inauthentic', field: 'ciphertext' });
          const others = Buffer.concat([associatedData ?? Buffer.alloc(0), Buffer.alloc(1)]);
          expect(() => cipher.decrypt(nonce, sealed, others)).toThrow(refusal);
          expect(() => cipher.decrypt(flipBit(nonce, 3), sealed, associatedData)).toThrow(refusal);
          expect(() => stranger.decrypt(nonce, sealed, associatedData)).toThrow(refusal);
        }),
        { numRuns: 40 },
      );
    });

    it('refuses every changed bit, and every tag that is cut', async () => {
      const cipher = await type.aead?.cipher(material);
      if (cipher === undefined) throw new Error('no cipher');
      const nonce = systemRandom.bytes(type.aead?.nonceBytes ?? 0);
      const sealed = Buffer.concat(cipher.encrypt(nonce, Buffer.from('sixteen bytes...')));
      for (let bit = 0; bit < sealed.length * 8; bit++) {
        expect(() => cipher.decrypt(nonce, flipBit(sealed, bit))).toThrow(/message authentication failed$/);
      }
      for (let length = 0; length < sealed.length; length++) {
        expect(() => cipher.decrypt(nonce, sealed.subarray(0, length))).toThrow(
          /message authentication failed$/,
        );
      }
    });
  }

  function publicKeyEncryptionContract(): void {
    it('decrypts what it encrypted, and says the same whatever is wrong with a ciphertext', () => {
      const encryption = type.publicKeyEncryption;
      const ciphertext = encryption?.encrypt(material, Buffer.from('message')) ?? Buffer.alloc(0);
      expect(encryption?.decrypt(material, ciphertext).toString()).toBe('message');
      const refusals = [
        () => encryption?.decrypt(other, ciphertext),
        // Cut at its end: an RSA number without a zero at its front is still the same number.
        () => encryption?.decrypt(material, ciphertext.subarray(0, -1)),
        () => encryption?.decrypt(material, Buffer.alloc(0)),
        () => encryption?.decrypt(material, Buffer.alloc(ciphertext.length, 0xff)),
        () => encryption?.decrypt(material, flipBit(ciphertext, 77)),
      ].map((attempt) => {
        try {
          attempt();
        } catch (error) {
          return error;
        }
        return undefined;
      });
      const message =
        encryption?.paddingScheme === undefined
          ? 'message authentication failed'
          : 'failed to RSA decrypt the ciphertext: crypto/rsa: decryption error';
      for (const refusal of refusals) expect(refusal).toMatchObject({ kind: 'inauthentic', message });
    });
  }

  function signingContract(): void {
    it('verifies what it signed, and nothing else', async () => {
      const { signing } = type;
      const input = Buffer.from('message');
      const signature = (await signing?.sign(material, input, OPTIONS, systemRandom)) ?? Buffer.alloc(0);
      expect(await signing?.verify(material, input, signature, OPTIONS)).toBe(true);
      expect(await signing?.verify(material, Buffer.from('massage'), signature, OPTIONS)).toBe(false);
      expect(await signing?.verify(other, input, signature, OPTIONS)).toBe(false);
      for (const bit of someBits(signature)) {
        // A changed signature is not valid, or is not a signature at all.
        const changed = flipBit(signature, bit);
        const answer = await Promise.resolve()
          .then(() => signing?.verify(material, input, changed, OPTIONS))
          .catch((error: unknown) => error);
        if (answer !== false) expect(answer).toMatchObject({ kind: 'invalid', field: 'signature' });
      }
    });

    it('verifies with the public half alone', async () => {
      const { signing } = type;
      const input = Buffer.alloc(0);
      const signature = (await signing?.sign(material, input, OPTIONS, systemRandom)) ?? Buffer.alloc(0);
      const publicHalf = type.open({ publicKey: stored.publicKey ?? '' });
      expect(await signing?.verify(publicHalf, input, signature, OPTIONS)).toBe(true);
    });

    it('shows its public key', () => {
      expect(type.publicKey?.label).not.toBe('');
      expect(type.publicKey?.print(material)).not.toBe('');
      expect(type.publicKey?.print(material)).toBe(
        type.publicKey?.print(type.open({ publicKey: stored.publicKey ?? '' })),
      );
      const pem = type.publicKey?.export(material, 'pem') ?? '';
      expect(pem).toMatch(/^-----BEGIN PUBLIC KEY-----\n/);
      expect(type.importing?.publicKey?.(pem)).toEqual({ publicKey: stored.publicKey });
    });
  }

  function derivationContract(): void {
    it('gives a key for every input, and takes no part of its own from it', () => {
      const { derivation } = type;
      const inputKey = derivation?.inputKey(material) ?? Buffer.alloc(0);
      expect(inputKey.length).toBeGreaterThanOrEqual(16);
      inputKey.fill(0);
      expect(derivation?.inputKey(material).equals(inputKey)).toBe(false);
      const bytes = Buffer.alloc(derivation?.keyBytes ?? 0, 7);
      const derived = derivation?.materialOf(bytes);
      bytes.fill(0);
      expect(derivation?.inputKey(derived)).toEqual(
        derivation?.inputKey(derivation.materialOf(Buffer.alloc(bytes.length, 7))),
      );
    });
  }
}
