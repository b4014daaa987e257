import { describe, expect, it } from 'vitest';
import { onlyValue, valueOrThrow } from '../../src/transit/batch.ts';
import type { Engine } from '../../src/transit/engine.ts';
import type { NamedKeyDocument } from '../../src/transit/key-document.ts';
import { type VerifyItem, verify } from '../../src/transit/verification.ts';
import { rejectionOf } from '../reference/thrown.ts';
import { freshEngine } from './fresh-engine.ts';
import { KEY_32, knownKey, knownVersion, MY_CONTEXT, QUICK_FOX_BASE64, storeKey } from './known-key.ts';

const REQUEST = {
  hashAlgorithm: 'sha2-256',
  prehashed: false,
  signatureAlgorithm: '',
  marshalingAlgorithm: 'asn1',
  saltLength: 'auto',
};

/** A published P-256 key and a signature of it that another implementation made. */
const ECDSA_PUBLIC =
  '3059301306072a8648ce3d020106082a8648ce3d03010703420004' +
  '7336010a6da5935113d26d9ea4bb61b3b8d102c9a8083ed432f9b58fd7e80686' +
  '4040aa31864691a8a9e7e3ec9250e85425b797ad7be34ba8df62bfbad45ebb0e';
const ECDSA_SIGNATURE =
  'MEUCIAgnEl9V8P305EBAlz68Nq4jZng5fE8k6MactcnlUw9dAiEAvJVePg3dazW6MaW7lRAVtEz82QJDVmR98tXCl8Pc7DA=';
const { secret: _, ...noSecret } = knownVersion(KEY_32);
const ecdsa = knownKey('ecdsa-p256', [
  { ...noSecret, publicKey: Buffer.from(ECDSA_PUBLIC, 'hex').toString('base64') },
]);

const SEED_PKCS8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), KEY_32]);
const ed25519 = knownKey('ed25519', [knownVersion(SEED_PKCS8)]);
const ED25519_SIGNATURE =
  'vault:v1:OZORekOQiAkX+r0lQwgpVDF+nm4IFKGAnX15wMqffzhClKn67u/NbsuGqOqrCgYylUgQZYM2rgXPBuGAea7mDA==';

async function engineWith(document: NamedKeyDocument): Promise<Engine> {
  const engine = await freshEngine();
  await storeKey(engine, document);
  return engine;
}

const isValid = async (document: NamedKeyDocument, item: VerifyItem, change = {}): Promise<boolean> =>
  onlyValue(
    await verify(await engineWith(document), 'known', [item], {
      request: { ...REQUEST, ...change },
      single: true,
    }),
  );

const ofFox = (signature: string, more: Partial<VerifyItem> = {}): VerifyItem => ({
  input: QUICK_FOX_BASE64,
  signature,
  ...more,
});

