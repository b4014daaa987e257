import { CompactSign, compactVerify, importPKCS8, importSPKI } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../src/transit/engine.ts';
import { createKey } from '../../src/transit/lifecycle.ts';
import type { SignatureRequest } from '../../src/transit/signing.ts';
import { freshEngine } from '../transit/fresh-engine.ts';
import { accepts, exportedPem, newKey, signed } from './transit-calls.ts';

/** JSON Web Signatures in both directions between this program and the `jose` package. */

const payload = Buffer.from('the quick brown fox');

/** RFC 7518, section 3.1, and RFC 8037: the hash, and for PSS the salt, follow from the name. */
const ALGORITHMS: [alg: string, type: string, request: Partial<SignatureRequest>][] = [
  ['ES256', 'ecdsa-p256', { hashAlgorithm: 'sha2-256' }],
  ['ES384', 'ecdsa-p384', { hashAlgorithm: 'sha2-384' }],
  ['ES512', 'ecdsa-p521', { hashAlgorithm: 'sha2-512' }],
  ['EdDSA', 'ed25519', {}],
  ['RS256', 'rsa-2048', { hashAlgorithm: 'sha2-256', signatureAlgorithm: 'pkcs1v15' }],
  ['RS512', 'rsa-2048', { hashAlgorithm: 'sha2-512', signatureAlgorithm: 'pkcs1v15' }],
  ['PS256', 'rsa-2048', { hashAlgorithm: 'sha2-256', signatureAlgorithm: 'pss', saltLength: 'hash' }],
  ['PS384', 'rsa-2048', { hashAlgorithm: 'sha2-384', signatureAlgorithm: 'pss', saltLength: 'hash' }],
];

let engine: Engine;
beforeAll(async () => {
  engine = await freshEngine();
  for (const type of new Set(ALGORITHMS.map(([, name]) => name))) await createKey(engine, type, newKey(type));
});

describe.each(ALGORITHMS)('%s with a key of type %s', (alg, type, request) => {
  const jws = { ...request, marshalingAlgorithm: 'jws' };

  it('gives a token that jose verifies', async () => {
    const header = Buffer.from(JSON.stringify({ alg })).toString('base64url');
    const input = `${header}.${payload.toString('base64url')}`;
    const signature = await signed(engine, type, Buffer.from(input), jws);
    const publicKey = await importSPKI(await exportedPem(engine, type, 'public-key'), alg);
    const verified = await compactVerify(`${input}.${signature.toString('base64url')}`, publicKey);
    expect(Buffer.from(verified.payload)).toEqual(payload);
  });

  it('verifies a token of jose, and not when its payload was changed', async () => {
    const privateKey = await importPKCS8(await exportedPem(engine, type, 'signing-key'), alg);
    const token = await new CompactSign(payload).setProtectedHeader({ alg }).sign(privateKey);
    const [header = '', body = '', signature = ''] = token.split('.');
    const bytes = Buffer.from(signature, 'base64url');
    expect(await accepts(engine, type, Buffer.from(`${header}.${body}`), bytes, jws)).toBe(true);
    expect(await accepts(engine, type, Buffer.from(`${header}.${body}A`), bytes, jws)).toBe(false);
  });
});
