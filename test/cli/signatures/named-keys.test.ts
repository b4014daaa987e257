import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { FORMATS } from '../../../src/cli/signatures/formats.ts';
import { publicVersions, signerOf } from '../../../src/cli/signatures/named-keys.ts';
import type { Runner } from '../../../src/operations/declaration/operation.ts';

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
const creation_time = '2026-01-01T00:00:00Z';
const signed = (input: string, version = 1, key = privateKey): string =>
  `vault:v${version}:${sign(null, Buffer.from(input, 'base64'), key).toString('base64')}`;

/** A server that answers what it likes. */
const server = (keys: unknown, signature: (input: string) => unknown = signed): Runner =>
  ({
    run: async (operation: string, raw: { readonly input: string }) =>
      operation === 'transit keys read' ? { data: { keys } } : { data: { signature: signature(raw.input) } },
  }) as unknown as Runner;

const good = { 1: { public_key: pem, creation_time } };
const about = { fileName: 'file', namespace: 'file', comment: undefined, at: 0 };

describe('a server that answers nonsense', () => {
  it.each([
    ['an invalid public key', { 1: { public_key: '-----BEGIN PUBLIC KEY-----\nAAAA', creation_time } }],
    ['an invalid public key', { 1: { public_key: 'AAAA', creation_time } }],
    ['an invalid version', { one: { public_key: pem, creation_time } }],
    ['an invalid version', { 1: { public_key: pem, creation_time: 'once' } }],
  ])('has %s in it, as of %j', async (what, keys) => {
    await expect(publicVersions(server(keys), 'key')).rejects.toMatchObject({
      kind: 'unavailable',
      message: `unexpected response about the key: ${what}`,
    });
  });

  it.each([
    ['a number', 'no signature', () => 7],
    ['half a signature', 'no signature', () => 'vault:v1'],
    [
      'the signature of a later version',
      'signed with version 2 of the key, not 1',
      (input: string) => signed(input, 2),
    ],
    [
      'the signature of another key',
      'does not match the key',
      (input: string) => signed(input, 1, generateKeyPairSync('ed25519').privateKey),
    ],
    [
      'the signature of something else',
      'does not match the key',
      (input: string) => signed(Buffer.from(`${input}AAAA`).toString('base64')),
    ],
  ])('with %s leads to no signature file', async (_, why, signature) => {
    const signer = await signerOf(server(good, signature), 'key', undefined);
    for (const name of ['ssh', 'minisign']) {
      const written = FORMATS[name]?.sign(signer, Buffer.alloc(64), about);
      await expect(written).rejects.toMatchObject({ kind: 'unavailable' });
      await expect(written).rejects.toThrow(why);
    }
  });

  it('is a server like any other when its answers fit', async () => {
    const signer = await signerOf(server(good), 'key', undefined);
    expect(await FORMATS['ssh']?.sign(signer, Buffer.alloc(64), about)).toContain('BEGIN SSH SIGNATURE');
  });
});
