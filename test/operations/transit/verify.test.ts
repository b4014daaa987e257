import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { goEntry } from '../../reference/go-backup.ts';
import { rejectionOf } from '../../reference/thrown.ts';
import { freshOperations, type Operations, type Raw } from './operations.ts';
import {
  CONTEXT,
  DERIVED_SIGNATURE,
  ED25519_KEY,
  ED25519_SIGNATURE,
  FOX,
  HMACS,
  KEY,
  KNOWN_HMAC_KEY,
  ours,
  P256_ENTRY,
  P256_SIGNATURE,
} from './vectors.ts';

let operations: Operations;
beforeAll(async () => {
  operations = await freshOperations();
  const ed25519 = goEntry({ key: ED25519_KEY });
  await operations.restore('ed25519', [ed25519], { type: 2 });
  await operations.restore('derived', [ed25519], { type: 2, derived: true, kdf: 1 });
  await operations.restore('p256', [goEntry(P256_ENTRY)], { type: 1 });
  const mac = goEntry({ key: KEY, hmac_key: KNOWN_HMAC_KEY });
  await operations.restore('mac', [mac, mac, mac], { min_decryption_version: 2 });
  await operations.ask('keys create', { name: 'rsa', type: 'rsa-2048' });
});

const verify = (name: string, raw: Raw) => operations.ask('verify', { name, input: FOX, ...raw });
const signed = (name: string, raw: Raw = {}): Promise<string> =>
  operations.text('sign', { name, input: FOX, ...raw }, 'signature');
const VALID = { valid: true };
const INVALID = { valid: false };
const hmacOf = (algorithm: string, version = 2): string => `service:v${version}:${HMACS[algorithm]}`;

