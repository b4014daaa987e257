import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyOfSshBlob, parseSshLine, sshBlob, sshLine } from '../../src/signatures/ssh-key.ts';
import {
  armorSshSignature,
  parseSshSignature,
  parseWireSignature,
  printWireSignature,
  sshSignatureOf,
  sshSignedData,
  verifySshSignature,
} from '../../src/signatures/ssh-signature.ts';
import { mpint, SshReader, string, uint32 } from '../../src/signatures/ssh-wire.ts';
import { MESSAGE, SSH_SIGNATURES } from './made-by-others.ts';

const digestOf = (hash: string, message = MESSAGE) => createHash(hash).update(message).digest();

describe('numbers of SSH', () => {
  // RFC 4251, section 5.
  it.each([
    ['', '00000000'],
    ['09a378f9b2e332a7', '0000000809a378f9b2e332a7'],
    ['80', '000000020080'],
    ['0000000080', '000000020080'],
  ])('are written as in RFC 4251: %s', (number, expected) => {
    expect(mpint(Buffer.from(number, 'hex')).toString('hex')).toBe(expected);
  });

  it('are read back as they were, whatever they are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70 }), (bytes) => {
        const reader = new SshReader(mpint(bytes), 'it');
        const start = bytes.findIndex((byte) => byte !== 0);
        expect(reader.mpint()).toEqual(Buffer.from(start < 0 ? [] : bytes.subarray(start)));
        reader.end();
      }),
    );
  });

  it.each(['00000001ff', '0000000180', '000000020001', '0000000100'])(
    'are refused when they are not minimal: %s',
    (hex) => {
      const read = () => new SshReader(Buffer.from(hex, 'hex'), 'it').mpint();
      expect(read).toThrow('it has an invalid number');
    },
  );
});

describe.each(SSH_SIGNATURES)("OpenSSH's $kind signature", ({ line, signature }) => {
  it('is valid for the message and no other, and names its key', () => {
    const found = parseSshSignature(signature);
    expect(parseSshLine(line)?.key.equals(found.key)).toBe(true);
    expect(found.namespace).toBe('file');
    expect(verifySshSignature(found, digestOf(found.hash))).toBe(true);
    expect(verifySshSignature(found, digestOf(found.hash, 'another'))).toBe(false);
    expect(verifySshSignature({ ...found, namespace: 'git' }, digestOf(found.hash))).toBe(false);
  });

  it('is written back byte for byte, and its key is, too', () => {
    const found = parseSshSignature(signature);
    expect(armorSshSignature(found)).toBe(signature);
    const [, , comment] = /^(\S+ \S+) (.*)$/.exec(line) ?? [];
    expect(sshLine(found.key, comment ?? '')).toBe(line);
  });

  it('names its key in a line with any comment, in which only a line break of files ends a line', () => {
    const [bare = ''] = /^\S+ \S+/.exec(line) ?? [];
    expect(parseSshLine(`${bare} a\u2028b\u2029c`)?.comment).toBe('a\u2028b\u2029c');
    expect(parseSshLine(`${bare} a\nb`)).toBeUndefined();
  });

  it('is not valid, or is refused, with any bit of it changed', () => {
    const body = Buffer.from(signature.split('\n').slice(1, -2).join(''), 'base64');
    fc.assert(
      fc.property(fc.nat(body.length - 1), fc.nat(7), (index, bit) => {
        const other = Buffer.from(body);
        other[index] = (other[index] ?? 0) ^ (1 << bit);
        const text = `-----BEGIN SSH SIGNATURE-----\n${other.toString('base64')}\n-----END SSH SIGNATURE-----`;
        const original = parseSshSignature(signature);
        let valid: boolean;
        try {
          const found = parseSshSignature(text);
          // Whoever verifies compares the key and the namespace. What is reserved is not signed.
          const isSame = found.key.equals(original.key) && found.namespace === original.namespace;
          valid = isSame && verifySshSignature(found, digestOf(found.hash));
        } catch (error) {
          expect(error).toMatchObject({ name: 'CofferError' });
          valid = false;
        }
        expect(valid).toBe(false);
      }),
    );
  });
});