describe('verifying a signature of another implementation', () => {
  it('accepts ECDSA, ed25519, and derived ed25519', async () => {
    expect(await isValid(ecdsa, ofFox(`vault:v1:${ECDSA_SIGNATURE}`))).toBe(true);
    expect(await isValid(ed25519, ofFox(ED25519_SIGNATURE))).toBe(true);
    const derived =
      'vault:v1:kXZfwfEvi5pakYUyuHfl7GU9sAdGd2VScF3DmaT3m4XgGjlxEGIhAixoeajmDVksLBIAxRhc5hI6GLmgJAqFBA==';
    const key = { ...ed25519, derived: true, kdf: 1 as const };
    expect(await isValid(key, ofFox(derived, { context: MY_CONTEXT }))).toBe(true);
    expect(await isValid(key, ofFox(derived, { context: 'AAAA' }))).toBe(false);
  });

  it('answers false for another input, key, hash or marshaling', async () => {
    expect(await isValid(ed25519, { input: 'AAAA', signature: ED25519_SIGNATURE })).toBe(false);
    const otherKey = knownKey('ed25519', [
      knownVersion(Buffer.concat([SEED_PKCS8.subarray(0, 16), Buffer.alloc(32, 9)])),
    ]);
    expect(await isValid(otherKey, ofFox(ED25519_SIGNATURE))).toBe(false);
    const signature = `vault:v1:${ECDSA_SIGNATURE}`;
    expect(await isValid(ecdsa, ofFox(signature), { hashAlgorithm: 'sha2-384' })).toBe(false);
    const asUrl = signature.replaceAll('=', '').replaceAll('/', '_').replaceAll('+', '-');
    expect(await isValid(ecdsa, ofFox(asUrl), { marshalingAlgorithm: 'jws' })).toBe(false);
  });

  it('answers false for a signature in the alphabet of the other marshaling', async () => {
    const asUrl = ED25519_SIGNATURE.replaceAll('=', '').replaceAll('/', '_').replaceAll('+', '-');
    expect(await isValid(ed25519, ofFox(asUrl), { marshalingAlgorithm: 'jws' })).toBe(true);
    expect(await isValid(ed25519, ofFox(asUrl))).toBe(false);
    expect(await isValid(ed25519, ofFox(ED25519_SIGNATURE), { marshalingAlgorithm: 'jws' })).toBe(false);
    expect(await isValid(ecdsa, ofFox(`vault:v1:${ECDSA_SIGNATURE}`), { marshalingAlgorithm: 'jws' })).toBe(
      false,
    );
  });

  it('overlooks newlines in either alphabet', async () => {
    const broken = (signature: string) => signature.replace(/(v1:.{20})(.{20})/, '$1\n$2\r\n');
    expect(await isValid(ed25519, ofFox(broken(ED25519_SIGNATURE)))).toBe(true);
    const asUrl = ED25519_SIGNATURE.replaceAll('=', '').replaceAll('/', '_').replaceAll('+', '-');
    expect(await isValid(ed25519, ofFox(broken(asUrl)), { marshalingAlgorithm: 'jws' })).toBe(true);
  });

  it.each(['+A+A', '/A/A', 'A+/A'])(
    'refuses a signature with %s in it whose padding was cut off, which is one in no alphabet',
    async (letters) => {
      const digits = Buffer.alloc(64).toString('base64').replaceAll('=', '').replace(/^.{4}/, letters);
      for (const padding of ['', '=']) {
        for (const marshalingAlgorithm of ['asn1', 'jws']) {
          const attempt = isValid(ed25519, ofFox(`vault:v1:${digits}${padding}`), { marshalingAlgorithm });
          expect(await rejectionOf(attempt), padding).toMatchObject({
            kind: 'invalid',
            message: 'invalid base64 signature value',
          });
        }
      }
      expect(await isValid(ed25519, ofFox(`vault:v1:${digits}==`))).toBe(false);
      expect(await isValid(ed25519, ofFox(`vault:v1:${digits}==`), { marshalingAlgorithm: 'jws' })).toBe(
        false,
      );
    },
  );

  it('answers false for one without padding that may be one for JWS', async () => {
    const digits = Buffer.alloc(64).toString('base64').replaceAll('=', '');
    expect(await isValid(ed25519, ofFox(`vault:v1:${digits}`))).toBe(false);
    expect(await isValid(ed25519, ofFox(`vault:v1:${digits}`), { marshalingAlgorithm: 'jws' })).toBe(false);
  });

  it('takes the numbers of ECDSA for what they are, whatever zeros and further elements come with them', async () => {
    const der = Buffer.from(ECDSA_SIGNATURE, 'base64');
    const [r, s] = [der.subarray(4, 36), der.subarray(39)];
    const text = (bytes: Buffer, form: 'base64' | 'base64url') => ofFox(`vault:v1:${bytes.toString(form)}`);
    const zero = Buffer.alloc(1);
    const jws = { marshalingAlgorithm: 'jws' };
    expect(await isValid(ecdsa, text(Buffer.concat([r, s]), 'base64url'), jws)).toBe(true);
    expect(await isValid(ecdsa, text(Buffer.concat([zero, r, zero, s]), 'base64url'), jws)).toBe(true);
    const extra = Buffer.concat([der, Buffer.from('020101', 'hex')]);
    extra.writeUInt8(extra.readUInt8(1) + 3, 1);
    expect(await isValid(ecdsa, text(extra, 'base64'))).toBe(true);
    expect(await isValid(ecdsa, { ...text(extra, 'base64'), input: 'AAAA' })).toBe(false);
    // The element counts for nothing, and none of the numbers can be in it.
    extra.writeUInt8(extra.readUInt8(38) ^ 1, 38);
    expect(await isValid(ecdsa, text(extra, 'base64'))).toBe(false);
  });

  it('answers false for an ed25519 signature of another length', async () => {
    expect(await isValid(ed25519, ofFox('vault:v1:'))).toBe(false);
    expect(await isValid(ed25519, ofFox('vault:v1:AAAA'))).toBe(false);
  });

  it('answers false for integers that are zero or negative', async () => {
    expect(await isValid(ecdsa, ofFox('vault:v1:MAYCAQACAQA='))).toBe(false);
    expect(await isValid(ecdsa, ofFox('vault:v1:MAYCAf8CAQE='))).toBe(false);
  });

  it('is never fooled by a single changed bit', async () => {
    const bytes = Buffer.from(ED25519_SIGNATURE.slice(9), 'base64');
    const items = Array.from({ length: bytes.length * 8 }, (_, bit) => {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      return ofFox(`vault:v1:${changed.toString('base64')}`);
    });
    const results = await verify(await engineWith(ed25519), 'known', items, {
      request: REQUEST,
      single: false,
    });
    expect(results.map(valueOrThrow)).toEqual(Array(items.length).fill(false));
  });
});