describe('verify a signature', () => {
  it('says whether it is that of the input, whoever made it', async () => {
    expect(await verify('ed25519', { signature: ED25519_SIGNATURE })).toEqual(VALID);
    expect(await verify('ed25519', { signature: ours(ED25519_SIGNATURE) })).toEqual(VALID);
    expect(await verify('p256', { signature: P256_SIGNATURE })).toEqual(VALID);
    expect(await verify('ed25519', { signature: ED25519_SIGNATURE, input: 'YQ==' })).toEqual(INVALID);
  });

  it('takes the empty input, and none only for callers of the family', async () => {
    const signature = await signed('ed25519', { input: '' });
    const hmac = await operations.text('hmac', { name: 'ed25519', input: '' }, 'hmac');
    const family = await freshOperations('vault');
    await family.restore('ed25519', [goEntry({ key: ED25519_KEY })], { type: 2 });
    const itsHmac = await family.text('hmac', { name: 'ed25519', input: '' }, 'hmac');
    const missing = { kind: 'invalid', field: 'input', message: 'missing input' };
    for (const proof of [{ signature }, { hmac }]) {
      const asked = { name: 'ed25519', ...proof };
      expect(await operations.ask('verify', { ...asked, input: '' })).toEqual(VALID);
      expect(await rejectionOf(operations.ask('verify', asked))).toMatchObject(missing);
    }
    expect(await family.ask('verify', { name: 'ed25519', signature })).toEqual(VALID);
    expect(await family.ask('verify', { name: 'ed25519', hmac: itsHmac })).toEqual(VALID);
    const ofFox = { name: 'ed25519', signature: ED25519_SIGNATURE };
    expect(await family.ask('verify', ofFox)).toEqual(INVALID);
  });

  it.each([
    ['', 'invalid signature: no prefix'],
    [null, 'invalid signature: no prefix'],
    ['service:v1', 'invalid signature: wrong number of fields'],
    ['service:vx:AAAA', 'invalid signature: version number could not be decoded'],
    ['service:v2:AAAA', 'invalid signature: version is too new'],
    ['service:v0:AAAA', 'ciphertext or signature version is disallowed by policy (too old)'],
    ['service:v1:n!t', 'invalid base64 signature value'],
  ])('refuses %j, which could not be one', async (signature, message) => {
    expect(await rejectionOf(verify('ed25519', { signature }))).toMatchObject({ kind: 'invalid', message });
  });

  it.each([
    ['nobody', 'not-found', 'signature verification key not found'],
    ['mac', 'unsupported', 'key type aes256-gcm96 does not support verification'],
  ])('needs a key of the name that signs: %s', async (name, kind, message) => {
    expect(await rejectionOf(verify(name, { signature: ED25519_SIGNATURE }))).toMatchObject({
      kind,
      message,
    });
  });

  it('needs one or the other: without signature and HMAC there is nothing to verify', async () => {
    expect(await rejectionOf(verify('ed25519', {}))).toMatchObject({
      kind: 'invalid',
      message: "neither a 'signature' nor an 'hmac' were given to verify",
    });
    const both = { signature: ED25519_SIGNATURE, hmac: 'overlooked' };
    expect(await verify('ed25519', both)).toEqual(VALID);
  });

  it('verifies with the key of the context', async () => {
    expect(await verify('derived', { signature: DERIVED_SIGNATURE, context: CONTEXT })).toEqual(VALID);
    expect(await verify('derived', { signature: DERIVED_SIGNATURE, context: 'YQ==' })).toEqual(INVALID);
    expect(await rejectionOf(verify('derived', { signature: DERIVED_SIGNATURE }))).toMatchObject({
      kind: 'invalid',
      field: 'context',
    });
  });

  it('hashes with hash_algorithm, or with the algorithm of old clients where that is absent or empty', async () => {
    const signature = await signed('p256', { hash_algorithm: 'sha2-512' });
    expect(await verify('p256', { signature, hash_algorithm: 'sha2-512' })).toEqual(VALID);
    expect(await verify('p256', { signature })).toEqual(INVALID);
    expect(await verify('p256', { signature, algorithm: 'sha2-512' })).toEqual(VALID);
    const empty = { hash_algorithm: '', algorithm: 'sha2-512' };
    expect(await verify('p256', { signature, ...empty })).toEqual(VALID);
    const both = { hash_algorithm: 'sha2-256', algorithm: 'sha2-512' };
    expect(await verify('p256', { signature, ...both })).toEqual(INVALID);
    expect(await rejectionOf(verify('p256', { signature, hash_algorithm: 'md5' }))).toMatchObject({
      kind: 'invalid',
      message: 'invalid hash algorithm "md5"',
    });
  });

  it('does not hash a prehashed input again', async () => {
    const input = createHash('sha256').update('the quick brown fox').digest('base64');
    expect(await verify('p256', { signature: P256_SIGNATURE, input, prehashed: true })).toEqual(VALID);
    expect(await verify('p256', { signature: P256_SIGNATURE, input })).toEqual(INVALID);
    const rsa = await signed('rsa');
    expect(await verify('rsa', { signature: rsa, input, prehashed: true })).toEqual(VALID);
    expect(await verify('rsa', { signature: rsa, prehashed: true })).toEqual(INVALID);
  });

  it('expects the RSA padding that signature_algorithm names', async () => {
    const signature = await signed('rsa', { signature_algorithm: 'pkcs1v15' });
    expect(await verify('rsa', { signature, signature_algorithm: 'pkcs1v15' })).toEqual(VALID);
    expect(await verify('rsa', { signature })).toEqual(INVALID);
    expect(await rejectionOf(verify('rsa', { signature, signature_algorithm: 'rot13' }))).toMatchObject({
      message: 'unsupported rsa signature algorithm rot13',
    });
  });

  it('expects the form that marshaling_algorithm names', async () => {
    const signature = await signed('p256', { marshaling_algorithm: 'jws' });
    expect(await verify('p256', { signature, marshaling_algorithm: 'jws' })).toEqual(VALID);
    expect(await verify('p256', { signature })).toEqual(INVALID);
    expect(await verify('p256', { signature: P256_SIGNATURE, marshaling_algorithm: 'jws' })).toEqual(INVALID);
    expect(await rejectionOf(verify('p256', { signature, marshaling_algorithm: '' }))).toMatchObject({
      message: 'invalid marshaling type ""',
    });
  });

  it.each([
    ['an empty sequence', '3000', 'supplied signature is invalid'],
    ['one and a byte', '300000', 'supplied signature is invalid'],
    ['integers that are padded', '300702020001020101', 'supplied signature is invalid'],
    ['two integers and a byte', '300602010102010100', 'supplied signature contains extra data'],
  ])('refuses DER that is no ECDSA signature: %s', async (_, hex, message) => {
    const signature = `service:v1:${Buffer.from(hex, 'hex').toString('base64')}`;
    expect(await rejectionOf(verify('p256', { signature }))).toMatchObject({ kind: 'invalid', message });
  });

  it.each(['3006020100020100', '30060201ff020101'])(
    'finds numbers invalid that no signature has, but DER has: %s',
    async (hex) => {
      const signature = `service:v1:${Buffer.from(hex, 'hex').toString('base64')}`;
      expect(await verify('p256', { signature })).toEqual(INVALID);
    },
  );

  it.each([
    ['hash', { auto: VALID, hash: VALID, 32: VALID, 20: INVALID }],
    ['auto', { auto: VALID, hash: INVALID, 222: VALID, 32: INVALID }],
  ])('expects the salt_length that it is told, of a signature made with %s', async (made, verdicts) => {
    const signature = await signed('rsa', { salt_length: made });
    for (const [salt_length, verdict] of Object.entries(verdicts)) {
      expect(await verify('rsa', { signature, salt_length })).toEqual(verdict);
    }
    expect(await rejectionOf(verify('rsa', { signature, salt_length: '-2' }))).toMatchObject({
      message: 'salt length is invalid: -2',
    });
  });
});

