import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/ground/random.ts';
import { keyTypeNamed } from '../../../src/transit/key-types/index.ts';
import { isLong } from '../../long.ts';
import { rejectionOf } from '../../reference/thrown.ts';
import vectors from '../../vectors/slh-dsa.json' with { type: 'json' };
import { postQuantumContract, signatureOptions } from './post-quantum.contract.ts';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');

/** Those that sign slowly differ from the others by their parameters alone, which their vectors tell apart; the long proof signs with them. */
const signsSlowly = (name: string): boolean => name.endsWith('s');

describe.each(vectors)('the key type $type', ({ type: name, privateKey, message, signature, tcId }) => {
  const type = keyTypeNamed(name) ?? expect.fail(`no key type ${name}`);

  it(`verifies the signature of ACVP case ${tcId}, and no other`, async () => {
    const pair = type.open(await type.backup.read({ key: hex(privateKey) }));
    const verify = (bytes: Buffer) => type.signing?.verify(pair, hex(message), bytes, signatureOptions);
    expect(await verify(hex(signature))).toBe(true);
    const altered = hex(signature);
    altered[100] = (altered[100] ?? 0) ^ 0x80;
    expect(await verify(altered)).toBe(false);
  });

  if (!isLong && signsSlowly(name)) return;

  it('neither restores nor signs when the public key inside the private key is not its own', async () => {
    const key = hex(privateKey);
    key[key.length - 1] = (key[key.length - 1] ?? 0) ^ 1;
    const stored = await type.backup.read({ key });
    expect(await rejectionOf(Promise.resolve(type.backup.probe?.(stored)))).toMatchObject({
      kind: 'invalid',
      message: `backup has an ${name} private key that does not match its public key`,
    });
    const pkcs8 = type.importing?.secretBytes(type.open(stored)) ?? Buffer.alloc(0);
    expect(await rejectionOf(Promise.resolve(type.importing?.secret(pkcs8)))).toMatchObject({
      kind: 'invalid',
      message: 'cannot import key, key pair does not match',
    });
    const signed = type.signing?.sign(type.open(stored), hex(message), signatureOptions, systemRandom);
    expect(await rejectionOf(Promise.resolve(signed))).toMatchObject({ kind: 'corrupt' });
  });

  postQuantumContract(type);
});
