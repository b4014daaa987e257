import { constants, generateKeyPairSync, publicEncrypt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/ground/random.ts';
import {
  requireWrappingHash,
  unwrapFromTransport,
  unwrapPadded,
  wrapForTransport,
  wrapPadded,
} from '../../../src/transit/key-exchange/wrapping.ts';
import { thrownBy } from '../../reference/thrown.ts';
import vectors from '../../vectors/aes-kwp.json' with { type: 'json' };

const hex = (text: string): Buffer => Buffer.from(text, 'hex');

describe('AES key wrap with padding', () => {
  it.each(vectors.filter((vector) => vector.result !== 'acceptable' && vector.msg !== ''))(
    'agrees with Wycheproof case $tcId ($result)',
    ({ key, msg, ct, result }) => {
      if (result === 'valid') {
        expect(wrapPadded(hex(key), hex(msg)).toString('hex')).toBe(ct);
        expect(unwrapPadded(hex(key), hex(ct)).toString('hex')).toBe(msg);
        return;
      }
      expect(thrownBy(() => unwrapPadded(hex(key), hex(ct)))).toMatchObject({
        kind: 'invalid',
        message: 'unwrapping the key failed: integrity check failed',
      });
    },
  );

  it('is not what nothing at all is', () => {
    expect(thrownBy(() => unwrapPadded(Buffer.alloc(32), Buffer.alloc(0)))).toMatchObject({
      kind: 'invalid',
      message: 'unwrapping the key failed: integrity check failed',
    });
  });

  it('wraps 20 bytes as peers do', () => {
    const key = Buffer.from(Array.from({ length: 32 }, (_, i) => i));
    const wrapped = '22d7fffc96b7adad9391ac9230d46b810e82e0f101f19e83e358f32ac9d407b6';
    expect(wrapPadded(key, key.subarray(0, 20)).toString('hex')).toBe(wrapped);
  });
});

describe('a key wrapped for transport', () => {
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const target = Buffer.from('a key of no particular length');

  it.each(['SHA1', 'SHA224', 'sha256', 'SHA384', 'Sha512'])('comes back with %s', (hash) => {
    const blob = wrapForTransport(pair.publicKey, hash, target, systemRandom);
    expect(unwrapFromTransport(pair.privateKey, hash.toLowerCase(), blob)).toEqual(target);
  });

  it('is the RSA block followed by the AES-wrapped key', () => {
    const ephemeral = Buffer.alloc(32, 5);
    const block = publicEncrypt(
      { key: pair.publicKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' },
      ephemeral,
    );
    const blob = Buffer.concat([block, wrapPadded(ephemeral, target)]);
    expect(unwrapFromTransport(pair.privateKey, 'SHA256', blob)).toEqual(target);
  });

  it('is refused when anything about it is wrong', () => {
    const blob = wrapForTransport(pair.publicKey, 'SHA256', target, systemRandom);
    const shortKey = publicEncrypt(
      { key: pair.publicKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' },
      Buffer.alloc(16),
    );
    const changed = Buffer.from(blob);
    changed[blob.length - 1] = (changed[blob.length - 1] ?? 0) ^ 1;
    const refusals: [string, () => unknown][] = [
      ['crypto/rsa: decryption error', () => unwrapFromTransport(pair.privateKey, 'SHA1', blob)],
      ['crypto/rsa: decryption error', () => unwrapFromTransport(other.privateKey, 'SHA256', blob)],
      [
        'provided ciphertext is too short',
        () => unwrapFromTransport(pair.privateKey, 'SHA256', blob.subarray(0, 256)),
      ],
      [
        'provided ciphertext is too short',
        () => unwrapFromTransport(pair.privateKey, 'SHA256', Buffer.alloc(0)),
      ],
      [
        'expected ephemeral AES key to be 256-bit',
        () => unwrapFromTransport(pair.privateKey, 'SHA256', Buffer.concat([shortKey, blob.subarray(256)])),
      ],
      [
        'unwrapping the key failed: integrity check failed',
        () => unwrapFromTransport(pair.privateKey, 'SHA256', changed),
      ],
      ['unknown hash function: MD5', () => unwrapFromTransport(pair.privateKey, 'MD5', blob)],
      ['unknown hash function: constructor', () => requireWrappingHash('constructor', 'hash_function')],
    ];
    for (const [message, attempt] of refusals) {
      expect(thrownBy(attempt)).toMatchObject({ kind: 'invalid', message });
    }
  });
});
