import { createSecretKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parsePublicKeys } from '../../src/signatures/public-key.ts';
import {
  isEdwardsKey,
  parseRevokedKeys,
  parseSshLine,
  sshBlob,
  sshLine,
} from '../../src/signatures/ssh-key.ts';
import { refusal } from '../refusal.ts';
import { MINISIGN_KEY } from './made-by-others.ts';

const ed25519 = generateKeyPairSync('ed25519');
const other = generateKeyPairSync('ed25519');
const pem = ed25519.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const jwk = ed25519.publicKey.export({ format: 'jwk' });
const line = sshLine(ed25519.publicKey, 'ada');
const forms = (text: string) => parsePublicKeys(text).map(({ form }) => form);

describe('public keys', () => {
  it('are read in each of the four forms, several of them where the form has room for it', () => {
    expect(forms(pem + pem)).toEqual(['pem', 'pem']);
    expect(forms(JSON.stringify(jwk))).toEqual(['jwk']);
    expect(forms(JSON.stringify({ keys: [jwk, jwk] }))).toEqual(['jwk', 'jwk']);
    expect(forms(`# ours\n${line}\n\n${line}\n`)).toEqual(['ssh', 'ssh']);
    expect(forms(MINISIGN_KEY)).toEqual(['minisign']);
  });

  it.each([
    ['PEM', ed25519.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()],
    ['PEM after a public key', pem + ed25519.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()],
    ['a JSON Web Key', JSON.stringify(ed25519.privateKey.export({ format: 'jwk' }))],
    ['one of several JSON Web Keys', JSON.stringify({ keys: [jwk, { ...jwk, d: 'AA' }] })],
    ['a symmetric JSON Web Key', JSON.stringify({ kty: 'oct', k: 'AAAA' })],
    ['a JSON Web Key of ML-DSA', JSON.stringify({ kty: 'AKP', alg: 'ML-DSA-44', pub: 'AA', priv: 'AA' })],
  ])('are never taken from a private key: %s', (_, text) => {
    expect(refusal(() => parsePublicKeys(text))).toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining('private key'),
    });
  });

  it.each([
    ['nothing', ''],
    ['a comment alone', '# ours\n'],
    ['a line that is none after one that is', `${line}\nhello\n`],
    ['a line that is none before one that is', `hello\n${line}\n`],
    ['a list in place of a JSON Web Key', '{"keys":[[]]}'],
    ['JSON that is no object', '[]'],
    ['an empty object in JSON', '{}'],
    ['a JSON Web Key without a key', '{"kty":"OKP"}'],
  ])('are not taken from %s', (_, text) => {
    expect(refusal(() => parsePublicKeys(text))).toMatchObject({ kind: 'invalid' });
  });
});

describe('the line of an SSH key', () => {
  it('names the kind of the key in it', () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const blob = sshBlob(publicKey).toString('base64');
    expect(() => parseSshLine(`ssh-ed25519 ${blob}`)).toThrow('invalid ssh-ed25519 key');
  });

  it('has one way only to write its key in Base64', () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const written = sshLine(publicKey, '').trim();
    expect(written).toMatch(/[AEIMQUYcgkosw048]=$/);
    const other = `${written.slice(0, -2)}${String.fromCharCode(written.charCodeAt(written.length - 2) + 1)}=`;
    expect(parseSshLine(written)?.key.equals(publicKey)).toBe(true);
    expect(() => parseSshLine(other)).toThrow('invalid ecdsa-sha2-nistp256 key');
  });

  it('is of no kind that SSH does not have', () => {
    const { publicKey: x25519 } = generateKeyPairSync('x25519');
    const { publicKey: curve } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });
    for (const key of [x25519, curve]) {
      expect(refusal(() => sshLine(key, 'ada'))).toMatchObject({
        kind: 'unsupported',
        message: 'SSH does not support keys of this type',
      });
    }
    expect([ed25519.publicKey, x25519, createSecretKey(Buffer.alloc(32))].map(isEdwardsKey)).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('has an RSA key of at least 1024 bits', () => {
    const { publicKey: least } = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const { publicKey: weak } = generateKeyPairSync('rsa', { modulusLength: 1016 });
    expect(parseSshLine(sshLine(least, ''))?.key.equals(least)).toBe(true);
    expect(() => parseSshLine(sshLine(weak, 'x'))).toThrow('the ssh-rsa key is too weak: 1016 bits');
  });
});

describe('a list of revoked SSH keys', () => {
  it('has a key on each line, leaving out comments and kinds that verify nothing here', () => {
    const text = `# gone\n\n${line}\nsk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAAA==\n${sshLine(other.publicKey, '')}`;
    expect(parseRevokedKeys(text).map((key) => sshLine(key, 'ada'))).toEqual([
      line,
      sshLine(other.publicKey, 'ada'),
    ]);
  });

  it('is refused with a line that is no key, since it may be the one in question', () => {
    expect(() => parseRevokedKeys(`${line}\nhello\n`)).toThrow('revoked keys, line 2: not a public key');
    const cut = line.replace(/^(\S+ \S{40})\S*/, '$1');
    expect(() => parseRevokedKeys(cut)).toThrow();
  });
});
