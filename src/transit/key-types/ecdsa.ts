import { generateKeyPairSync, type KeyObject, sign as nodeSign, verify as nodeVerify } from 'node:crypto';
import { invalid } from '../../ground/errors.ts';
import { curveNamed, ECDSA_CURVES, type EcdsaCurve } from './curves.ts';
import { ecdsaBackup, ecdsaFromBackup, ecdsaToBackup } from './ecdsa-backup.ts';
import { joinedNumbers } from './ecdsa-signature.ts';
import {
  certifiedBy,
  importingPairs,
  type KeyPair,
  openKeyPair,
  pkcs8Of,
  requireKeyKind,
  requireRestorable,
  spkiOf,
  spkiPemOf,
  storedKey,
  unknownFormat,
} from './key-pair.ts';
import type { KeyType, Marshaling, SignatureOptions, Signing } from './key-type.ts';
import { DIGEST_HASHES } from './prehash/digest-hash.ts';
import type { EcdsaEncoding } from './prehash/ecdsa-digest.ts';

const ENCODINGS: Readonly<Record<Marshaling, EcdsaEncoding>> = { asn1: 'der', jws: 'ieee-p1363' };

/** Loads the implementation that signs digests of the caller. */
const digestSigner = () => import('./prehash/ecdsa-digest.ts');

/** Whether the input is hashed; `none` was checked before the key type was called. */
const hashesInput = ({ hash, prehashed }: SignatureOptions): boolean => !prehashed && hash !== 'none';

const nodeHashOf = ({ hash }: SignatureOptions): string =>
  hash === 'none' ? '' : DIGEST_HASHES[hash].nodeName;

/** `AlgorithmIdentifier` of ECDSA signatures in certificates by their hash, DER in hexadecimal (RFC 5758, 3.2). */
const CERTIFIED: Readonly<Record<EcdsaCurve['hash'], string>> = {
  sha256: '300a06082a8648ce3d040302',
  sha384: '300a06082a8648ce3d040303',
  sha512: '300a06082a8648ce3d040304',
};

const signingOn = ({ coordinateBytes, hash }: EcdsaCurve): Signing<KeyPair> => ({
  signsHashes: true,
  certification: certifiedBy(hash, CERTIFIED[hash]),
  sign(pair, input, options) {
    const key = pair.privateKey;
    const dsaEncoding = ENCODINGS[options.marshaling];
    if (hashesInput(options)) return nodeSign(nodeHashOf(options), input, { key, dsaEncoding });
    return digestSigner().then(({ signEcdsaDigest }) => signEcdsaDigest(key, input, dsaEncoding));
  },
  verify(pair, input, signature, options) {
    const key = pair.publicKey;
    const numbers = joinedNumbers(signature, options.marshaling, coordinateBytes);
    if (numbers === undefined) return false;
    if (hashesInput(options)) {
      return nodeVerify(nodeHashOf(options), input, { key, dsaEncoding: 'ieee-p1363' }, numbers);
    }
    return digestSigner().then(({ verifyEcdsaDigest }) => verifyEcdsaDigest(key, input, numbers));
  },
});

/**
 * Checks the curve of a key.
 * @throws `invalid` with Vault's message
 */
export function requireCurve(key: KeyObject, curve: EcdsaCurve): void {
  requireKeyKind(key, 'ec', 'ecdsa');
  const given = key.asymmetricKeyDetails?.namedCurve ?? 'unknown';
  if (given === curve.opensslName) return;
  const name = curveNamed(given)?.jwkName ?? given;
  throw invalid(`invalid curve: expected ${curve.jwkName}, got ${name}`, { field: 'type' });
}

const sec1 = (key: KeyObject): string => key.export({ format: 'pem', type: 'sec1' }).toString();
const pkcs8Pem = (key: KeyObject): string => key.export({ format: 'pem', type: 'pkcs8' }).toString();

/** ECDSA (FIPS 186-5) on one curve. */
function ecdsaType(curve: EcdsaCurve): KeyType<KeyPair> {
  const type = `ecdsa-${curve.jwkName.replace('-', '').toLowerCase()}`;
  return {
    name: type,
    protocols: curve.sshName === undefined ? [] : ['ssh', 'pkcs11'],
    signing: signingOn(curve),
    importing: importingPairs(
      (key) => requireCurve(key, curve),
      (key) => requireRestorable(() => ecdsaFromBackup(ecdsaToBackup(key), curve)),
    ),
    agreement: {
      secretWith: async (pair, peer) =>
        (await import('./ecdh.ts')).sharedSecret(pair.privateKey, peer, { type, curve: curve.opensslName }),
    },
    open: openKeyPair,
    generate: () => storedKey(generateKeyPairSync('ec', { namedCurve: curve.opensslName }).privateKey),
    // Vault prints these texts without the final newline, unlike those of RSA keys.
    exportSecret(pair, format) {
      if (format === '') return sec1(pair.privateKey).trim();
      if (format === 'pem') return pkcs8Pem(pair.privateKey).trim();
      if (format === 'der') return pkcs8Of(pair.privateKey);
      throw unknownFormat('ec', format);
    },
    publicKey: {
      label: curve.jwkName,
      print: (pair) => spkiPemOf(pair.publicKey),
      export(pair, format) {
        if (format === 'raw') throw unknownFormat('ec', format);
        return format === 'der' ? spkiOf(pair.publicKey) : spkiPemOf(pair.publicKey).trim();
      },
    },
    backup: ecdsaBackup(curve),
  };
}

export const ecdsa = ECDSA_CURVES.map(ecdsaType);
