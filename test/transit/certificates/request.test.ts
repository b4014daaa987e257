import { createPrivateKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { der, TAG } from '../../../src/ground/der.ts';
import { certificateRequest } from '../../../src/transit/certificates/request.ts';
import { storedKey } from '../../../src/transit/key-types/key-pair.ts';
import { rejectionOf } from '../../reference/thrown.ts';
import samples from '../../vectors/certificates.json' with { type: 'json' };
import { freshEngine } from '../fresh-engine.ts';
import { knownKey, knownVersion, storeKey } from '../known-key.ts';

const engine = await freshEngine();
await storeKey(
  engine,
  knownKey('ecdsa-p256', [
    { ...knownVersion(Buffer.alloc(0)), ...storedKey(createPrivateKey(samples.privateKey)) },
  ]),
);
const requested = (template: string) => certificateRequest(engine, 'known', { version: undefined, template });

const sequence = (...parts: Uint8Array[]): Buffer => Buffer.from(der(TAG.sequence, ...parts));
const set = (...parts: Uint8Array[]): Uint8Array => der(TAG.set, ...parts);
const type = der(TAG.objectIdentifier, Buffer.from('2a03', 'hex'));
const value = der(TAG.integer, Buffer.from([1]));
const bits = der(TAG.bitString, Buffer.from([0]));

/** A request with a subject of one part, and these attributes. */
function pem(part: Uint8Array, ...attributes: Uint8Array[]): string {
  const version = der(TAG.integer, Buffer.from([0]));
  const info = sequence(version, sequence(set(part)), sequence(), der(TAG.context0, ...attributes));
  const bytes = sequence(info, sequence(type), bits);
  return `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
}

const pair = sequence(type, value);

describe('a request that another takes over', () => {
  it('has a subject and attributes of types and values', async () => {
    expect((await requested(pem(pair, sequence(type, set(value))))).version).toBe(1);
  });

  it.each([
    ['an attribute whose values are no set', pem(pair, pair), 'asn1: an attribute has no set of values'],
    ...[
      ['without a value', sequence(type)],
      ['with two values', sequence(type, value, value)],
      ['with a value for its type', sequence(value, value)],
      ['with nothing', sequence()],
    ].flatMap(([what, part]) => {
      const why = 'asn1: expected an object identifier and a value';
      return [
        [`a part of the subject ${what}`, pem(part as Buffer), why],
        [`an attribute ${what}`, pem(pair, part as Buffer), why],
      ];
    }),
  ] as [string, string, string][])('is refused with %s', async (_, template, why) => {
    expect(await rejectionOf(requested(template))).toMatchObject({
      kind: 'invalid',
      field: 'csr',
      message: `could not parse the csr: ${why}`,
    });
  });

  it('has at most 262,144 characters', async () => {
    const [template = ''] = samples.requests;
    expect((await requested(template.padEnd(262_144, '\n'))).version).toBe(1);
    expect(await rejectionOf(requested(template.padEnd(262_145, '\n')))).toMatchObject({
      kind: 'too-large',
      field: 'csr',
      message: 'csr must have at most 262144 characters',
    });
  });
});