describe('an SSH signature', () => {
  it('is refused when it is cut short anywhere, or goes on', () => {
    const [{ signature }] = SSH_SIGNATURES;
    const body = Buffer.from(signature.split('\n').slice(1, -2).join(''), 'base64');
    const armored = (bytes: Uint8Array) =>
      `-----BEGIN SSH SIGNATURE-----\n${Buffer.from(bytes).toString('base64')}\n-----END SSH SIGNATURE-----`;
    for (let length = 0; length < body.length; length++) {
      expect(() => parseSshSignature(armored(body.subarray(0, length)))).toThrow(/this SSH (signature|key)/);
    }
    expect(() => parseSshSignature(armored(Buffer.concat([body, Buffer.alloc(1)])))).toThrow(
      'unexpected data',
    );
  });

  it('with RSA and SHA-1 is refused', () => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const made = sshSignatureOf(publicKey, 'file', 'sha512', Buffer.alloc(256));
    expect(() => verifySshSignature({ ...made, algorithm: 'ssh-rsa' }, digestOf('sha512'))).toThrow(
      '"ssh-rsa"',
    );
  });

  it('with RSA may have its leading zeros left out, as some programs write it', () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const digest = digestOf('sha512');
    for (;;) {
      const namespace = `n${randomUUID()}`;
      const whole = sign('sha512', sshSignedData(namespace, 'sha512', digest), privateKey);
      if (whole[0] !== 0) continue;
      const made = sshSignatureOf(publicKey, namespace, 'sha512', whole);
      expect(verifySshSignature(made, digest)).toBe(true);
      expect(verifySshSignature({ ...made, signature: whole.subarray(1) }, digest)).toBe(true);
      expect(verifySshSignature({ ...made, signature: whole.subarray(0, -1) }, digest)).toBe(false);
      return;
    }
  });

  it('of a curve is not valid with a number that is too long for it', () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const long = mpint(Buffer.alloc(33, 0x7f));
    const made = sshSignatureOf(publicKey, 'file', 'sha512', Buffer.alloc(64, 1));
    const signature = Buffer.concat([long, mpint(Buffer.from([1]))]);
    expect(verifySshSignature({ ...made, signature }, digestOf('sha512'))).toBe(false);
  });

  it('is refused unread when it is longer than any', () => {
    const text = `-----BEGIN SSH SIGNATURE-----\n${'A'.repeat(92_000)}\n-----END SSH SIGNATURE-----`;
    expect(() => parseSshSignature(text)).toThrow('this SSH signature is incomplete or damaged');
  });
});

describe('an SSH key', () => {
  it('of another kind is refused by its name', () => {
    const blob = Buffer.concat([string('ssh-dss'), mpint(Buffer.from([1]))]);
    expect(() => keyOfSshBlob(blob)).toThrow('"ssh-dss"');
  });

  it('with a point off the curve, or of another curve, is refused', () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const blob = sshBlob(publicKey);
    const off = Buffer.from(blob);
    off[off.length - 1] = (off.at(-1) ?? 0) ^ 1;
    expect(() => keyOfSshBlob(off)).toThrow(/^invalid .* key$/);
    const other = Buffer.from(blob.toString('latin1').replaceAll('nistp256', 'nistp384'), 'latin1');
    expect(() => keyOfSshBlob(other)).toThrow('not a point on its curve');
    // Its x alone, with a sign in place of y, as some write a point.
    const short = Buffer.concat([
      string('ecdsa-sha2-nistp256'),
      string('nistp256'),
      string(blob.subarray(-65)),
    ]);
    expect(keyOfSshBlob(short).equals(publicKey)).toBe(true);
    short[short.length - 65] = 2;
    expect(() => keyOfSshBlob(short)).toThrow('not a point on its curve');
  });

  it('with a length that is longer than the rest is refused without taking memory for it', () => {
    const blob = Buffer.concat([string('ssh-ed25519'), uint32(0xffff_ffff)]);
    expect(() => keyOfSshBlob(blob)).toThrow('truncated');
  });
});

describe('a signature as agents send it', () => {
  it('is read as it was written, and refused if it is cut or goes on', () => {
    const signature = { algorithm: 'ssh-ed25519', bytes: Buffer.alloc(64, 7) };
    const blob = printWireSignature(signature);
    expect(parseWireSignature(blob)).toEqual(signature);
    expect(() => parseWireSignature(blob.subarray(0, -1))).toThrow('truncated');
    expect(() => parseWireSignature(Buffer.concat([blob, Buffer.alloc(1)]))).toThrow('unexpected data');
  });
});
