import {
  constants,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign as nodeSign,
  verify as nodeVerify,
  privateDecrypt,
  publicEncrypt,
} from 'node:crypto';
import { type CofferError, failingAs, inauthentic, invalid, ownWords } from '../../ground/errors.ts';
import { modulusBitsOf, rsaNumbers } from '../../ground/foreign-keys.ts';
import {
  bitLength,
  certifiedBy,
  fromBase64Url,
  importingPairs,
  type KeyPair,
  keyOf,
  newPrivateKey,
  numberOf,
  openKeyPair,
  pkcs8Of,
  refusedBackup,
  requireKeyKind,
  requireRestorable,
  spkiOf,
  spkiPemOf,
  storedKey,
  toBase64Url,
  unknownFormat,
} from './key-pair.ts';
import type {
  BackupForm,
  BackupMaterial,
  KeyType,
  PublicKeyEncryption,
  RsaNumbers,
  SignatureOptions,
  Signing,
} from './key-type.ts';
import { DIGEST_HASHES, type DigestHashName } from './prehash/digest-hash.ts';
import {
  exactSaltBytes,
  hasModulusLength,
  signPkcs1Digest,
  signPssDigest,
  verifyPkcs1Digest,
  verifyPssDigest,
} from './prehash/rsa-digest.ts';

const PUBLIC_EXPONENT = 65_537;
const { RSA_PKCS1_OAEP_PADDING, RSA_PKCS1_PADDING, RSA_PKCS1_PSS_PADDING } = constants;
const { RSA_PSS_SALTLEN_AUTO, RSA_PSS_SALTLEN_MAX_SIGN } = constants;

/** RSAES-OAEP (RFC 8017, 7.1) with one hash for label and mask, empty label. Node's default hash would be SHA-1. */
const oaep = (key: KeyObject, hash: DigestHashName = 'sha2-256') => ({
  key,
  padding: RSA_PKCS1_OAEP_PADDING,
  oaepHash: DIGEST_HASHES[hash].nodeName,
});

const encryption: PublicKeyEncryption<KeyPair> = {
  paddingScheme: 'oaep',
  encrypt(pair, plaintext, hash) {
    try {
      return publicEncrypt(oaep(pair.publicKey, hash), plaintext);
    } catch {
      throw invalid(
        ownWords('failed to RSA encrypt the plaintext: crypto/rsa: message too long for RSA key size'),
        {
          field: 'plaintext',
          hint: 'for data of any size, use "coffer transit envelope encrypt"',
        },
      );
    }
  },
  decrypt(pair, ciphertext, hash) {
    try {
      return privateDecrypt(oaep(pair.privateKey, hash), ciphertext);
    } catch {
      throw inauthentic(ownWords('failed to RSA decrypt the ciphertext: crypto/rsa: decryption error'), {
        field: 'ciphertext',
        hint: 'the ciphertext was modified, or encrypted with another key',
      });
    }
  },
};

const PSS = 'pss';
const PKCS1 = 'pkcs1v15';

/** RSA signature scheme: PSS or PKCS #1 v1.5. */
interface RsaScheme {
  sign(key: KeyObject, hash: DigestHashName, input: Uint8Array, options: SignatureOptions): Buffer;
  verify(
    key: KeyObject,
    hash: DigestHashName,
    input: Uint8Array,
    signature: Uint8Array,
    options: SignatureOptions,
  ): boolean;
}

const pss: RsaScheme = {
  sign(key, hash, input, { saltLength }) {
    const salt = exactSaltBytes(key, hash, saltLength) ?? RSA_PSS_SALTLEN_MAX_SIGN;
    return nodeSign(DIGEST_HASHES[hash].nodeName, input, {
      key,
      padding: RSA_PKCS1_PSS_PADDING,
      saltLength: salt,
    });
  },
  verify(key, hash, input, signature, { saltLength }) {
    const salt = exactSaltBytes(key, hash, saltLength) ?? RSA_PSS_SALTLEN_AUTO;
    const options = { key, padding: RSA_PKCS1_PSS_PADDING, saltLength: salt };
    return nodeVerify(DIGEST_HASHES[hash].nodeName, input, options, signature);
  },
};

const pkcs1: RsaScheme = {
  sign: (key, hash, input) =>
    nodeSign(DIGEST_HASHES[hash].nodeName, input, { key, padding: RSA_PKCS1_PADDING }),
  verify: (key, hash, input, signature) =>
    nodeVerify(DIGEST_HASHES[hash].nodeName, input, { key, padding: RSA_PKCS1_PADDING }, signature),
};

function isPss({ signatureAlgorithm }: SignatureOptions): boolean {
  if (signatureAlgorithm === '' || signatureAlgorithm === PSS) return true;
  if (signatureAlgorithm === PKCS1) return false;
  throw invalid(`unsupported rsa signature algorithm ${signatureAlgorithm}`, {
    field: 'signature_algorithm',
    hint: `use ${PSS} or ${PKCS1}`,
  });
}

