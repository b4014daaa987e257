import { createDecipheriv, type DecipherGCM } from 'node:crypto';
import { utf8, wipe } from '../ground/bytes.ts';
import { invalid, unsupported } from '../ground/errors.ts';
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
export function requireDecryptable(sealed: SshCiphertext): void {
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
export async function decryptSshKey(sealed: SshCiphertext, passphrase: string): Promise<Buffer | undefined> {
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