describe('verifying', () => {
  it.each([
    ['AAAA', 'invalid signature: no prefix'],
    ['vault:v1', 'invalid signature: wrong number of fields'],
    ['vault:vx:AAAA', 'invalid signature: version number could not be decoded'],
    ['vault:v2:AAAA', 'invalid signature: version is too new'],
    ['vault:v0:AAAA', 'ciphertext or signature version is disallowed by policy (too old)'],
    ['vault:v1:AAA', 'invalid base64 signature value'],
    ['vault:v1:AA-_', 'invalid base64 signature value'],
  ])('refuses %j, which is no signature', async (signature, message) => {
    expect(await rejectionOf(isValid(ed25519, ofFox(signature)))).toMatchObject({
      kind: 'invalid',
      field: 'signature',
      message,
    });
  });

  it.each(['vault:v1:AA+/', 'vault:v1:AAA=', 'vault:v1:AAAAA'])(
    'refuses %s as one for JWS',
    async (signature) => {
      const attempt = isValid(ed25519, ofFox(signature), { marshalingAlgorithm: 'jws' });
      expect(await rejectionOf(attempt)).toMatchObject({
        kind: 'invalid',
        message: 'invalid base64 signature value',
      });
    },
  );

  it('refuses a version below the minimum', async () => {
    const versions = [knownVersion(SEED_PKCS8), knownVersion(SEED_PKCS8)];
    const key = knownKey('ed25519', versions, { minDecryptionVersion: 2 });
    expect(await rejectionOf(isValid(key, ofFox(ED25519_SIGNATURE)))).toMatchObject({
      kind: 'invalid',
      message: 'ciphertext or signature version is disallowed by policy (too old)',
    });
    expect(await isValid(key, ofFox(ED25519_SIGNATURE.replace('v1', 'v2')))).toBe(true);
  });

  it.each([
    [{ signature: 'x' }, 'missing input'],
    [{ input: '?', signature: 'x' }, 'unable to decode input as base64: illegal base64 data at input byte 0'],
    [{ input: '', context: '?', signature: 'x' }, 'failed to base64-decode context'],
  ])('refuses the item %j', async (item, message) => {
    expect(await rejectionOf(isValid(ed25519, item))).toMatchObject({ kind: 'invalid', message });
  });

  it('refuses a missing key, one that does not sign, a soft-deleted one, and a derived one without context', async () => {
    const missing = verify(await freshEngine(), 'nobody', [ofFox('x')], { request: REQUEST, single: true });
    expect(await rejectionOf(missing)).toMatchObject({
      kind: 'not-found',
      message: 'signature verification key not found',
    });
    const symmetric = knownKey('aes256-gcm96', [knownVersion(KEY_32)]);
    expect(await rejectionOf(isValid(symmetric, ofFox('x')))).toMatchObject({
      kind: 'unsupported',
      message: 'key type aes256-gcm96 does not support verification',
      hint: 'use the key that the data was signed with, or verify an HMAC with "coffer transit verify known --hmac HMAC"',
    });
    const softDeleted = { ...ed25519, softDeleted: true };
    expect(await rejectionOf(isValid(softDeleted, ofFox(ED25519_SIGNATURE)))).toMatchObject({
      kind: 'conflict',
      message: 'refusing to use soft-deleted key',
    });
    const derived = { ...ed25519, derived: true, kdf: 1 as const };
    expect(await rejectionOf(isValid(derived, ofFox(ED25519_SIGNATURE)))).toMatchObject({
      kind: 'invalid',
      message: expect.stringMatching(/^error deriving key: missing 'context'/),
    });
  });
});

