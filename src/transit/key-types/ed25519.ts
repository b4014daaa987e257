import { createPublicKey, generateKeyPairSync, sign as nodeSign, verify as nodeVerify } from 'node:crypto';
import { encodeBase64 } from '../../ground/base64.ts';
import { wiping } from '../../ground/bytes.ts';
import { ed25519FromSeed } from './der.ts';
import {
  certifiedBy,
  importingPairs,
  inContext,
  KeyPair,
  openKeyPair,
  pkcs8Of,
  refuseDigest,
  refusedBackup,
  requireKeyKind,
  spkiOf,
  spkiPemOf,
  storedKey,
} from './key-pair.ts';
import {
  type BackupMaterial,
  type Derivation,
  KDF_HKDF,
  type KeyType,
  type SignatureOptions,
  type Signing,
} from './key-type.ts';
import { raw, rawKeys, rawPublic } from './raw-keys.ts';
import { encodeAndWipe } from './symmetric.ts';

const NAME = 'ed25519';
const SEED_BYTES = 32;
const PUBLIC_BYTES = 32;
const SIGNATURE_BYTES = 64;
const BACKUP_NUMBER = 2;

/**
 * Returns seed and public key concatenated: Vault's form for storage, export and derivation. The caller overwrites it.
 * @see docs/decisions/0016
 */
const seedAndPublic = (pair: KeyPair): Buffer =>
  wiping(raw(pair.privateKey, 'raw-private'), (seed) => Buffer.concat([seed, rawPublic(pair.publicKey)]));

/**
 * Ed25519 and, with a context, Ed25519ctx (RFC 8032): the scheme hashes internally, so hash names have no effect.
 * @see docs/decisions/0295
 */
const signing: Signing<KeyPair> = {
  bindsContexts: true,
  sign(pair, input, options) {
    refusePrehashed(options);
    return nodeSign(null, input, inContext(pair.privateKey, options));
  },
  verify(pair, input, signature, options) {
    refusePrehashed(options);
    return (
      signature.length === SIGNATURE_BYTES &&
      nodeVerify(null, input, inContext(pair.publicKey, options), signature)
    );
  },
  certification: certifiedBy(null),
};

const refusePrehashed = (options: SignatureOptions): void =>
  refuseDigest(options, 'ed25519', ': Ed25519ph is not supported');

const derivation: Derivation<KeyPair> = {
  kdfs: [KDF_HKDF],
  keyBytes: SEED_BYTES,
  inputKey: seedAndPublic,
  materialOf: (seed) => KeyPair.ofPrivate(ed25519FromSeed(seed)),
};

function readBackup({ key, publicKey }: BackupMaterial) {
  const shown = publicKey === undefined || publicKey === '' ? undefined : Buffer.from(publicKey, 'base64');
  if (key === undefined) {
    if (shown?.length !== PUBLIC_BYTES) throw refusedBackup('has no ed25519 key');
    return storedKey(rawKeys.createPublicKey({ key: shown, format: 'raw-public', asymmetricKeyType: NAME }));
  }
  if (key.length !== SEED_BYTES + PUBLIC_BYTES) throw refusedBackup('has an ed25519 key of the wrong length');
  const privateKey = ed25519FromSeed(key.subarray(0, SEED_BYTES));
  const expected = rawPublic(createPublicKey(privateKey));
  const matches =
    expected.equals(key.subarray(SEED_BYTES)) && (shown === undefined || shown.equals(expected));
  if (!matches) throw refusedBackup('has an ed25519 private key that does not match its public key');
  return storedKey(privateKey);
}

/** Ed25519 (RFC 8032). In a derived key, each context has a pair of its own. */
export const ed25519: KeyType<KeyPair> = {
  name: NAME,
  protocols: ['ssh'],
  signing,
  derivation,
  importing: importingPairs(
    (key) => requireKeyKind(key, NAME),
    // Every seed is a valid key.
    async () => {},
  ),
  open: openKeyPair,
  generate: () => storedKey(generateKeyPairSync(NAME).privateKey),
  // Vault prints these texts without the final newline, unlike those of RSA keys.
  exportSecret(pair, format) {
    if (format === 'pem') return pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString().trim();
    if (format === 'der') return pkcs8Of(pair.privateKey);
    return encodeAndWipe(seedAndPublic(pair));
  },
  publicKey: {
    label: NAME,
    print: (pair) => encodeBase64(rawPublic(pair.publicKey)),
    export(pair, format) {
      if (format === 'pem') return spkiPemOf(pair.publicKey).trim();
      return format === 'der' ? spkiOf(pair.publicKey) : encodeBase64(rawPublic(pair.publicKey));
    },
  },
  backup: {
    openbao: BACKUP_NUMBER,
    vault: BACKUP_NUMBER,
    readMs: 1,
    read: readBackup,
    write(stored) {
      const pair = openKeyPair(stored);
      const publicKey = encodeBase64(rawPublic(pair.publicKey));
      return pair.hasPrivate ? { key: seedAndPublic(pair), publicKey } : { publicKey };
    },
  },
};
