import { createPrivateKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { invalid, unsupported } from '../ground/errors.ts';
import { keyOfSshBlob } from './ssh-key.ts';
import { SshReader } from './ssh-wire.ts';

/** Private keys in OpenSSH's format (its PROTOCOL.key). */

const ARMOR = /-----BEGIN OPENSSH PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END OPENSSH PRIVATE KEY-----/;
const MAGIC = 'openssh-key-v1\0';

/**
 * Parses the private key of such a file: Ed25519 or RSA.
 * @returns undefined for a text in another format
 * @throws `unsupported` for a key with a passphrase, or of another type; `invalid`
 */
export function parseSshPrivateKey(text: string): KeyObject | undefined {
  const base64 = ARMOR.exec(text)?.[1];
  if (base64 === undefined) return undefined;
  const reader = new SshReader(Buffer.from(base64, 'base64'), 'this SSH private key');
  if (reader.bytes(MAGIC.length).toString('latin1') !== MAGIC) throw invalid('not an SSH private key');
  const cipher = reader.text();
  reader.string();
  reader.string();
  if (reader.uint32() !== 1) throw unsupported('the file contains more than one SSH private key');
  const isRsa = keyOfSshBlob(reader.string()).asymmetricKeyType === 'rsa';
  if (cipher !== 'none') {
    throw unsupported('the SSH private key is encrypted with a passphrase', { hint: wayOut(isRsa) });
  }
  const secret = new SshReader(reader.string(), 'this SSH private key');
  const [check, again] = [secret.uint32(), secret.uint32()];
  if (check !== again) throw invalid('the SSH private key is damaged');
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

/**
 * Returns the hint for an encrypted key. Its KDF is bcrypt_pbkdf, for which there is no maintained and audited package.
 * Many releases of ssh-keygen write an Ed25519 key in their own format even if told to write PEM, which only works
 * everywhere for RSA keys.
 * @see docs/decisions/0308
 */
const wayOut = (isRsa: boolean): string =>
  isRsa
    ? 'convert a copy to PKCS #8: cp KEY COPY && ssh-keygen -p -m PKCS8 -f COPY'
    : "remove it from a copy, and delete the copy afterwards: cp KEY COPY && ssh-keygen -p -N '' -f COPY";

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
