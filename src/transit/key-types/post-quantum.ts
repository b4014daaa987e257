import { createPublicKey, type KeyObject, sign as nodeSign, verify as nodeVerify } from 'node:crypto';
import { encodeBase64 } from '../../ground/base64.ts';
import { type CofferError, corrupt } from '../../ground/errors.ts';
import type { MaybePromise } from '../../ground/maybe-promise.ts';
import { answered } from '../../ground/pause.ts';
import {
  importingPairs,
  inContext,
  type KeyPair,
  mismatchedPair,
  newPrivateKey,
  openKeyPair,
  pkcs8Of,
  refuseDigest,
  refusedBackup,
  requireKeyKind,
  spkiOf,
  spkiPemOf,
  storedKey,
} from './key-pair.ts';
import type {
  BackupForm,
  BackupMaterial,
  ExportFormat,
  FamilyName,
  Importing,
  KeyType,
  PublicKey,
  SignatureOptions,
  Signing,
  StoredMaterial,
} from './key-type.ts';
import { raw, rawKeys, rawPublic } from './raw-keys.ts';
import { encodeAndWipe } from './symmetric.ts';

/** Parameter set of a post-quantum signature scheme. */
interface ParameterSet {
  /** Name of the type, and Node's name of the algorithm. */
  readonly name: string;
  readonly familyNames: readonly FamilyName[];
  /** Type numbers in backups. */
  readonly numbers: Pick<BackupForm, 'openbao' | 'vault' | 'wasNamed'>;
  /** Node's name of the standard's private form: ML-DSA's seed, SLH-DSA's whole private key. */
  readonly privateForm: 'raw-seed' | 'raw-private';
  readonly privateBytes: number;
  readonly publicBytes: number;
  /** Present if others only read PKCS#8 with this prefix before the private form (RFC 9881, 6: the seed alone). */
  readonly pkcs8Head?: Buffer;
  /** Whether signing takes so long (up to half a second) that it runs off the event loop. */
  readonly slowSigning: boolean;
}

/** Creates a key type of the pure (not pre-hashed) variant, FIPS 204, 5.2 and FIPS 205, 10.2. */
function postQuantumType(set: ParameterSet): KeyType<KeyPair> {
  return {
    name: set.name,
    familyNames: set.familyNames,
    signing: signing(set),
    importing: importing(set),
    publicKey: publicKey(set),
    backup: backup(set),
    open: openKeyPair,
    generate: async () => storedKey(await newPrivateKey(set.name)),
    generatesSlowly: true,
    exportSecret: (pair, format) => exportSecret(pair, format, set),
  };
}

function signing(set: ParameterSet): Signing<KeyPair> {
  const signed = (pair: KeyPair, input: Uint8Array, bound: BoundContext = {}): MaybePromise<Buffer> =>
    set.slowSigning ? signAndCheck(set, input, pair, bound) : signPure(set, input, pair.privateKey, bound);
  return {
    bindsContexts: true,
    sign(pair, input, options) {
      refuseDigest(options, set.name);
      return signed(pair, input, options);
    },
    verify(pair, input, signature, options) {
      refuseDigest(options, set.name);
      return nodeVerify(null, input, inContext(pair.publicKey, options), signature);
    },
    certification: { publicKey: (pair) => pair.publicKey, sign: (pair, bytes) => signed(pair, bytes) },
  };
}

type BoundContext = Pick<SignatureOptions, 'context'>;

function signPure(
  set: ParameterSet,
  input: Uint8Array,
  privateKey: KeyObject,
  bound: BoundContext = {},
): MaybePromise<Buffer> {
  const key = inContext(privateKey, bound);
  if (!set.slowSigning) return nodeSign(null, input, key);
  return answered<Buffer>((done) => nodeSign(null, input, key, done));
}

/**
 * Signs and verifies the signature: the halves of a restored key may not match. Verifying costs a thousandth of
 * signing.
 */
async function signAndCheck(
  set: ParameterSet,
  input: Uint8Array,
  pair: KeyPair,
  bound: BoundContext,
): Promise<Buffer> {
  const signature = await signPure(set, input, pair.privateKey, bound);
  const key = inContext(createPublicKey(pair.privateKey), bound);
  if (nodeVerify(null, input, key, signature)) return signature;
  throw corrupt(`an ${set.name} private key does not match its public key`, {
    hint: 'this version cannot sign: rotate the key, or restore it from a backup',
  });
}

function exportSecret(pair: KeyPair, format: ExportFormat, set: ParameterSet): string {
  if (format === 'raw') return encodeAndWipe(raw(pair.privateKey, set.privateForm));
  if (format === 'der') return pkcs8Of(pair.privateKey);
  return pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
}

const publicKey = (set: ParameterSet): PublicKey<KeyPair> => ({
  label: set.name,
  print: (pair) => spkiPemOf(pair.publicKey),
  export(pair, format) {
    if (format === 'raw') return encodeBase64(rawPublic(pair.publicKey));
    return format === 'der' ? spkiOf(pair.publicKey) : spkiPemOf(pair.publicKey);
  },
});

