import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { rejectionOf } from '../../reference/thrown.ts';
import { declarationOf, freshOperations, type Raw } from './operations.ts';

/** Key types by the names that Vault and OpenBao have for them. */

const pemOf = (type: 'ml-dsa-44' | 'ml-dsa-65' | 'slh-dsa-sha2-128f'): string =>
  (generateKeyPairSync as (type: string) => { publicKey: { export(form: object): string } })(
    type,
  ).publicKey.export({ format: 'pem', type: 'spki' });

const names: [asked: Raw, own: string, label: string, form: RegExp][] = [
  [{ type: 'mldsa-44' }, 'ml-dsa-44', 'mldsa-44', /^[A-Za-z0-9+/]{1750}==$/],
  [{ type: 'mldsa-65' }, 'ml-dsa-65', 'mldsa-65', /^[A-Za-z0-9+/]{2603}=$/],
  [{ type: 'mldsa-87' }, 'ml-dsa-87', 'mldsa-87', /^[A-Za-z0-9+/]{3456}$/],
  [{ type: 'ml-dsa', parameter_set: '44' }, 'ml-dsa-44', 'ml-dsa-44', /^-----BEGIN PUBLIC KEY-----\n/],
  [{ type: 'ml-dsa', parameter_set: 87 }, 'ml-dsa-87', 'ml-dsa-87', /^-----BEGIN PUBLIC KEY-----\n/],
  [
    { type: 'slh-dsa', parameter_set: 'slh-dsa-sha2-128f' },
    'slh-dsa-sha2-128f',
    'slh-dsa-sha2-128f',
    /^-----BEGIN PUBLIC KEY-----\n/,
  ],
];

describe('a key made by a name that the family has for its type', () => {
  it.each(names)('is shown to the family by that name: %j', async (asked, own, label, form) => {
    const { ask } = await freshOperations('vault');
    const made = await ask('keys create', { name: 'quantum', ...asked });
    const parameters =
      asked['parameter_set'] === undefined ? {} : { parameter_set: String(asked['parameter_set']) };
    expect(made).toMatchObject({
      type: asked['type'],
      ...parameters,
      keys: { 1: { name: label, public_key: expect.stringMatching(form) } },
      supports_signing: true,
    });
    expect(Object.hasOwn(made as object, 'parameter_set')).toBe('parameter_set' in asked);
    expect(await ask('keys read', { name: 'quantum' })).toEqual(made);
    expect(await ask('keys rotate', { name: 'quantum' })).toMatchObject({
      type: asked['type'],
      latest_version: 2,
    });
    expect(await ask('keys export', { name: 'quantum', key_type: 'public-key' })).toMatchObject({
      type: asked['type'],
      keys: { 1: expect.stringMatching(form) },
    });
    expect(own).toMatch(/dsa/);
  });

  it.each(names)('is shown to others by our name: %j', async (asked, own) => {
    const { ask } = await freshOperations();
    const made = await ask('keys create', { name: 'quantum', ...asked });
    expect(made).toMatchObject({
      type: own,
      keys: { 1: { name: own, public_key: expect.stringMatching(/^-----/) } },
    });
    expect(made).not.toHaveProperty('parameter_set');
  });

  it('gives out its seed raw where OpenBao does, and in PEM elsewhere', async () => {
    const { ask } = await freshOperations('vault');
    for (const [name, type, form] of [
      ['raw', 'mldsa-44', /^[A-Za-z0-9+/]{43}=$/],
      ['pem', 'ml-dsa-44', /^-----BEGIN PRIVATE KEY-----\n/],
    ] as const) {
      await ask('keys create', { name, type, exportable: true });
      const request = { name, key_type: 'signing-key' };
      expect(await ask('keys export', request)).toMatchObject({
        type,
        keys: { 1: expect.stringMatching(form) },
      });
      expect(await ask('keys export', { ...request, format: 'pem' })).toMatchObject({
        keys: { 1: expect.stringMatching(/^-----BEGIN PRIVATE KEY-----\n/) },
      });
    }
  });

  it.each([
    [{ type: 'MLDSA-44', public_key: pemOf('ml-dsa-44') }, 'mldsa-44'],
    [{ type: 'ML-DSA', parameter_set: '65', public_key: pemOf('ml-dsa-65') }, 'ml-dsa'],
    [
      { type: 'slh-dsa', parameter_set: 'slh-dsa-sha2-128f', public_key: pemOf('slh-dsa-sha2-128f') },
      'slh-dsa',
    ],
  ])('may be imported by that name: %j', async (asked, type) => {
    const { ask } = await freshOperations('vault');
    await ask('import', { name: 'imported', ...asked });
    expect(await ask('keys read', { name: 'imported' })).toMatchObject({ type, imported_key: true });
  });
});

