import {
  createDecipheriv,
  createECDH,
  createPrivateKey,
  createPublicKey,
  type DecipherGCM,
  type KeyObject,
} from 'node:crypto';
import { utf8, wipe } from '../ground/bytes.ts';
import { CURVES, type Curve } from '../ground/curves.ts';
import { invalid, unsupported } from '../ground/errors.ts';
import { isSameKey } from '../ground/foreign-keys.ts';
import { type JwkTexts, keyOfSshBlob } from './ssh-key.ts';
import { SshReader } from './ssh-wire.ts';

/** Encryption of private keys with a passphrase, in OpenSSH's format (its PROTOCOL.key). */

interface SshCipher {
  /** Name in Node. */
  readonly name: string;
  readonly keyBytes: number;
  readonly ivBytes: number;
  /** Length of the tag that follows the ciphertext; 0 without one. */
  readonly tagBytes: number;
}

const aes = (bits: 128 | 192 | 256, mode: 'cbc' | 'ctr' | 'gcm'): SshCipher => ({
  name: `aes-${bits}-${mode}`,
  keyBytes: bits / 8,
  ivBytes: mode === 'gcm' ? 12 : 16,
  tagBytes: mode === 'gcm' ? 16 : 0,
});

/** Ciphers by their names in `ssh-keygen -Z`; the first is its default. */
const CIPHERS: Readonly<Record<string, SshCipher>> = {
  'aes256-ctr': aes(256, 'ctr'),
  'aes256-cbc': aes(256, 'cbc'),
  'aes256-gcm@openssh.com': aes(256, 'gcm'),
  'aes192-ctr': aes(192, 'ctr'),
  'aes192-cbc': aes(192, 'cbc'),
  'aes128-ctr': aes(128, 'ctr'),
  'aes128-cbc': aes(128, 'cbc'),
  'aes128-gcm@openssh.com': aes(128, 'gcm'),
  '3des-cbc': { name: 'des-ede3-cbc', keyBytes: 24, ivBytes: 8, tagBytes: 0 },
};

/** Maximum number of rounds: `ssh-keygen` makes 16 to 24 by default, and each takes about 10 ms. */
const MOST_ROUNDS = 4096;

/** Encrypted part of a private key file. */
interface SshCiphertext {
  readonly cipher: string;
  readonly kdf: string;
  /** Options of the key derivation function, in SSH's encoding. */
  readonly options: Buffer;
  readonly bytes: Buffer;
  readonly tag: Buffer;
}

/**
 * Checks that a private key can be decrypted.
 * @throws `unsupported` for a cipher, a key derivation function or a number of rounds that is not supported; `invalid`
 */
function requireDecryptable(sealed: SshCiphertext): void {
  void settingsOf(sealed);
}

function settingsOf({ cipher: name, kdf, options, tag }: SshCiphertext) {
  const cipher = Object.hasOwn(CIPHERS, name) ? CIPHERS[name] : undefined;
  if (cipher === undefined || kdf !== 'bcrypt') {
    const what = kdf === 'bcrypt' ? `cipher ${JSON.stringify(name.slice(0, 64))}` : 'key derivation function';
    throw unsupported(`the SSH private key is encrypted with an unsupported ${what}`, { hint: CONVERT });
  }
  const reader = new SshReader(options, 'this SSH private key');
  const salt = reader.string();
  const rounds = reader.uint32();
  reader.end();
  if (tag.length !== cipher.tagBytes) throw invalid('the SSH private key is damaged');
  if (rounds > MOST_ROUNDS) {
    throw unsupported(
      `the SSH private key is encrypted with ${rounds} rounds of bcrypt, and at most ${MOST_ROUNDS} are supported`,
      {
        hint: CONVERT,
      },
    );
  }
  return { cipher, salt, rounds };
}

const CONVERT = 'convert a copy: cp KEY COPY && ssh-keygen -p -Z aes256-ctr -a 16 -f COPY';

/**
 * Decrypts with a passphrase.
 * @returns undefined if the ciphertext has a tag that shows that the passphrase is wrong; without a tag, the caller
 *   notices it by what is decrypted
 * @throws as {@link requireDecryptable}
 * @see docs/decisions/0308
 */
