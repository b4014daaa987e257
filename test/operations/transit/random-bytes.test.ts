import { beforeAll, describe, expect, it } from 'vitest';
import { rejectionOf } from '../../reference/thrown.ts';
import { freshOperations, type Operations, type Raw } from './operations.ts';

let operations: Operations;
beforeAll(async () => {
  operations = await freshOperations();
});
const random = (raw: Raw) => operations.text('random', raw, 'random_bytes');

describe('random', () => {
  it.each([
    ['none', 32],
    [1, 1],
    ['16', 16],
    [131_072, 131_072],
  ])('answers, when %j bytes are asked for, %i', async (bytes, length) => {
    const printed = await random(bytes === 'none' ? {} : { bytes });
    expect(Buffer.from(printed, 'base64')).toHaveLength(length);
  });

  it.each([
    [0, "'bytes' cannot be less than 1"],
    [null, "'bytes' cannot be less than 1"],
    [-5, "'bytes' cannot be less than 1"],
    [131_073, "'bytes' should be less than 131072"],
    [2_147_483_647, "'bytes' should be less than 131072"],
  ])('refuses %j bytes', async (bytes, message) => {
    expect(await rejectionOf(random({ bytes }))).toMatchObject({ kind: 'invalid', field: 'bytes', message });
  });

  it.each(['many', '1e3', 1.5, {}])('refuses %j, which is no number of bytes', async (bytes) => {
    expect(await rejectionOf(random({ bytes }))).toMatchObject({ kind: 'invalid', field: 'bytes' });
  });

  it('prints base64, or hexadecimal digits in lower case', async () => {
    expect(await random({ bytes: 5 })).toMatch(/^[A-Za-z0-9+/]{7}=$/);
    expect(await random({ bytes: 5, format: 'base64' })).toMatch(/^[A-Za-z0-9+/]{7}=$/);
    expect(await random({ bytes: 5, format: 'hex' })).toMatch(/^[0-9a-f]{10}$/);
  });

  it.each(['HEX', 'raw', '', null])('refuses the format %j', async (format) => {
    expect(await rejectionOf(random({ format }))).toMatchObject({
      kind: 'invalid',
      field: 'format',
      message: `unsupported encoding format "${format ?? ''}"; must be "hex" or "base64"`,
    });
  });

  it('understands the sources of peers, and warns that there is only the platform', async () => {
    for (const source of ['platform', 'all']) {
      expect(await operations.outcome('random', { source })).toMatchObject({ warnings: [] });
    }
    expect(await operations.outcome('random', { source: 'seal' })).toMatchObject({
      warnings: ['no seal/entropy augmentation available, using platform entropy source'],
    });
    expect(await rejectionOf(random({ source: 'dice' }))).toMatchObject({
      kind: 'invalid',
      message: 'unsupported entropy source "dice"; must be "platform" or "seal", or "all"',
    });
  });
});