describe('verify an HMAC', () => {
  it('says whether it is that of the input, by the version in its text', async () => {
    expect(await verify('mac', { hmac: hmacOf('sha2-256') })).toEqual(VALID);
    expect(await verify('mac', { hmac: hmacOf('sha2-256').replace('service', 'vault') })).toEqual(VALID);
    expect(await verify('mac', { hmac: hmacOf('sha2-256'), input: 'YQ==' })).toEqual(INVALID);
    expect(await verify('mac', { hmac: 'service:v2:' })).toEqual(INVALID);
  });

  it('takes the hash from hash_algorithm, or from algorithm', async () => {
    const hmac = hmacOf('sha2-512');
    expect(await verify('mac', { hmac })).toEqual(INVALID);
    expect(await verify('mac', { hmac, hash_algorithm: 'sha2-512' })).toEqual(VALID);
    expect(await verify('mac', { hmac, algorithm: 'sha2-512' })).toEqual(VALID);
    const both = { hash_algorithm: 'sha2-512', algorithm: 'sha2-256' };
    expect(await verify('mac', { hmac, ...both })).toEqual(VALID);
  });

  it.each([
    ['', 'invalid HMAC to verify: no prefix'],
    ['service:v2', 'invalid HMAC: wrong number of fields'],
    ['service:vx:AAAA', 'invalid HMAC: version number could not be decoded'],
    ['service:v4:AAAA', 'invalid HMAC: version is too new'],
    [hmacOf('sha2-256', 1), 'cannot verify HMAC: version is too old (disallowed by policy)'],
    ['service:v2:n!t', 'unable to decode verification HMAC as base64: illegal base64 data at input byte 1'],
  ])('refuses %j, which could not be one', async (hmac, message) => {
    expect(await rejectionOf(verify('mac', { hmac }))).toMatchObject({ kind: 'invalid', message });
  });

  it('needs a key of the name', async () => {
    expect(await rejectionOf(verify('nobody', { hmac: hmacOf('sha2-256') }))).toMatchObject({
      kind: 'not-found',
      message: 'encryption key not found',
    });
  });
});

describe('verify with batch_input', () => {
  it('answers each signature at its place; a failed one does not change the status', async () => {
    const request = {
      name: 'derived',
      input: 'n!t',
      signature: 'overlooked',
      context: 'n!t',
      batch_input: [
        { input: FOX, context: CONTEXT, signature: DERIVED_SIGNATURE, reference: 'one' },
        { input: 'YQ==', context: CONTEXT, signature: DERIVED_SIGNATURE },
        { context: CONTEXT, signature: DERIVED_SIGNATURE, reference: 'three' },
        { input: FOX, context: CONTEXT, signature: 'x', reference: 4 },
      ],
    };
    expect(await operations.outcome('verify', request)).toEqual({
      data: {
        batch_results: [
          { valid: true, reference: 'one' },
          { valid: false, reference: '' },
          { valid: false, error: 'missing input', reference: 'three' },
          { valid: false, error: 'invalid signature: no prefix', reference: '4' },
        ],
      },
    });
  });

  it('answers each HMAC at its place, and always says whether it is valid', async () => {
    const batch_input = [
      { input: FOX, hmac: hmacOf('sha2-512'), reference: 'one' },
      { input: FOX, hmac: hmacOf('sha2-256') },
      { hmac: hmacOf('sha2-512') },
    ];
    expect(await verify('mac', { hmac: 'overlooked', hash_algorithm: 'sha2-512', batch_input })).toEqual({
      batch_results: [
        { valid: true, reference: 'one' },
        { valid: false, reference: '' },
        { valid: false, error: 'missing input', reference: '' },
      ],
    });
  });

  const signature = { input: FOX, signature: ED25519_SIGNATURE };
  const hmac = { input: FOX, hmac: hmacOf('sha2-256') };
  const neither = { input: FOX };

  it.each([
    [[signature, hmac], "elements of batch_input must all provide 'signature' or all provide 'hmac'"],
    [[signature, neither], "some elements of batch_input are missing 'signature'"],
    [[hmac, neither], "some elements of batch_input are missing 'hmac'"],
    [[neither], "no batch_input elements have 'signature' or 'hmac'"],
    [[], 'missing batch input to process'],
  ])(
    'refuses for callers of the family items that are not all of one kind: %#',
    async (batch_input, message) => {
      const family = await freshOperations('vault');
      const attempt = family.ask('verify', { name: 'nobody', batch_input });
      expect(await rejectionOf(attempt)).toMatchObject({ kind: 'invalid', message });
    },
  );

  it('refuses signatures and HMACs together, and lets an item that has neither fail alone', async () => {
    expect(await rejectionOf(verify('ed25519', { batch_input: [neither, signature, hmac] }))).toMatchObject({
      kind: 'invalid',
      message: "elements of batch_input must all provide 'signature' or all provide 'hmac'",
    });
    const missing = { valid: false, error: "neither a 'signature' nor an 'hmac' were given to verify" };
    expect(await verify('ed25519', { batch_input: [neither, null, signature] })).toMatchObject({
      batch_results: [missing, { valid: false, error: expect.stringContaining('[1]') }, VALID],
    });
    expect(await rejectionOf(verify('ed25519', { batch_input: [] }))).toMatchObject({
      message: 'missing batch input to process',
    });
  });
});