async function decryptSshKey(sealed: SshCiphertext, passphrase: string): Promise<Buffer | undefined> {
  const { cipher, salt, rounds } = settingsOf(sealed);
  const { default: bcrypt } = await import('bcrypt-pbkdf');
  const secret = utf8(passphrase);
  const derived = Buffer.alloc(cipher.keyBytes + cipher.ivBytes);
  try {
    const length = { secret: secret.length, salt: salt.length, key: derived.length };
    // It refuses an empty passphrase or salt, and no rounds at all.
    if (bcrypt.pbkdf(secret, length.secret, salt, length.salt, derived, length.key, rounds) !== 0)
      return undefined;
    const [key, iv] = [derived.subarray(0, cipher.keyBytes), derived.subarray(cipher.keyBytes)];
    const decipher = createDecipheriv(cipher.name, key, iv).setAutoPadding(false);
    if (cipher.tagBytes > 0) (decipher as DecipherGCM).setAuthTag(sealed.tag);
    return Buffer.concat([decipher.update(sealed.bytes), decipher.final()]);
  } catch {
    return undefined;
  } finally {
    wipe(secret, derived);
  }
}

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
 * Parses the private key of such a file, without a passphrase.
 * @param readers of the types that the caller can use; Ed25519 and RSA by default, those of age
 * @returns undefined for a text in another format
 * @throws `unsupported` for a key with a passphrase, or of another type; `invalid`
 */
export function parseSshPrivateKey(text: string, readers = READERS): KeyObject | undefined {
  const file = fileIn(text);
  if (file === undefined) return undefined;
  if (file.sealed.cipher !== NONE) {
    throw unsupported('the SSH private key is encrypted with a passphrase', {
      hint: "use a copy without it: cp KEY COPY && ssh-keygen -p -N '' -f COPY",
    });
  }
  return ofItsHalves(privateKeyIn(file.sealed.bytes, readers), file.publicKey) ?? damaged();
}

/** Returns a private key if it is that of the public half, which the file shows; an altered one may be anything. */
const ofItsHalves = (key: KeyObject | undefined, publicKey: KeyObject): KeyObject | undefined =>
  key === undefined || isSameKey(createPublicKey(key), publicKey) ? key : damaged();

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
        return ofItsHalves(privateKeyIn(secret, READERS), file.publicKey);
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
function privateKeyIn(bytes: Buffer, readers: Readers): KeyObject | undefined {
  const secret = new SshReader(bytes, 'this SSH private key');
  const [check, again] = [secret.uint32(), secret.uint32()];
  if (check !== again) return undefined;
  const kind = secret.text();
  const read = Object.hasOwn(readers, kind) ? readers[kind] : undefined;
  if (read === undefined)
    throw unsupported(`unsupported private key type ${JSON.stringify(kind.slice(0, 64))}`, {
      hint: 'use an ed25519 or RSA key',
    });
  try {
    return createPrivateKey({ key: read(secret), format: 'jwk' });
  } catch (error) {
    throw invalid('the SSH private key is damaged', { cause: error });
  }
}

function damaged(): never {
  throw invalid('the SSH private key is damaged');
}

/** Functions that read the numbers of a private key, by the names of key types. */
type Readers = Readonly<Record<string, (reader: SshReader) => JwkTexts>>;

const READERS: Readers = {
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

/** Reads the name of the curve, the point and the scalar. */
function readScalar(reader: SshReader, { jwkName, opensslName, coordinateBytes }: Curve): JwkTexts {
  reader.string();
  reader.string();
  const scalar = reader.mpint();
  const padding = Buffer.alloc(Math.max(0, coordinateBytes - scalar.length));
  const pair = createECDH(opensslName);
  pair.setPrivateKey(scalar);
  // The point in the file may be that of another key.
  const point = pair.getPublicKey().subarray(1);
  const part = (bytes: Buffer): string => bytes.toString('base64url');
  return {
    kty: 'EC',
    crv: jwkName,
    d: part(Buffer.concat([padding, scalar])),
    x: part(point.subarray(0, coordinateBytes)),
    y: part(point.subarray(coordinateBytes)),
  };
}

/** Readers of all types that SSH signs with in software. */
export const ALL_READERS: Readers = {
  ...READERS,
  ...Object.fromEntries(
    CURVES.filter(({ sshName }) => sshName !== undefined).map((curve) => [
      `ecdsa-sha2-${curve.sshName}`,
      (reader: SshReader) => readScalar(reader, curve),
    ]),
  ),
};

const none = Buffer.alloc(0);
const numberOf = (bytes: Buffer): bigint => BigInt(`0x${bytes.toString('hex') || '2'}`);
