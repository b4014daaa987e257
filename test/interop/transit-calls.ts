import { expect } from 'vitest';
import type { ItemResult } from '../../src/transit/batch.ts';
import type { Engine } from '../../src/transit/engine.ts';
import { exportKey } from '../../src/transit/export.ts';
import type { NewKey } from '../../src/transit/lifecycle.ts';
import { type SignatureRequest, sign } from '../../src/transit/signing.ts';
import { verify } from '../../src/transit/verification.ts';

/** What a caller who gives nothing else gets. */
export const newKey = (type: string): NewKey => ({
  type,
  derived: false,
  convergentEncryption: false,
  exportable: true,
  allowPlaintextBackup: true,
  autoRotatePeriodSeconds: 0,
  keyBytes: 0,
});

export const signatureRequest: SignatureRequest = {
  hashAlgorithm: 'sha2-256',
  prehashed: false,
  signatureAlgorithm: '',
  marshalingAlgorithm: 'asn1',
  saltLength: 'auto',
};

/** The value of the only item. */
export function only<T>(results: readonly ItemResult<T>[]): T {
  const [result] = results;
  if (result === undefined || results.length !== 1) return expect.fail(`${results.length} results`);
  if ('error' in result) throw result.error;
  return result.value;
}

/** Signs with the key's latest version; the bytes behind the version. */
export async function signed(
  engine: Engine,
  name: string,
  input: Uint8Array,
  request: Partial<SignatureRequest> = {},
): Promise<Buffer> {
  const item = { input: Buffer.from(input).toString('base64') };
  const { signature } = only(
    await sign(engine, name, [item], { ...signatureRequest, ...request, keyVersion: 0 }),
  );
  const payload = signature.split(':')[2] ?? '';
  return Buffer.from(payload, request.marshalingAlgorithm === 'jws' ? 'base64url' : 'base64');
}

/** Whether bytes that somebody else made are a signature by version 1. */
export async function accepts(
  engine: Engine,
  name: string,
  input: Uint8Array,
  signature: Uint8Array,
  request: Partial<SignatureRequest> = {},
): Promise<boolean> {
  const encoding = request.marshalingAlgorithm === 'jws' ? 'base64url' : 'base64';
  const item = {
    input: Buffer.from(input).toString('base64'),
    signature: `service:v1:${Buffer.from(signature).toString(encoding)}`,
  };
  return only(
    await verify(engine, name, [item], { request: { ...signatureRequest, ...request }, single: true }),
  );
}

/** The public key, or with `signing-key` the private one, as PEM that OpenSSL reads. */
export async function exportedPem(engine: Engine, name: string, kind: string): Promise<string> {
  const { printed } = await exportKey(engine, name, { kind, version: 'latest', format: 'pem' });
  return Object.values(printed)[0] ?? '';
}