describe('what a batch is verified by', () => {
  const signature = { input: '', signature: ED25519_SIGNATURE };
  const hmac = { input: '', hmac: 'vault:v1:AAAA' };

  it.each([
    [[], 'missing batch input to process'],
    [[signature, hmac], "elements of batch_input must all provide 'signature' or all provide 'hmac'"],
    [
      [signature, hmac, { input: '' }],
      "elements of batch_input must all provide 'signature' or all provide 'hmac'",
    ],
  ])('is one thing for all items, not %j', async (items, message) => {
    const attempt = verify(await freshEngine(), 'nobody', items, { request: REQUEST, single: false });
    expect(await rejectionOf(attempt)).toMatchObject({ kind: 'invalid', message });
  });

  it.each([
    [[signature, { input: '' }], "some elements of batch_input are missing 'signature'"],
    [[hmac, { input: '' }], "some elements of batch_input are missing 'hmac'"],
    [[{ input: '' }], "no batch_input elements have 'signature' or 'hmac'"],
  ])('must be there in every item for the family, which refuses %j as a whole', async (items, message) => {
    const attempt = verify(await freshEngine('vault'), 'nobody', items, { request: REQUEST, single: false });
    expect(await rejectionOf(attempt)).toMatchObject({ kind: 'invalid', message });
  });

  it('is missed by an item alone that has nothing, whatever the others have', async () => {
    const nothing = { error: { message: "neither a 'signature' nor an 'hmac' were given to verify" } };
    const engine = await engineWith(ed25519);
    const answers = (items: readonly VerifyItem[]) =>
      verify(engine, 'known', items, { request: REQUEST, single: false });
    expect(await answers([{ input: '' }, ofFox(ED25519_SIGNATURE)])).toMatchObject([
      nothing,
      { value: true },
    ]);
    expect(await answers([{ input: '' }, { input: '', hmac: 'vault:v1:AAAA' }])).toMatchObject([
      nothing,
      { value: false },
    ]);
    expect(await answers([{ input: '' }, {}])).toMatchObject([nothing, nothing]);
    await storeKey(engine, { ...knownKey('aes256-gcm96', [knownVersion(KEY_32)]), name: 'secret' });
    expect(await verify(engine, 'secret', [{}], { request: REQUEST, single: false })).toMatchObject([
      nothing,
    ]);
    expect(
      await rejectionOf(verify(engine, 'nobody', [{}], { request: REQUEST, single: false })),
    ).toMatchObject({
      kind: 'not-found',
    });
  });

  it('is the signature, where an item has both', async () => {
    const results = await verify(
      await engineWith(ed25519),
      'known',
      [{ ...ofFox(ED25519_SIGNATURE), hmac: 'vault:v1:AAAA' }],
      { request: REQUEST, single: false },
    );
    expect(results).toEqual([{ value: true }]);
  });

  it('is asked for when a single call has neither', async () => {
    const attempt = verify(await freshEngine(), 'nobody', [{ input: '' }], {
      request: REQUEST,
      single: true,
    });
    expect(await rejectionOf(attempt)).toMatchObject({
      kind: 'invalid',
      message: "neither a 'signature' nor an 'hmac' were given to verify",
    });
  });

  it('fails an item alone', async () => {
    const items = [ofFox('x'), ofFox(ED25519_SIGNATURE)];
    const results = await verify(await engineWith(ed25519), 'known', items, {
      request: REQUEST,
      single: false,
    });
    expect(results).toMatchObject([{ error: { message: 'invalid signature: no prefix' } }, { value: true }]);
  });
});