/** Returns the hash of a request; `none` is only allowed with a digest and PKCS#1 v1.5. */
function namedHash({ hash }: SignatureOptions): DigestHashName {
  if (hash === 'none')
    throw invalid(
      ownWords('hash_algorithm=none requires both prehashed=true and signature_algorithm=pkcs1v15'),
      {
        field: 'hash_algorithm',
      },
    );
  return hash;
}

/** sha256WithRSAEncryption with NULL parameters (RFC 8017, appendix A.2.4), which is PKCS #1 v1.5. */
const SHA256_WITH_RSA = '300d06092a864886f70d01010b0500';

const signing: Signing<KeyPair> = {
  signsHashes: true,
  sign(pair, input, options, random) {
    const key = pair.privateKey;
    const usesPss = isPss(options);
    if (!options.prehashed) return (usesPss ? pss : pkcs1).sign(key, namedHash(options), input, options);
    return usesPss
      ? signPssDigest(key, {
          hash: namedHash(options),
          digest: input,
          saltLength: options.saltLength,
          random,
        })
      : signPkcs1Digest(key, options.hash, input);
  },
  verify(pair, input, signature, options) {
    const key = pair.publicKey;
    const usesPss = isPss(options);
    if (!options.prehashed) {
      const scheme = usesPss ? pss : pkcs1;
      const isMade = scheme.verify(key, namedHash(options), input, signature, options);
      return isMade && hasModulusLength(key, signature);
    }
    return usesPss
      ? verifyPssDigest(key, {
          hash: namedHash(options),
          digest: input,
          signature,
          saltLength: options.saltLength,
        })
      : verifyPkcs1Digest(key, options.hash, input, signature);
  },
  certification: certifiedBy('sha256', SHA256_WITH_RSA),
};

function requireFit(key: KeyObject, modulusBits: number): void {
  requireKeyKind(key, 'rsa', `rsa-${modulusBits}`);
  const bits = modulusBitsOf(key) ?? 0;
  if (bits !== modulusBits) {
    throw invalid(`invalid key size: expected ${modulusBits / 8} bytes, got ${Math.ceil(bits / 8)} bytes`, {
      field: 'type',
    });
  }
  const { rsaPublic } = key.type === 'public' ? rsaToBackup(key) : {};
  if (rsaPublic !== undefined) failingAs(unusablePublicKey, () => checkPublic(rsaPublic, modulusBits));
}

const unusablePublicKey = (): CofferError =>
  invalid(ownWords('error parsing public key: not a usable RSA key'), {
    field: 'public_key',
    hint: `the modulus must be odd, and the public exponent an odd number from 3 to ${MAX_EXPONENT}`,
  });

let lastTurn: Promise<unknown> = Promise.resolve();

/**
 * Generates one key at a time: each occupies a core for up to seconds, and one of the few threads that also read files,
 * so several at once would block a server.
 */
function inTurn<T>(make: () => Promise<T>): Promise<T> {
  const turn = lastTurn.then(make);
  lastTurn = turn.catch(() => undefined);
  return turn;
}

/** Creates the RSA type of a modulus length, with the public exponent 65537. */
function rsaType(modulusBits: number, backupNumber: number): KeyType<KeyPair> {
  const name = `rsa-${modulusBits}`;
  return {
    name,
    protocols: ['ssh', 'pkcs11'],
    publicKeyEncryption: encryption,
    signing,
    importing: importingPairs(
      (key) => requireFit(key, modulusBits),
      (key) => requireRestorable(() => rsaFromBackup(rsaToBackup(key), modulusBits)),
    ),
    open: openKeyPair,
    generate: () =>
      inTurn(async () =>
        storedKey(
          await newPrivateKey('rsa', { modulusLength: modulusBits, publicExponent: PUBLIC_EXPONENT }),
        ),
      ),
    generatesSlowly: true,
    exportSecret(pair, format) {
      const key = pair.privateKey;
      if (format === '') return key.export({ format: 'pem', type: 'pkcs1' }).toString();
      if (format === 'pem') return key.export({ format: 'pem', type: 'pkcs8' }).toString();
      if (format === 'der') return pkcs8Of(key);
      throw unknownFormat('rsa', format);
    },
    publicKey: {
      label: name,
      print: (pair) => spkiPemOf(pair.publicKey),
      export(pair, format) {
        if (format === 'raw') throw unknownFormat('rsa', format);
        return format === 'der' ? spkiOf(pair.publicKey) : spkiPemOf(pair.publicKey);
      },
    },
    backup: rsaBackup(backupNumber, modulusBits),
  };
}

type PublicNumbers = Pick<RsaNumbers, 'n' | 'e'>;

