/** Parameters that sign and verify have in common. */

import type { Engine } from '../../transit/engine.ts';
import { DEFAULT_HASH, hashNames } from '../../transit/hashing.ts';
import type { SignatureRequest } from '../../transit/signing.ts';
import { base64, flag, text, type ValuesOf } from '../declaration/params.ts';

const hashAlgorithm = text({
  help: 'Hash function: sha1, sha2-224, sha2-256, sha2-384, sha2-512, sha3-224, sha3-256, sha3-384, sha3-512 or none. Default: sha2-256.',
  cli: { suggest: hashNames },
});

/**
 * Older name of `hash_algorithm`. It is sent as `hash_algorithm` in the body: OpenBao does not read the older name
 * there, and with the name of the hash in the path a policy for `sign/NAME` would not match.
 */
const oldHashAlgorithm = {
  ...text({
    help: 'Older name of hash_algorithm; ignored if hash_algorithm is given.',
    cli: { suggest: hashNames },
  }),
  sentAs: 'hash_algorithm',
};

/** Signature parameters, common to sign and verify. */
export const signatureParameters = {
  hash_algorithm: hashAlgorithm,
  algorithm: oldHashAlgorithm,
  prehashed: flag({
    help: 'The input is already a hash: the binary digest, or base64 with --base64.',
    default: false,
  }),
  signature_algorithm: text({
    help: 'Signature scheme, for RSA keys: pss or pkcs1v15. Default: pss.',
    default: '',
    cli: { suggest: () => ['pss', 'pkcs1v15'] as const },
  }),
  marshaling_algorithm: text({
    help: 'Encoding of signatures, for ECDSA keys: asn1, or jws as in JSON Web Signatures.',
    default: 'asn1',
    cli: { suggest: () => ['asn1', 'jws'] as const },
  }),
  salt_length: text({
    help: 'RSA-PSS salt length: auto, hash, or a number of bytes.',
    default: 'auto',
    cli: { suggest: () => ['auto', 'hash'] },
  }),
  signature_context: base64({
    help: 'Signature context, base64 (ed25519, ML-DSA and SLH-DSA); the same for signing and verifying.',
    default: '',
    cli: { textTwin: true },
  }),
};

/** Converts the signature parameters for the engine. Empty hash names count as absent. */
export const signatureRequest = (values: ValuesOf<typeof signatureParameters>): SignatureRequest => ({
  hashAlgorithm: values.hash_algorithm || values.algorithm || DEFAULT_HASH,
  prehashed: values.prehashed,
  signatureAlgorithm: values.signature_algorithm,
  marshalingAlgorithm: values.marshaling_algorithm,
  saltLength: values.salt_length,
  signatureContext: values.signature_context,
});

/**
 * Returns the single input; `input` or `batch_input` is required. For Vault clients, a missing input is empty, but not
 * in an item of a batch.
 */
export const singleInput = (engine: Engine, input: string | undefined): string | undefined =>
  input ?? (engine.keepsFamilyRules ? '' : undefined);
