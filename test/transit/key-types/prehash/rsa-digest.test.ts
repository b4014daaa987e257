import {
  constants,
  createHash,
  generateKeyPairSync,
  type KeyPairKeyObjectResult,
  privateEncrypt,
  publicDecrypt,
  sign,
  verify,
} from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../../src/ground/random.ts';
import {
  DIGEST_HASHES,
  type DigestHashName,
  mgf1,
} from '../../../../src/transit/key-types/prehash/digest-hash.ts';
import {
  signPkcs1Digest,
  signPssDigest,
  verifyPkcs1Digest,
  verifyPssDigest,
} from '../../../../src/transit/key-types/prehash/rsa-digest.ts';
import { thrownBy } from '../../../reference/thrown.ts';
import { LONGEST_SALT } from '../longest-salts.ts';

const message = Buffer.from('the quick brown fox');
const names = Object.keys(DIGEST_HASHES) as DigestHashName[];
const digestOf = (name: DigestHashName): Buffer =>
  createHash(DIGEST_HASHES[name].nodeName).update(message).digest();

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
/**
 * A modulus whose size is one more than whole bytes leaves the first byte of the encoded message out. Above 2,048 bits,
 * OpenSSL makes only keys of an even size.
 */
const odd = generateKeyPairSync('rsa', { modulusLength: 1537 });

describe.each(names)('PKCS#1 v1.5 over a %s digest', (name) => {
  const { nodeName } = DIGEST_HASHES[name];

  it('makes byte for byte what signing the message makes', () => {
    expect(signPkcs1Digest(rsa.privateKey, name, digestOf(name))).toEqual(
      sign(nodeName, message, rsa.privateKey),
    );
  });

  it('accepts a signature of the message, and not of another key, digest or length', () => {
    const signature = sign(nodeName, message, rsa.privateKey);
    const digest = digestOf(name);
    expect(verifyPkcs1Digest(rsa.publicKey, name, digest, signature)).toBe(true);
    expect(verifyPkcs1Digest(other.publicKey, name, digest, signature)).toBe(false);
    expect(verifyPkcs1Digest(rsa.publicKey, name, digest.fill(0, 0, 1), signature)).toBe(false);
    expect(verifyPkcs1Digest(rsa.publicKey, name, digest.subarray(1), signature)).toBe(false);
    expect(verifyPkcs1Digest(rsa.publicKey, name, digestOf(name), signature.subarray(1))).toBe(false);
  });

  it('refuses to sign a digest of another length', () => {
    const error = thrownBy(() => signPkcs1Digest(rsa.privateKey, name, digestOf(name).subarray(1)));
    expect(error).toMatchObject({ kind: 'invalid', message: 'crypto/rsa: input must be hashed message' });
  });
});

describe('PKCS#1 v1.5 without a named hash', () => {
  it.each([0, 1, 36, 245])('pads %i bytes as they are', (length) => {
    const bytes = Buffer.alloc(length, 7);
    const signature = signPkcs1Digest(rsa.privateKey, 'none', bytes);
    expect(verifyPkcs1Digest(rsa.publicKey, 'none', bytes, signature)).toBe(true);
    expect(verifyPkcs1Digest(rsa.publicKey, 'none', Buffer.alloc(length + 1, 7), signature)).toBe(false);
  });

  it('is what TLS 1.1 signed: an MD5 and a SHA-1 digest side by side', () => {
    const joined = Buffer.concat(['md5', 'sha1'].map((hash) => createHash(hash).update(message).digest()));
    expect(signPkcs1Digest(rsa.privateKey, 'none', joined)).toEqual(
      sign('md5-sha1', message, rsa.privateKey),
    );
  });

  it('refuses what does not fit the key', () => {
    const error = thrownBy(() => signPkcs1Digest(rsa.privateKey, 'none', Buffer.alloc(246)));
    expect(error).toMatchObject({
      kind: 'invalid',
      message: 'crypto/rsa: message too long for RSA key size',
    });
  });

  it('does not take a signature with a named hash for one without', () => {
    const signature = sign('sha256', message, rsa.privateKey);
    expect(verifyPkcs1Digest(rsa.publicKey, 'none', digestOf('sha2-256'), signature)).toBe(false);
  });
});

