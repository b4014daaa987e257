import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { wipe } from '../ground/bytes.ts';
import { invalid, unsupported } from '../ground/errors.ts';
import { keyOfSshBlob } from './ssh-key.ts';
import { decryptSshKey, requireDecryptable } from './ssh-passphrase.ts';
import { SshReader } from './ssh-wire.ts';

/** Private keys in OpenSSH's format (its PROTOCOL.key). */

const ARMOR = /-----BEGIN OPENSSH PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END OPENSSH PRIVATE KEY-----/;
const MAGIC = 'openssh-key-v1\0';
/** Cipher of keys without a passphrase. */
const NONE = 'none';

/** Reads the outer part of a private key file; undefined for a text in another format. */
function fileIn(text: string) {
  const base64 = ARMOR.exec(text)?.[1];
  if (base64 === undefined) return undefined;
  const reader = new SshReader(Buffer.from(base64, 'base64'), 'this SSH private key');
  if (reader.bytes(MAGIC.length).toString('latin1') !== MAGIC) throw invalid('not an SSH private key');
  const [cipher, kdf, options] = [reader.text(), reader.text(), reader.string()];
  if (reader.uint32() !== 1) throw unsupported('the file contains more than one SSH private key');
  const publicKey = keyOfSshBlob(reader.string());
  const bytes = reader.string();
  return { publicKey, sealed: { cipher, kdf, options, bytes, tag: reader.rest() } };
}

/**
 * Parses the private key of such a file, without a passphrase: Ed25519 or RSA.
 * @returns undefined for a text in another format
 * @throws `unsupported` for a key with a passphrase, or of another type; `invalid`
 */
export function parseSshPrivateKey(text: string): KeyObject | undefined {
  const file = fileIn(text);
  if (file === undefined) return undefined;
  if (file.sealed.cipher !== NONE) throw unsupported('the SSH private key is encrypted with a passphrase');
  return ofItsHalves(privateKeyIn(file.sealed.bytes), file.publicKey) ?? damaged();
}

/** Returns a private key if it is that of the public half, which the file shows; an altered one may be anything. */
const ofItsHalves = (key: KeyObject | undefined, publicKey: KeyObject): KeyObject | undefined =>
  key === undefined || createPublicKey(key).equals(publicKey) ? key : damaged();

/**
 * Parses such a file with a passphrase.
 * @returns undefined for a text in another format, or a key without a passphrase
 * @throws `unsupported` for a key that cannot be decrypted here; `invalid`
 */
export function parseEncryptedSshKey(text: string) {
  const file = fileIn(text);
  if (file === undefined || file.sealed.cipher === NONE) return undefined;
  requireDecryptable(file.sealed);
  return {
    /** Public half, as the file has it. */
    publicKey: file.publicKey,
    /**
     * Decrypts it.
     * @returns undefined if the passphrase is wrong
     * @throws `invalid` for a damaged key; `unsupported` for another type of key
     */
    async decrypt(passphrase: string): Promise<KeyObject | undefined> {
      const secret = await decryptSshKey(file.sealed, passphrase);
      if (secret === undefined) return undefined;
      try {
        // Most ciphers have no tag, so whatever was altered shows only here.
        return ofItsHalves(privateKeyIn(secret), file.publicKey);
      } finally {
        wipe(secret);
      }
    },
  };
}

/**
 * Reads the inner part of a private key file.
 * @returns undefined if it was decrypted with a wrong passphrase, or is damaged
 */
function privateKeyIn(bytes: Buffer): KeyObject | undefined {
  const secret = new SshReader(bytes, 'this SSH private key');
  const [check, again] = [secret.uint32(), secret.uint32()];
  if (check !== again) return undefined;
  const kind = secret.text();
  const read = Object.hasOwn(READERS, kind) ? READERS[kind] : undefined;
  if (read === undefined)
    throw unsupported(`unsupported private key type ${JSON.stringify(kind.slice(0, 64))}`);
  try {
    return createPrivateKey({ key: read(secret), format: 'jwk' });
  } catch (error) {
    throw invalid('the SSH private key is damaged', { cause: error });
  }
}

function damaged(): never {
  throw invalid('the SSH private key is damaged');
}

const READERS: Readonly<Record<string, (reader: SshReader) => JsonWebKey>> = {
  'ssh-ed25519': (reader) => {
    const x = reader.string().toString('base64url');
    return { kty: 'OKP', crv: 'Ed25519', x, d: reader.string().subarray(0, 32).toString('base64url') };
  },
  'ssh-rsa': (reader) => {
    const [n = none, e = none, d = none, qi = none, p = none, q = none] = Array.from({ length: 6 }, () =>
      reader.mpint(),
    );
    const modulo = (prime: Buffer): string => {
      const rest = numberOf(d) % (numberOf(prime) - 1n);
      const hex = rest.toString(16);
      return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex').toString('base64url');
    };
    const texts = Object.entries({ n, e, d, p, q, qi }).map(([name, bytes]) => [
      name,
      bytes.toString('base64url'),
    ]);
    return { kty: 'RSA', ...Object.fromEntries(texts), dp: modulo(p), dq: modulo(q) };
  },
};

const none = Buffer.alloc(0);
const numberOf = (bytes: Buffer): bigint => BigInt(`0x${bytes.toString('hex') || '2'}`);
