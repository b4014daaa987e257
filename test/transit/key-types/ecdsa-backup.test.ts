import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ECDSA_CURVES } from '../../../src/transit/key-types/curves.ts';
import { ecdsaFromBackup, ecdsaToBackup } from '../../../src/transit/key-types/ecdsa.ts';
import type { BackupMaterial } from '../../../src/transit/key-types/key-type.ts';
import { orderOf } from '../../reference/curve-orders.ts';
import { thrownBy } from '../../reference/thrown.ts';

const bigEndian = (base64url: string | undefined): bigint =>
  BigInt(`0x${Buffer.from(base64url ?? '', 'base64url').toString('hex')}`);

describe.each(ECDSA_CURVES)('a key on $jwkName in a backup', (curve) => {
  const pair = generateKeyPairSync('ec', { namedCurve: curve.opensslName });
  const other = generateKeyPairSync('ec', { namedCurve: curve.opensslName });
  const material = ecdsaToBackup(pair.privateKey);
  const pem = (key: typeof pair): string => key.publicKey.export({ format: 'pem', type: 'spki' }).toString();

  it('is point and scalar as numbers, and the public key in PEM', () => {
    const jwk = pair.privateKey.export({ format: 'jwk' });
    const point = { x: bigEndian(jwk.x), y: bigEndian(jwk.y) };
    expect(material).toEqual({ ec: { ...point, d: bigEndian(jwk.d) }, publicKey: pem(pair) });
    expect(ecdsaToBackup(pair.publicKey)).toEqual({ ec: point, publicKey: pem(pair) });
  });

  it('comes back as the same key', () => {
    expect(ecdsaFromBackup(material, curve).equals(pair.privateKey)).toBe(true);
    expect(ecdsaFromBackup(ecdsaToBackup(pair.publicKey), curve).equals(pair.publicKey)).toBe(true);
    const { publicKey: _, ...withoutPem } = material;
    expect(ecdsaFromBackup(withoutPem, curve).equals(pair.privateKey)).toBe(true);
  });

  const { x = 0n, y = 0n, d = 0n } = material.ec ?? {};
  const offCurve = `has a point that is not on ${curve.jwkName}`;
  const outOfRange = `has a number that is out of range for ${curve.jwkName}`;
  const apart = 'has an elliptic-curve private key that does not match its public key';
  const order = orderOf(curve.jwkName);
  const limit = 1n << BigInt(8 * curve.coordinateBytes);

  it.each<[string, string, BackupMaterial]>([
    ['nothing is there', 'has no point of an elliptic curve', {}],
    ['y is one too large', offCurve, { ec: { x, y: y + 1n } }],
    ['x and y are 0', offCurve, { ec: { x: 0n, y: 0n } }],
    ['y is too long', outOfRange, { ec: { x, y: limit } }],
    ['x is negative', outOfRange, { ec: { x: -x, y } }],
    ['d is 0', outOfRange, { ec: { x, y, d: 0n } }],
    ['d is negative', outOfRange, { ec: { x, y, d: -1n } }],
    ['d is too long', outOfRange, { ec: { x, y, d: limit } }],
    ['d has one bit changed', apart, { ec: { x, y, d: d ^ 1n } }],
    ['d is the order of the curve', apart, { ec: { x, y, d: order } }],
    ['d is the negative of the right one', apart, { ec: { x, y, d: order - d } }],
    ['the public key is of another pair', apart, { ...material, publicKey: pem(other) }],
    ['the public key is no PEM', apart, { ...material, publicKey: 'no PEM at all' }],
  ])('is refused when %s: the backup %s', (_, what, hostile) => {
    expect(thrownBy(() => ecdsaFromBackup(hostile, curve))).toMatchObject({
      kind: 'invalid',
      message: `backup ${what}`,
      field: 'backup',
    });
  });
});