describe.each(names)('PSS over a %s digest', (name) => {
  const { nodeName, digestBytes } = DIGEST_HASHES[name];
  const padding = constants.RSA_PKCS1_PSS_PADDING;
  const digest = digestOf(name);

  it.each(['auto', 'hash', 1, 17] as const)(
    'with salt %s verifies as a signature of the message',
    (saltLength) => {
      const expected =
        { auto: LONGEST_SALT[name], hash: digestBytes }[saltLength as string] ?? Number(saltLength);
      const signature = signPssDigest(rsa.privateKey, {
        hash: name,
        digest,
        saltLength,
        random: systemRandom,
      });
      const check = (saltBytes: number): boolean =>
        verify(nodeName, message, { key: rsa.publicKey, padding, saltLength: saltBytes }, signature);
      expect(check(expected)).toBe(true);
      expect(check(expected - 1)).toBe(false);
    },
  );

  it('verifies a signature of the message, whose salt length is detected or demanded', () => {
    const signature = sign(nodeName, message, { key: rsa.privateKey, padding, saltLength: 20 });
    const valid = (saltLength: 'auto' | 'hash' | number): boolean =>
      verifyPssDigest(rsa.publicKey, { hash: name, digest, signature, saltLength });
    expect([valid('auto'), valid(20), valid(19), valid(21)]).toEqual([true, true, false, false]);
    expect(valid('hash')).toBe(digestBytes === 20);
    expect(verifyPssDigest(other.publicKey, { hash: name, digest, signature, saltLength: 'auto' })).toBe(
      false,
    );
    expect(
      verifyPssDigest(rsa.publicKey, {
        hash: name,
        digest: digest.subarray(1),
        signature,
        saltLength: 'auto',
      }),
    ).toBe(false);
  });

  it('refuses a digest of another length, and a salt that does not fit', () => {
    const short = thrownBy(() =>
      signPssDigest(rsa.privateKey, {
        hash: name,
        digest: digest.subarray(1),
        saltLength: 'auto',
        random: systemRandom,
      }),
    );
    expect(short).toMatchObject({
      kind: 'invalid',
      message: 'crypto/rsa: input must be hashed with given hash',
    });
    const tooLong = LONGEST_SALT[name] + 1;
    for (const attempt of [
      () => signPssDigest(rsa.privateKey, { hash: name, digest, saltLength: tooLong, random: systemRandom }),
      () =>
        verifyPssDigest(rsa.publicKey, {
          hash: name,
          digest,
          signature: Buffer.alloc(256),
          saltLength: tooLong,
        }),
    ]) {
      expect(thrownBy(attempt)).toMatchObject({
        kind: 'invalid',
        message: `requested salt length ${tooLong} is invalid`,
      });
    }
  });
});

