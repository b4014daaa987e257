import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/ground/random.ts';
import { keyTypeNamed } from '../../../src/transit/key-types/index.ts';
import vectors from '../../vectors/ml-dsa.json' with { type: 'json' };
import { postQuantumContract, signatureOptions } from './post-quantum.contract.ts';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');

describe.each(vectors)('the key type $type', ({ type: name, keyGeneration, signing, verification }) => {
  const type = keyTypeNamed(name) ?? expect.fail(`no key type ${name}`);
  const fromSeed = async (seed: string) => type.backup.read({ key: hex(seed) });

  it.each(keyGeneration)('makes the public key of ACVP case $tcId from its seed', async (vector) => {
    const stored = await fromSeed(vector.seed);
    const shown = type.publicKey?.export(type.open(stored), 'raw') ?? '';
    const digest = createHash('sha256').update(Buffer.from(shown, 'base64')).digest('hex');
    expect(digest).toBe(vector.publicKeySha256);
  });

  it.each(signing)('makes the key of Wycheproof case $tcId, whose signature it verifies', async (vector) => {
    const pair = type.open(await fromSeed(vector.seed));
    expect(type.publicKey?.export(pair, 'raw')).toBe(hex(vector.publicKey).toString('base64'));
    const { message, signature } = vector;
    expect(await type.signing?.verify(pair, hex(message), hex(signature), signatureOptions)).toBe(true);
    const ours =
      (await type.signing?.sign(pair, hex(message), signatureOptions, systemRandom)) ?? Buffer.alloc(0);
    expect(ours).toHaveLength(hex(signature).length);
    expect(await type.signing?.verify(pair, hex(message), ours, signatureOptions)).toBe(true);
  });

  it.each(verification)('agrees with Wycheproof case $tcId: $comment', async (vector) => {
    const publicKey = hex(vector.publicKey).toString('base64');
    if (vector.flags.includes('IncorrectPublicKeyLength')) {
      await expect(Promise.resolve().then(() => type.backup.read({ publicKey }))).rejects.toThrow(
        `backup has an ${name} public key of the wrong length`,
      );
      return;
    }
    const pair = type.open(await type.backup.read({ publicKey }));
    const { message, signature, valid } = vector;
    expect(await type.signing?.verify(pair, hex(message), hex(signature), signatureOptions)).toBe(valid);
  });

  postQuantumContract(type);
});