function importing(set: ParameterSet): Importing<KeyPair> {
  const pairs = importingPairs(
    (key) => requireKeyKind(key, set.name),
    async (key) => {
      if (!(await works(key, set))) throw mismatchedPair();
    },
  );
  const { pkcs8Head } = set;
  if (pkcs8Head === undefined) return pairs;
  // OpenSSL writes the seed and the expanded key, which Go refuses.
  return {
    ...pairs,
    secretBytes: ({ privateKey }) => Buffer.concat([pkcs8Head, raw(privateKey, set.privateForm)]),
  };
}

function backup(set: ParameterSet): BackupForm {
  return {
    ...set.numbers,
    readMs: set.slowSigning ? 1 : 4,
    read: async (entry) => storedKey(await keyFromBackup(entry, set)),
    probe: set.slowSigning ? (stored) => probe(stored, set) : undefined,
    write(stored) {
      const pair = openKeyPair(stored);
      const shown = encodeBase64(rawPublic(pair.publicKey));
      return pair.hasPrivate
        ? { key: raw(pair.privateKey, set.privateForm), publicKey: shown }
        : { publicKey: shown };
    },
  };
}

async function keyFromBackup(
  { key, publicKey: shown }: BackupMaterial,
  set: ParameterSet,
): Promise<KeyObject> {
  const publicBytes = shown === undefined ? undefined : Buffer.from(shown, 'base64');
  if (publicBytes !== undefined && publicBytes.length !== set.publicBytes) {
    throw refusedBackup(`has an ${set.name} public key of the wrong length`);
  }
  if (key === undefined) {
    if (publicBytes === undefined) throw refusedBackup(`has no ${set.name} key`);
    return rawKeys.createPublicKey({ key: publicBytes, format: 'raw-public', asymmetricKeyType: set.name });
  }
  if (key.length !== set.privateBytes) throw refusedBackup(`has an ${set.name} key of the wrong length`);
  const privateKey = rawKeys.createPrivateKey({
    key,
    format: set.privateForm,
    asymmetricKeyType: set.name,
  });
  const isShown = publicBytes?.equals(rawPublic(createPublicKey(privateKey))) ?? true;
  if (!isShown || (!set.slowSigning && !(await works(privateKey, set)))) throw mismatch(set);
  return privateKey;
}

async function probe(stored: StoredMaterial, set: ParameterSet): Promise<void> {
  const pair = openKeyPair(stored);
  if (pair.hasPrivate && !(await works(pair.privateKey, set))) throw mismatch(set);
}

const mismatch = ({ name }: ParameterSet): CofferError =>
  refusedBackup(`has an ${name} private key that does not match its public key`);

const PROBE = Buffer.from('does this key work');

/**
 * Whether the halves of a key match. An SLH-DSA private key contains its public key, which OpenSSL does not recompute
 * when it reads one; only a signature shows a mismatch.
 */
async function works(privateKey: KeyObject, set: ParameterSet): Promise<boolean> {
  const signature = await signPure(set, PROBE, privateKey);
  return nodeVerify(null, PROBE, createPublicKey(privateKey), signature);
}

const SEED_BYTES = 32;

/**
 * PKCS#8 prefix: version 0, the algorithm 2.16.840.1.101.3.4.3.`arc`, and the seed under the tag [0] in an octet
 * string.
 */
const seedHead = (arc: number): Buffer =>
  Buffer.from(`3034020100300b06096086480165030403${arc.toString(16)}04228020`, 'hex');

interface MlDsaNumbers {
  readonly publicBytes: number;
  /** Last number of the object identifier. */
  readonly arc: number;
  /** Type number in OpenBao's backups. */
  readonly openbao: number;
}

/**
 * ML-DSA (FIPS 204). Sizes of public keys: FIPS 204, table 2. OpenBao 2.7 has a type for each parameter set, with the
 * seed as the key; Vault has one type for all.
 */
const mlDsaType = (parameterSet: number, { publicBytes, arc, openbao }: MlDsaNumbers) =>
  postQuantumType({
    name: `ml-dsa-${parameterSet}`,
    familyNames: [
      { name: `mldsa-${parameterSet}`, raw: true },
      { name: 'ml-dsa', parameterSet: String(parameterSet) },
    ],
    numbers: { openbao, vault: 14, wasNamed: true },
    privateForm: 'raw-seed',
    privateBytes: SEED_BYTES,
    pkcs8Head: seedHead(arc),
    publicBytes,
    slowSigning: false,
  });

export const mlDsa = [
  mlDsaType(44, { publicBytes: 1312, arc: 17, openbao: 12 }),
  mlDsaType(65, { publicBytes: 1952, arc: 18, openbao: 13 }),
  mlDsaType(87, { publicBytes: 2592, arc: 19, openbao: 14 }),
];

/**
 * SLH-DSA (FIPS 205) over SHA-2. `s` signs slowly and small, `f` fast and large. A public key is two values of the
 * security parameter's size, a private key has two more. Vault has one type for all.
 */
function slhDsaType(securityBits: number, trade: 's' | 'f') {
  const name = `slh-dsa-sha2-${securityBits}${trade}`;
  return postQuantumType({
    name,
    familyNames: [{ name: 'slh-dsa', parameterSet: name }],
    numbers: { vault: 17 },
    privateForm: 'raw-private',
    privateBytes: securityBits / 2,
    publicBytes: securityBits / 4,
    slowSigning: true,
  });
}

export const slhDsa = [128, 192, 256].flatMap((bits) => [slhDsaType(bits, 's'), slhDsaType(bits, 'f')]);