const refusals: [Raw, string, string][] = [
  [{ type: 'ml-dsa' }, 'invalid parameter set  for key type ml-dsa', 'use 44, 65 or 87'],
  [
    { type: 'ml-dsa', parameter_set: '45' },
    'invalid parameter set 45 for key type ml-dsa',
    'use 44, 65 or 87',
  ],
  [{ type: 'mldsa-44', parameter_set: '65' }, 'invalid parameter set 65 for key type mldsa-44', 'use 44'],
  [{ type: 'ml-dsa-44', parameter_set: '65' }, 'invalid parameter set 65 for key type ml-dsa-44', 'use 44'],
  [
    { type: 'ed25519', parameter_set: '44' },
    'invalid parameter set 44 for key type ed25519',
    'omit the parameter set: this type has none',
  ],
  [
    { type: 'slh-dsa', parameter_set: 'slh-dsa-shake-128s' },
    'invalid parameter set slh-dsa-shake-128s for key type slh-dsa',
    'use slh-dsa-sha2-128s, slh-dsa-sha2-128f, slh-dsa-sha2-192s, slh-dsa-sha2-192f, slh-dsa-sha2-256s or slh-dsa-sha2-256f',
  ],
];

describe('parameter_set', () => {
  it.each(refusals)('that is none of the type is refused: %j', async (asked, message, hint) => {
    const { ask } = await freshOperations();
    const refusal = { kind: 'invalid', field: 'parameter_set', message, hint };
    expect(await rejectionOf(ask('keys create', { name: 'refused', ...asked }))).toMatchObject(refusal);
    expect(await rejectionOf(ask('import', { name: 'refused', ...asked }))).toMatchObject(refusal);
    expect(await ask('keys list')).toEqual({ keys: [] });
  });

  it('may be said beside a name that says enough, if it is the same', async () => {
    const { ask } = await freshOperations('vault');
    expect(await ask('keys create', { name: 'a', type: 'mldsa-44', parameter_set: '44' })).toMatchObject({
      type: 'mldsa-44',
    });
    expect(await ask('keys create', { name: 'b', type: 'ml-dsa-44', parameter_set: '44' })).toMatchObject({
      type: 'ml-dsa-44',
    });
  });

  it('is nothing by which encrypt would make a key', async () => {
    const { ask } = await freshOperations();
    expect(await rejectionOf(ask('encrypt', { name: 'new', plaintext: '', type: 'ml-dsa' }))).toMatchObject({
      kind: 'unsupported',
      message: 'key type ml-dsa not supported for this operation',
    });
  });
});

describe('a key that is there already', () => {
  it.each([
    ['ml-dsa-44', {}],
    ['mldsa-44', {}],
    ['ml-dsa', { parameter_set: '44' }],
  ])('fits, if it is asked for as %s', async (type, others) => {
    const { cli = {} } = await declarationOf('keys create');
    const asked = { type, ...others, derived: false, convergent_encryption: false };
    for (const there of [{ type: 'ml-dsa-44' }, { type: 'ml-dsa', parameter_set: '44' }]) {
      expect(cli.misfit?.(asked, { name: 'x', ...there })).toBeUndefined();
    }
    expect(cli.misfit?.(asked, { name: 'x', type: 'ml-dsa-65' })).toBe(
      `key "x" already exists, but its type is ml-dsa-65, not ${type}`,
    );
  });
});