/** Maximum public exponent, the same as in Go. */
const MAX_EXPONENT = 2n ** 31n - 1n;

const publicJwk = ({ n, e }: PublicNumbers) => ({ kty: 'RSA', n: toBase64Url(n), e: toBase64Url(e) });

/**
 * Creates the backup form.
 * @param number type number, the same in Vault and OpenBao
 */
const rsaBackup = (number: number, modulusBits: number): BackupForm => ({
  openbao: number,
  vault: number,
  readMs: (modulusBits / 1024) ** 2,
  read: async (entry) => storedKey(await rsaFromBackup(entry, modulusBits)),
  write: (stored) => rsaToBackup(keyOf(stored)),
});

/**
 * Converts an RSA key to a backup's numbers; only the public ones if it is a public key.
 * @throws `invalid` for a private key with an exponent that no backup may have
 */
export function rsaToBackup(key: KeyObject): BackupMaterial {
  const numbers = rsaNumbers(key);
  if (numbers === undefined) throw new TypeError('an RSA key is needed');
  const n = numberOf(numbers.modulus);
  const e = numberOf(numbers.exponent);
  if (key.type === 'public') return { rsaPublic: { n, e } };
  if (e > MAX_EXPONENT) throw unusableExponent();
  const jwk = key.export({ format: 'jwk' });
  return {
    rsa: {
      n,
      e,
      d: fromBase64Url(jwk.d),
      primes: [fromBase64Url(jwk.p), fromBase64Url(jwk.q)],
      precomputed: { dp: fromBase64Url(jwk.dp), dq: fromBase64Url(jwk.dq), qInv: fromBase64Url(jwk.qi) },
    },
  };
}

/**
 * Converts a backup's numbers to a key, private if they are complete.
 * @throws `invalid` if the numbers are not a working key of `modulusBits`
 */
export async function rsaFromBackup(material: BackupMaterial, modulusBits: number): Promise<KeyObject> {
  const { rsa, rsaPublic } = material;
  const numbers = rsa ?? rsaPublic;
  if (numbers === undefined) throw refusedBackup('has no RSA key');
  checkPublic(numbers, modulusBits);
  if (rsa === undefined) return createPublicKey({ key: publicJwk(numbers), format: 'jwk' });
  if (rsaPublic && !sameKey(rsa, rsaPublic)) throw mismatch();
  return privateKeyFrom(rsa);
}

const sameKey = (a: PublicNumbers, b: PublicNumbers): boolean => a.n === b.n && a.e === b.e;

function checkPublic({ n, e }: PublicNumbers, modulusBits: number): void {
  if (n <= 0n || bitLength(n) !== modulusBits) {
    throw refusedBackup(`has an RSA modulus that is not of ${modulusBits} bits`);
  }
  if (n % 2n === 0n) throw refusedBackup('has an even RSA modulus');
  if (e < 3n || e > MAX_EXPONENT || e % 2n === 0n) throw unusableExponent();
}

const unusableExponent = (): CofferError => refusedBackup('has an RSA public exponent that is not usable');

async function privateKeyFrom(numbers: RsaNumbers): Promise<KeyObject> {
  const [p = 0n, q = 0n, ...more] = numbers.primes;
  const { n, e, d } = numbers;
  if (more.length > 0) throw refusedBackup('has an RSA key of more than two primes');
  const consistent =
    p > 2n &&
    q > 2n &&
    p !== q &&
    p * q === n &&
    d > 1n &&
    d < n &&
    (d * e) % (p - 1n) === 1n &&
    (d * e) % (q - 1n) === 1n;
  if (!consistent) throw mismatch();
  const { invert } = await import('@noble/curves/abstract/modular.js');
  const jwk = {
    ...publicJwk(numbers),
    d: toBase64Url(d),
    p: toBase64Url(p),
    q: toBase64Url(q),
    dp: toBase64Url(d % (p - 1n)),
    dq: toBase64Url(d % (q - 1n)),
    qi: toBase64Url(failingAs(mismatch, () => invert(q, p))),
  };
  return working(() => createPrivateKey({ key: jwk, format: 'jwk' }));
}

const PROBE = Buffer.from('does this key work');

/**
 * Creates a key and tests it. Numbers can satisfy every equation without being a key (a factor that is not prime); its
 * signatures are wrong then.
 */
function working(make: () => KeyObject): KeyObject {
  try {
    const key = make();
    if (nodeVerify('sha256', PROBE, createPublicKey(key), nodeSign('sha256', PROBE, key))) return key;
  } catch {
    // OpenSSL's reasons would quote numbers of the key.
  }
  throw mismatch();
}

const mismatch = (): CofferError =>
  refusedBackup('has an RSA private key that does not match its public key');

export const rsa = [rsaType(2048, 3), rsaType(3072, 9), rsaType(4096, 4)];
