import { createECDH, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/ground/random.ts';
import { parseBech32, printBech32 } from '../../../src/transit/key-types/age/bech32.ts';
import { keyTypeNamed } from '../../../src/transit/key-types/index.ts';
import type { KeyType } from '../../../src/transit/key-types/key-type.ts';
import { recipientKey } from '../../../src/transit/key-types/recipient-key.ts';
import { rejectionOf, thrownBy } from '../../reference/thrown.ts';

/** What is particular to keys on P-256; the contract of key types has the rest. */

function typeNamed(name: string): KeyType {
  const type = keyTypeNamed(name);
  if (type === undefined) throw new Error(`there is no type ${name}`);
  return type;
}

const p256 = typeNamed('p256');
const hybrid = typeNamed('mlkem768-p256');
const ORDER = Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551', 'hex');

describe('a key of the type p256', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const pkcs8 = privateKey.export({ format: 'der', type: 'pkcs8' });

  it('is the same key as the PKCS #8 that it was imported from, and is exported as that', async () => {
    const stored = (await p256.importing?.secret(pkcs8)) ?? {};
    const material = p256.open(stored);
    const recipient = p256.publicKey?.print(material) ?? '';
    expect(recipient).toMatch(/^age1tag1/);
    expect(recipientKey(recipient).equals(publicKey)).toBe(true);
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString().trim();
    expect(p256.exportSecret?.(material, '')).toBe(pem);
    expect(p256.exportSecret?.(material, 'pem')).toBe(pem);
    expect(p256.exportSecret?.(material, 'der')).toBe(pkcs8.toString('base64'));
    const scalar = Buffer.from(privateKey.export({ format: 'jwk' }).d ?? '', 'base64url');
    expect(p256.exportSecret?.(material, 'raw')).toBe(scalar.toString('base64'));
    const own = createECDH('prime256v1');
    own.setPrivateKey(scalar);
    expect(Buffer.from(parseBech32(recipient).bytes)).toEqual(own.getPublicKey(null, 'compressed'));
  });

  it('is not imported from another curve, or from halves that differ', async () => {
    const other = generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).privateKey;
    const wrong = other.export({ format: 'der', type: 'pkcs8' });
    expect(await rejectionOf(Promise.resolve(p256.importing?.secret(wrong)))).toMatchObject({
      kind: 'invalid',
      message: 'invalid curve: expected P-256, got P-384',
    });
    const changed = Buffer.from(pkcs8);
    const point = createPublicKey(generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey);
    point.export({ format: 'der', type: 'spki' }).copy(changed, changed.length - 65, 26);
    expect(await rejectionOf(Promise.resolve(p256.importing?.secret(changed)))).toMatchObject({
      kind: 'invalid',
      message: 'cannot import key, key pair does not match',
    });
  });

  it('has a number in its range also where chance gives another one first', async () => {
    const drawn = [ORDER, Buffer.alloc(32), Buffer.alloc(32, 7)];
    const random = { ...systemRandom, bytes: () => Buffer.from(drawn.shift() ?? Buffer.alloc(32, 8)) };
    expect((await p256.generate(random, 0)).secret).toBe(Buffer.alloc(32, 7).toString('base64'));
  });

  it.each([ORDER, Buffer.alloc(32)])('does not come back with %s as its number', async (key) => {
    const attempt = Promise.resolve().then(() => p256.backup.read({ key, publicKey: 'AAAA' }));
    expect(await rejectionOf(attempt)).toMatchObject({
      kind: 'invalid',
      message: 'backup has a number that is out of range for p256',
    });
  });
});

