import { expect, it } from 'vitest';
import { systemRandom } from '../../../src/ground/random.ts';
import type { KeyType, SignatureOptions } from '../../../src/transit/key-types/key-type.ts';
import { rejectionOf } from '../../reference/thrown.ts';

export const signatureOptions: SignatureOptions = {
  hash: 'sha2-256',
  prehashed: false,
  signatureAlgorithm: '',
  marshaling: 'asn1',
  saltLength: 'auto',
};

const message = Buffer.from('the quick brown fox');

/** What holds for every post-quantum signature type, whatever its parameters. */
export function postQuantumContract(type: KeyType): void {
  const { signing, importing, publicKey } = type;
  if (signing === undefined || importing === undefined || publicKey === undefined) {
    throw new Error(`${type.name} lacks a capability`);
  }
  const generated = Promise.resolve(type.generate(systemRandom, 0)).then((stored) => ({
    stored,
    material: type.open(stored),
  }));

  it('refuses a digest in place of the message', async () => {
    const { material } = await generated;
    const options = { ...signatureOptions, prehashed: true };
    const refusal = {
      kind: 'unsupported',
      message: `prehashed input is not supported for key type ${type.name}`,
      field: 'prehashed',
    };
    const sign = async () => signing.sign(material, message, options, systemRandom);
    const verify = async () => signing.verify(material, message, Buffer.alloc(64), options);
    expect(await rejectionOf(sign())).toMatchObject(refusal);
    expect(await rejectionOf(verify())).toMatchObject(refusal);
  });

  it('takes altered and misshapen signatures for invalid ones', async () => {
    const { material } = await generated;
    const signature = await signing.sign(material, message, signatureOptions, systemRandom);
    expect(await signing.verify(material, message, signature, signatureOptions)).toBe(true);
    const middle = signature.length >> 1;
    const altered = Buffer.from(signature).fill((signature[middle] ?? 0) ^ 1, middle, middle + 1);
    for (const junk of [
      altered,
      signature.subarray(1),
      Buffer.concat([signature, signature]),
      Buffer.alloc(0),
    ]) {
      expect(await signing.verify(material, message, junk, signatureOptions)).toBe(false);
    }
    const other = Buffer.from('the quick brown fix');
    expect(await signing.verify(material, other, signature, signatureOptions)).toBe(false);
  });

  it('comes back the same from a backup, whole or as a public key alone', async () => {
    const { stored } = await generated;
    const entry = await type.backup.write(stored);
    expect(await type.backup.read(entry)).toEqual(stored);
    const half = await type.backup.write({ publicKey: stored.publicKey ?? '' });
    expect(half).toEqual({ publicKey: entry.publicKey });
    expect(await type.backup.read(half)).toEqual({ publicKey: stored.publicKey });
  });

  it('is refused from a backup whose halves do not belong together, or have another length', async () => {
    const entry = await type.backup.write((await generated).stored);
    const other = await type.backup.write(await type.generate(systemRandom, 0));
    const key = entry.key ?? Buffer.alloc(0);
    const refusals: [string, typeof entry][] = [
      [`has no ${type.name} key`, {}],
      [`has an ${type.name} key of the wrong length`, { ...entry, key: key.subarray(1) }],
      [`has an ${type.name} public key of the wrong length`, { publicKey: 'AAAA' }],
      [
        `has an ${type.name} private key that does not match its public key`,
        { key, publicKey: other.publicKey },
      ],
    ];
    for (const [what, hostile] of refusals) {
      const attempt = Promise.resolve().then(() => type.backup.read(hostile));
      expect(await rejectionOf(attempt)).toMatchObject({ kind: 'invalid', message: `backup ${what}` });
    }
  });

  it('can be imported and exported in PKCS#8 and SubjectPublicKeyInfo', async () => {
    const { stored, material } = await generated;
    expect(await importing.secret(importing.secretBytes(material))).toEqual(stored);
    expect(importing.publicKey?.(publicKey.print(material))).toEqual({ publicKey: stored.publicKey });
    expect(publicKey.export(material, 'der')).toBe(stored.publicKey);
    expect(type.exportSecret?.(material, 'der')).toBe(stored.secret);
    expect(type.exportSecret?.(material, '')).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
  });
}
