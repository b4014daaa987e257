import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { publicVersions, signerOf, versionOf } from '../../../src/cli/signatures/named-keys.ts';
import { denied } from '../../../src/ground/errors.ts';
import type { Runner } from '../../../src/operations/declaration/operation.ts';
import { refusal, refused } from '../../refusal.ts';

const { publicKey } = generateKeyPairSync('ed25519');
const public_key = publicKey.export({ format: 'pem', type: 'spki' }).toString();
const creation_time = '2026-01-01T00:00:00Z';
const version = { public_key, creation_time };

const server = (key: unknown, allowed: () => unknown = () => ({})): Runner =>
  ({
    run: async (operation: string) => ({ data: operation === 'transit keys read' ? key : allowed() }),
  }) as unknown as Runner;

describe('the permission to sign, which is asked for before a file is hashed', () => {
  const asking = async (capabilities: unknown) =>
    (
      await signerOf(
        server({ keys: { 1: version } }, () => ({ capabilities })),
        'key',
        undefined,
      )
    ).requirePermission();

  it.each([[['deny']], [['read', 'list']], [[]]])('is missing with %j', async (capabilities) => {
    expect(await refused(asking(capabilities))).toMatchObject({
      kind: 'denied',
      message: 'permission denied',
    });
  });

  it.each([[['root']], [['read', 'update']], [['create']], [undefined], ['deny'], [null]])(
    'is there, or left to signing, with %j',
    async (capabilities) => {
      expect(await asking(capabilities)).toBeUndefined();
    },
  );

  it('is left to signing where a server does not tell', async () => {
    const silent = server({ keys: { 1: version } }, () => {
      throw denied('permission denied');
    });
    expect(await (await signerOf(silent, 'key', undefined)).requirePermission()).toBeUndefined();
  });
});

describe('the versions of a key', () => {
  it.each([
    [undefined],
    [null],
    ['key'],
    [{}],
    [{ keys: null }],
    [{ keys: {} }],
    [{ keys: { 1: 1_700_000_000 } }],
    [{ keys: { 1: { ...version, public_key: '' } } }],
    [{ keys: { 1: { creation_time } } }],
  ])('have no public key in %j', async (key) => {
    expect(await refused(publicVersions(server(key), 'app'))).toEqual({
      kind: 'unsupported',
      message: 'app has no public key',
      field: 'key',
    });
  });

  it('are in the order of their numbers, of which the last one is taken unless another is named', async () => {
    const found = await publicVersions(
      server({ keys: { 10: version, 9: version, 2: { public_key: '' } } }),
      'app',
    );
    expect(found.map(({ number }) => number)).toEqual([9, 10]);
    expect(versionOf(found, undefined).number).toBe(10);
    expect(versionOf(found, 9).number).toBe(9);
    expect(refusal(() => versionOf(found, 2))).toMatchObject({
      kind: 'not-found',
      message: 'the key has no usable version 2',
    });
  });

  it.each(['0', '01', 'x', '1234567890'])('have no number %j', async (number) => {
    expect(await refused(publicVersions(server({ keys: { [number]: version } }), 'app'))).toMatchObject({
      kind: 'unavailable',
    });
  });
});