describe.each([p256, hybrid])('the public half of a key of the type $name', (type) => {
  it('is imported as its recipient, and refused as that of another type or of a point that is none', async () => {
    const key = type.open(await type.generate(systemRandom, 0));
    const recipient = type.publicKey?.print(key) ?? '';
    const imported = async (text: string) => type.importing?.publicKey?.(text);
    const raw = type.publicKey?.export(key, 'raw' as never) ?? '';
    expect(await imported(` ${recipient}\n`)).toEqual({ publicKey: raw });
    const { prefix, bytes } = parseBech32(recipient);
    expect(await rejectionOf(imported(printBech32('age', Buffer.alloc(32, 9))))).toMatchObject({
      kind: 'invalid',
      message: `not a recipient of type ${type.name}`,
      hint: `it begins with ${prefix}1`,
    });
    expect(await rejectionOf(imported(printBech32(prefix, bytes.subarray(1))))).toMatchObject({
      message: `a key that begins with ${prefix}1 has ${bytes.length} bytes, not ${bytes.length - 1}`,
    });
    bytes.fill(0xff, bytes.length - 32);
    expect(await rejectionOf(imported(printBech32(prefix, bytes)))).toMatchObject({ kind: 'invalid' });
  });

  it('is not taken in when nobody could encrypt to it', async () => {
    const { publicKey = '' } = await type.generate(systemRandom, 0);
    const bytes = Buffer.from(publicKey, 'base64');
    expect(await type.backup.read({ publicKey })).toEqual({ publicKey });
    bytes.fill(0xff, bytes.length - 32);
    const attempt = Promise.resolve().then(() => type.backup.read({ publicKey: bytes.toString('base64') }));
    expect(await rejectionOf(attempt)).toMatchObject({
      kind: 'invalid',
      message: `backup has a public key that is not of the type ${type.name}`,
    });
  });
});

describe.each(['x25519', 'mlkem768-x25519', 'p256', 'mlkem768-p256'].map(typeNamed))(
  'a key of the type $name',
  (type) => {
    it('does not come back from a backup with another length', async () => {
      const { secret = '', publicKey = '' } = await type.generate(systemRandom, 0);
      const key = Buffer.from(secret, 'base64');
      for (const other of [key.subarray(1), Buffer.concat([key, key.subarray(0, 1)]), Buffer.alloc(0)]) {
        const attempt = Promise.resolve().then(() => type.backup.read({ key: other, publicKey }));
        expect(await rejectionOf(attempt)).toMatchObject({
          kind: 'invalid',
          message: `backup has a key of the wrong length for the type ${type.name}`,
        });
      }
      const half = Buffer.from(publicKey, 'base64').subarray(1).toString('base64');
      const attempt = Promise.resolve().then(() => type.backup.read({ publicKey: half }));
      expect(await rejectionOf(attempt)).toMatchObject({ message: `backup has no ${type.name} key` });
    });

    it('does not come back from a backup with the public key of another one', async () => {
      const [one, other] = [await type.generate(systemRandom, 0), await type.generate(systemRandom, 0)];
      const key = Buffer.from(one.secret ?? '', 'base64');
      for (const publicKey of [undefined, one.publicKey]) {
        expect(await type.backup.read({ key, publicKey })).toEqual(one);
      }
      const attempt = Promise.resolve().then(() => type.backup.read({ key, publicKey: other.publicKey }));
      expect(await rejectionOf(attempt)).toMatchObject({
        kind: 'invalid',
        message: `backup has a private key of the type ${type.name} that does not match its public key`,
      });
    });

    it('has its public half alone in the backup of a public key', async () => {
      const { publicKey = '' } = await type.generate(systemRandom, 0);
      expect(await type.backup.write({ publicKey })).toEqual({ key: undefined, publicKey });
      const shown = type.publicKey?.export(type.open({ publicKey }), 'raw');
      expect(shown).toBe(publicKey);
    });

    it('is not imported from the public key of another type', () => {
      const other = printBech32('age1other', Buffer.alloc(32, 9));
      expect(thrownBy(() => type.importing?.publicKey?.(other))).toMatchObject({
        kind: 'invalid',
        field: 'public_key',
        message: `not a recipient of type ${type.name}`,
      });
    });
  },
);

describe('a key of the type mlkem768-p256', () => {
  it('is exported as its seed, which is what it is imported from', async () => {
    const seed = Buffer.alloc(32, 5);
    const stored = (await hybrid.importing?.secret(seed)) ?? {};
    const material = hybrid.open(stored);
    for (const format of ['', 'raw'] as const) {
      expect(hybrid.exportSecret?.(material, format)).toBe(seed.toString('base64'));
    }
    const recipient = hybrid.publicKey?.print(material) ?? '';
    expect(recipient).toMatch(/^age1tagpq1/);
    expect(() => recipientKey(recipient)).toThrow('can only be printed in the age format');
  });
});