describe('PSS at its edges', () => {
  const padding = constants.RSA_PKCS1_PSS_PADDING;
  const digest = digestOf('sha2-256');

  it('works both ways with a modulus of one bit more than whole bytes', () => {
    expect(odd.publicKey.asymmetricKeyDetails?.modulusLength).toBe(1537);
    const ours = signPssDigest(odd.privateKey, {
      hash: 'sha2-256',
      digest,
      saltLength: 'auto',
      random: systemRandom,
    });
    expect(verify('sha256', message, { key: odd.publicKey, padding }, ours)).toBe(true);
    const theirs = sign('sha256', message, { key: odd.privateKey, padding });
    expect(
      verifyPssDigest(odd.publicKey, { hash: 'sha2-256', digest, signature: theirs, saltLength: 'auto' }),
    ).toBe(true);
  });

  it('refuses every single-bit change of a signature', () => {
    const signature = sign('sha256', message, { key: rsa.privateKey, padding });
    for (let bit = 0; bit < 8 * signature.length; bit += 7) {
      const changed = Buffer.from(signature);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(
        verifyPssDigest(rsa.publicKey, { hash: 'sha2-256', digest, signature: changed, saltLength: 'auto' }),
      ).toBe(false);
    }
  });

  it.each([
    [0, 0],
    [255, 1],
    [256, 0xff],
    [257, 0],
  ])('takes %i bytes of the value %i for an invalid signature', (length, value) => {
    const junk = Buffer.alloc(length, value);
    expect(
      verifyPssDigest(rsa.publicKey, { hash: 'sha2-256', digest, signature: junk, saltLength: 'auto' }),
    ).toBe(false);
    expect(verifyPkcs1Digest(rsa.publicKey, 'sha2-256', digest, junk)).toBe(false);
  });
});

describe('a PSS signature that only its own key could have forged', () => {
  const { RSA_NO_PADDING: padding } = constants;
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };

  /** A signature of which the padding was changed; salts are tried until the number is one of the key. */
  function forged(
    { privateKey, publicKey }: KeyPairKeyObjectResult,
    change: (block: Buffer) => void,
  ): Buffer {
    for (;;) {
      const block = publicDecrypt(
        { key: publicKey, padding },
        sign('sha256', message, { key: privateKey, ...pss }),
      );
      change(block);
      try {
        return privateEncrypt({ key: privateKey, padding }, block);
      } catch {
        // The number is larger than the modulus.
      }
    }
  }
  /** Changes the padding and the salt, which are masked; the block has as many bytes as the modulus. */
  const unmasked = (change: (db: Buffer) => void) => (block: Buffer) => {
    const [db, h] = [block.subarray(0, -33), block.subarray(-33, -1)];
    const mask = mgf1(DIGEST_HASHES['sha2-256'], h, db.length);
    const turn = (): void => {
      for (const [at, byte] of mask.entries()) db.writeUInt8(db.readUInt8(at) ^ byte, at);
    };
    turn();
    db.writeUInt8(db.readUInt8(0) & 0x7f, 0);
    change(db);
    turn();
    db.writeUInt8(db.readUInt8(0) & 0x7f, 0);
  };

  it.each<[string, KeyPairKeyObjectResult, (block: Buffer) => void, boolean]>([
    ['nothing', rsa, () => {}, true],
    ['the trailer', rsa, (block) => block.writeUInt8(0xbd, 255), false],
    [
      'a bit that the modulus leaves out',
      rsa,
      (block) => block.writeUInt8(block.readUInt8(0) | 0x80, 0),
      false,
    ],
    ['a byte that the modulus leaves out', odd, (block) => block.writeUInt8(1, 0), false],
    [
      'the byte before the salt',
      rsa,
      unmasked((db) =>
        db.writeUInt8(
          2,
          db.findIndex((byte) => byte !== 0),
        ),
      ),
      false,
    ],
    ['a byte of the padding', rsa, unmasked((db) => db.writeUInt8(1, 5)), false],
    [
      'a byte of the salt',
      rsa,
      unmasked((db) => db.writeUInt8(db.readUInt8(db.length - 1) ^ 1, db.length - 1)),
      false,
    ],
  ])('is not valid with %s changed', (_, pair, change, isValid) => {
    const signature = forged(pair, change);
    const { publicKey: key } = pair;
    expect(
      verify('sha256', message, { key, ...pss, saltLength: constants.RSA_PSS_SALTLEN_AUTO }, signature),
    ).toBe(isValid);
    const digest = digestOf('sha2-256');
    expect(verifyPssDigest(key, { hash: 'sha2-256', digest, signature, saltLength: 'auto' })).toBe(isValid);
  });
});
