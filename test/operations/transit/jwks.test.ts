import { createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { createLocalJWKSet, importJWK, type JSONWebKeySet, jwtVerify } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { refused } from '../../refusal.ts';
import { freshOperations, type Operations } from './operations.ts';

let operations: Operations;
beforeAll(async () => {
  operations = await freshOperations('vault');
});

const setOf = async (name: string) => (await operations.ask('keys jwks', { name })) as JSONWebKeySet;
const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A JSON Web Token as a program makes it that has the transit API alone. */
async function token(name: string, alg: string, version: number): Promise<string> {
  const header = { alg, typ: 'JWT', kid: `${name}-v${version}` };
  const signed = `${encoded(header)}.${encoded({ sub: 'ada', version })}`;
  const raw = {
    name,
    key_version: version,
    input: Buffer.from(signed).toString('base64'),
    marshaling_algorithm: 'jws',
    hash_algorithm: alg === 'EdDSA' ? undefined : `sha2-${alg.slice(2)}`,
    signature_algorithm: alg.startsWith('RS') ? 'pkcs1v15' : undefined,
    ...(alg.startsWith('PS') ? { signature_algorithm: 'pss', salt_length: 'hash' } : {}),
  };
  const signature = await operations.text('sign', raw, 'signature');
  return `${signed}.${signature.split(':')[2]}`;
}

describe('the JSON Web Key Set of a key', () => {
  it.each([
    ['ed25519', ['EdDSA'], { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA' }],
    ['ecdsa-p256', ['ES256'], { kty: 'EC', crv: 'P-256', alg: 'ES256' }],
    ['ecdsa-p384', ['ES384'], { kty: 'EC', crv: 'P-384', alg: 'ES384' }],
    ['ecdsa-p521', ['ES512'], { kty: 'EC', crv: 'P-521', alg: 'ES512' }],
    ['rsa-2048', ['RS256', 'PS256', 'PS512'], { kty: 'RSA' }],
  ])('verifies tokens that every version of %s has signed', async (type, algorithms, members) => {
    await operations.ask('keys create', { name: type, type });
    await operations.ask('keys rotate', { name: type });
    const set = await setOf(type);
    expect(set.keys.map(({ kid }) => kid)).toEqual([`${type}-v1`, `${type}-v2`]);
    for (const key of set.keys) {
      expect(key).toMatchObject({ ...members, use: 'sig' });
      expect(Object.keys(key).filter((name) => ['d', 'p', 'q', 'dp', 'dq', 'qi'].includes(name))).toEqual([]);
      expect(await importJWK(key, algorithms[0])).toMatchObject({ type: 'public' });
    }
    const keys = createLocalJWKSet(set);
    for (const alg of algorithms) {
      for (const version of [1, 2]) {
        const made = await token(type, alg, version);
        expect((await jwtVerify(made, keys)).payload).toEqual({ sub: 'ada', version });
      }
    }
    const forged = (await token(type, algorithms[0] ?? '', 1)).split('.');
    forged[1] = encoded({ sub: 'eve', version: 1 });
    await expect(jwtVerify(forged.join('.'), keys)).rejects.toThrow('signature verification failed');
  });

  it('names the algorithm of Bitcoin and its kin, which few libraries verify, for secp256k1', async () => {
    await operations.ask('keys create', { name: 'coin', type: 'ecdsa-secp256k1' });
    const [jwk] = (await setOf('coin')).keys;
    expect(jwk).toMatchObject({ kty: 'EC', crv: 'secp256k1', alg: 'ES256K', kid: 'coin-v1' });
    const header = encoded({ alg: 'ES256K', kid: 'coin-v1' });
    const signed = `${header}.${encoded({ sub: 'ada' })}`;
    const signature = await operations.text(
      'sign',
      { name: 'coin', input: Buffer.from(signed).toString('base64'), marshaling_algorithm: 'jws' },
      'signature',
    );
    const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
    const bytes = Buffer.from(signature.split(':')[2] ?? '', 'base64url');
    expect(verify('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }, bytes)).toBe(true);
  });

  it('has no versions whose signatures do not verify any more', async () => {
    await operations.ask('keys create', { name: 'old', type: 'ed25519' });
    for (let again = 0; again < 2; again++) await operations.ask('keys rotate', { name: 'old' });
    await operations.ask('keys config', { name: 'old', min_decryption_version: 2 });
    expect((await setOf('old')).keys.map(({ kid }) => kid)).toEqual(['old-v2', 'old-v3']);
  });

  it('needs a key that signs and is not derived', async () => {
    await operations.ask('keys create', { name: 'aes' });
    await operations.ask('keys create', { name: 'contexts', type: 'ed25519', derived: true });
    const kinds = await Promise.all(['aes', 'contexts', 'nobody'].map((name) => refused(setOf(name))));
    expect(kinds.map(({ kind }) => kind)).toEqual(['unsupported', 'unsupported', 'not-found']);
  });

  it('stands beside the envelope too, where programs that know no envelope find it', async () => {
    const { data, topLevel } = await operations.outcome('keys jwks', { name: 'ed25519' });
    expect(topLevel).toEqual(data);
  });
});
