import { describe, expect, it } from 'vitest';
import { randomBytes } from '../../src/transit/random-bytes.ts';
import { thrownBy } from '../reference/thrown.ts';
import { freshEngine } from './fresh-engine.ts';

const engine = await freshEngine();
const request = { bytes: 32, format: 'base64', source: 'platform' };

describe('random bytes', () => {
  it.each([1, 32, 131_072])('come %i at a time', (bytes) => {
    const { text } = randomBytes(engine, { ...request, bytes });
    expect(Buffer.from(text, 'base64')).toHaveLength(bytes);
  });

  it('come as hexadecimal digits in lower case', () => {
    expect(randomBytes(engine, { ...request, format: 'hex' }).text).toMatch(/^[0-9a-f]{64}$/);
  });

  it('are never the same twice', () => {
    expect(randomBytes(engine, request).text).not.toBe(randomBytes(engine, request).text);
  });

  it('say when a source is asked for that is not there', () => {
    expect(randomBytes(engine, { ...request, source: 'seal' }).warnings).toEqual([
      'no seal/entropy augmentation available, using platform entropy source',
    ]);
    expect(randomBytes(engine, { ...request, source: 'all' }).warnings).toEqual([]);
  });

  it.each([
    [{ bytes: 0 }, 'bytes', "'bytes' cannot be less than 1"],
    [{ bytes: -5 }, 'bytes', "'bytes' cannot be less than 1"],
    [{ bytes: 131_073 }, 'bytes', "'bytes' should be less than 131072"],
    [{ format: 'raw' }, 'format', 'unsupported encoding format "raw"; must be "hex" or "base64"'],
    [
      { source: 'dice' },
      'source',
      'unsupported entropy source "dice"; must be "platform" or "seal", or "all"',
    ],
  ])('are refused with %j', (change, field, message) => {
    expect(thrownBy(() => randomBytes(engine, { ...request, ...change }))).toMatchObject({
      kind: 'invalid',
      field,
      message,
    });
  });
});
