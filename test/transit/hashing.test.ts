import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hash } from '../../src/transit/hashing.ts';
import { thrownBy } from '../reference/thrown.ts';
import { QUICK_FOX, QUICK_FOX_BASE64 } from './known-key.ts';

describe('hashing', () => {
  it.each([
    ['sha2-256', '9ecb36561341d18eb65484e833efea61edc74b84cf5e6ae1b81c63533e25fc8f'],
    ['sha2-224', 'ea074a96cabc5a61f8298a2c470f019074642631a49e1c5e2f560865'],
    ['sha3-256', 'e4bd866ec3fa52df3b7842aa97b448bc859a7606cefcdad1715847f4b82a6c93'],
  ])('gives the %s of another implementation, as hex and as base64', (algorithm, sum) => {
    expect(hash(QUICK_FOX_BASE64, algorithm, 'hex')).toBe(sum);
    expect(hash(QUICK_FOX_BASE64, algorithm, 'base64')).toBe(Buffer.from(sum, 'hex').toString('base64'));
  });

  it.each([
    ['sha2-384', 'sha384'],
    ['sha2-512', 'sha512'],
    ['sha3-224', 'sha3-224'],
    ['sha3-384', 'sha3-384'],
    ['sha3-512', 'sha3-512'],
  ])('calls OpenSSL’s %s by its name', (algorithm, name) => {
    expect(hash(QUICK_FOX_BASE64, algorithm, 'hex')).toBe(createHash(name).update(QUICK_FOX).digest('hex'));
  });

  it('takes the empty input', () => {
    expect(hash('', 'sha2-256', 'hex')).toBe(
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    );
  });

  it.each([
    [undefined, 'sha9', 'binary', 'input', 'input missing'],
    ['?', 'sha9', 'binary', 'input', 'unable to decode input as base64: illegal base64 data at input byte 0'],
    ['', 'sha9', 'binary', 'format', 'unsupported encoding format binary; must be "hex" or "base64"'],
    ['', 'sha9', 'hex', 'algorithm', 'unsupported algorithm sha9'],
    ['', 'SHA2-256', 'hex', 'algorithm', 'unsupported algorithm SHA2-256'],
    ['', 'sha1', 'hex', 'algorithm', 'unsupported algorithm sha1'],
    ['', 'none', 'hex', 'algorithm', 'unsupported algorithm none'],
    ['', 'toString', 'hex', 'algorithm', 'unsupported algorithm toString'],
  ])('refuses input %j, algorithm %s, format %s', (input, algorithm, format, field, message) => {
    expect(thrownBy(() => hash(input, algorithm, format))).toMatchObject({ kind: 'invalid', field, message });
  });
});
