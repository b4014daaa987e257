import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fetchKeySet, readKeySet } from '../../../../src/access/methods/jwt/key-set.ts';
import { givenKeys } from '../../../../src/access/methods/jwt/keys.ts';
import { refusal } from '../../../refusal.ts';

const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pemOf = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString();

const NO_KEY = {
  kind: 'invalid',
  message: 'error parsing public key: data does not contain any valid public keys',
};

describe('the keys of a mount', () => {
  it('are 100 at most', () => {
    const given = (count: number) => () => givenKeys(Array<string>(count).fill(pemOf(publicKey)));
    expect(given(100)().candidates).toHaveLength(100);
    expect(refusal(given(101))).toMatchObject({
      message: 'jwt_validation_pubkeys must have at most 100 items, not 101',
    });
  });

  it('are 100 at most in the set of an issuer, and one at least', async () => {
    const set = (count: number) =>
      readKeySet(JSON.stringify({ keys: Array(count).fill(publicKey.export({ format: 'jwk' })) }));
    expect((await set(1)).candidates).toHaveLength(1);
    expect((await set(100)).candidates).toHaveLength(1);
    await expect(set(0)).rejects.toThrow('the key set is empty');
    await expect(set(101)).rejects.toThrow('the key set has more than 100 keys');
  });

  it.each([
    ['of a curve that no signature of a token has', 'brainpoolP256r1'],
    ['of a curve with another name', 'secp256k1'],
  ])('are none that are %s', (_, namedCurve) => {
    const pem = pemOf(generateKeyPairSync('ec', { namedCurve }).publicKey);
    expect(refusal(() => givenKeys([pem]))).toMatchObject(NO_KEY);
  });

  it('are none that are of X25519, private, cut short or nothing at all', () => {
    const pem = pemOf(publicKey);
    const { publicKey: exchange, privateKey } = generateKeyPairSync('x25519');
    for (const text of [
      pemOf(exchange),
      privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      pem.replace(/\n.{20}/, '\n'),
      '',
    ]) {
      expect(refusal(() => givenKeys([pem, text]))).toMatchObject(NO_KEY);
    }
  });

  it('of RSA have 2,048 bits at least', () => {
    const pem = (modulusLength: number) => pemOf(generateKeyPairSync('rsa', { modulusLength }).publicKey);
    expect(givenKeys([pem(2048)]).candidates).toHaveLength(1);
    expect(refusal(() => givenKeys([pem(2047)]))).toMatchObject({
      message: 'error parsing public key: 2047 bits are too few for RSA',
    });
  });
});

describe('the key set that a discovery document names', () => {
  let document: (issuer: string) => object = () => ({});
  const server = createServer(({ url }, response) => {
    const jwk = publicKey.export({ format: 'jwk' });
    response.end(JSON.stringify(url === '/keys' ? { keys: [jwk] } : document(issuer())));
  });
  const issuer = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const fetched = () => fetchKeySet({ discoveryUrl: issuer(), ca: '', serverNames: [] });
  beforeAll(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve())));
  afterAll(() => void server.close());

  it('is fetched without TLS on this machine, as the document is', async () => {
    document = (issuer) => ({ issuer, jwks_uri: `${issuer}/keys` });
    expect(await readKeySet(await fetched())).toMatchObject({ candidates: [expect.any(Function)] });
  });

  it.each<[string, (issuer: string) => object, string]>([
    ['names none', (issuer) => ({ issuer }), 'the discovery document has no jwks_uri'],
    ['names a number', (issuer) => ({ issuer, jwks_uri: 7 }), 'the discovery document has no jwks_uri'],
    [
      'names one elsewhere without TLS',
      (issuer) => ({ issuer, jwks_uri: 'http://issuer.example/keys' }),
      'the URL must begin with https://; http:// is only allowed for localhost',
    ],
    [
      'is that of another issuer',
      (issuer) => ({ issuer: `${issuer}/`, jwks_uri: `${issuer}/keys` }),
      'the discovery document names another issuer',
    ],
  ])('is not fetched where the document %s', async (_, made, why) => {
    document = made;
    await expect(fetched()).rejects.toThrow(why);
  });
});
