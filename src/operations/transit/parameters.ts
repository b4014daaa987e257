/** Declares the operations below a transit mount, and their common parameters. */

import { invalid } from '../../ground/errors.ts';
import type { Engine } from '../../transit/engine.ts';
import { DEFAULT_HASH, hashNames } from '../../transit/hashing.ts';
import { KEY_NAME } from '../../transit/key-document.ts';
import type { SignatureRequest } from '../../transit/signing.ts';
import { operationsOf } from '../declaration/mount-operations.ts';
import {
  type BatchShape,
  type Declaration,
  type MountCall,
  type Operation,
  operation,
} from '../declaration/operation.ts';
import {
  base64,
  type Declared,
  declare,
  flag,
  integer,
  type Params,
  type Spec,
  text,
  type ValuesOf,
} from '../declaration/params.ts';
import { parseText } from '../declaration/weak-values.ts';

/** Declares an operation of transit mounts, whose handler gets the engine of the mount. */
export const transitOperation = operationsOf('transit', (call: MountCall) => {
  const engine = call.core.engine(call.mount);
  return engine instanceof Promise ? engine.then((opened) => ({ ...call, engine: opened })) : { ...call, engine };
});

/** Declares an operation that does not depend on the mount: it is also available below `sys/tools`. */
export const transitTool = <P extends Params, D>({
  run,
  ...declaration
}: Declaration<P, D, 'transit', MountCall>): Operation<P, D, 'transit'> =>
  operation({
    ...declaration,
    mount: 'transit',
    async run(call: MountCall, values) {
      if (call.mount !== '') await call.core.engine(call.mount);
      return run(call, values);
    },
  });

/** Ciphertext or signature, which may have been exchanged with the name. */
const VALUE_OF_KEY = /^[a-z]+:v\d+:/;

/** Name of a named key: letters, digits, `_`; inside also `-` and `.`. */
export function keyName<const S extends Spec<string>>(spec: S): Declared<string, S> {
  return declare<string, S>(spec, { type: 'string', pattern: KEY_NAME.source }, (value, field) => {
    const name = parseText(value, field);
    if (!KEY_NAME.test(name)) {
      throw invalid(`key name ${JSON.stringify(name)} is not allowed`, {
        field,
        hint: VALUE_OF_KEY.test(name)
          ? 'the name of the key comes before the value'
          : `use letters, digits and "_", inside the name also "-" and "."${name.includes('/') ? '; the mount is given separately' : ''}`,
      });
    }
    return name;
  });
}

/** Parameter set, for Vault's type names that stand for several types. */
export const parameterSet = text({
  help: 'Only if the type is "ml-dsa" or "slh-dsa", as in Vault: 44, 65 or 87 for ml-dsa; for slh-dsa a key type such as slh-dsa-sha2-128s.',
  default: '',
  cli: { metavar: 'SET' },
});

/** Named key in the path. */
export const existingKey = keyName({
  help: 'Name of the key.',
  required: true,
  cli: { positional: true, refersTo: 'key' },
});

/** Key names, for commands that take several. */
export const eachKey = keyName({
  help: 'Name of the key.',
  required: true,
  cli: { positional: 'each', refersTo: 'key' },
});

export const context = base64({
  help: 'Context that the key for this value is derived from, base64; required for derived keys.',
  cli: { textTwin: true, metavar: 'B64' },
});

/** A mount with the dialect `vault` refuses a batch in which only some items have a context. */
export const contextsApart: BatchShape = { apart: ({ context }) => Boolean(context) };

export const nonce = base64({
  help: '12-byte nonce, base64. Required for convergent keys that Vault 0.6.1 created; omit it for all others.',
  cli: { metavar: 'B64' },
});

export const associatedData = base64({
  help: 'Additional authenticated data, base64; needed again to decrypt.',
  cli: { textTwin: true, metavar: 'B64' },
});

/**
 * Padding scheme.
 * @param what rest of a phrase that begins with "Padding", for operations that pad twice
 */
export const paddingScheme = (what = '') =>
  text({ help: `Padding${what}, for RSA keys; only oaep.`, cli: { suggest: () => ['oaep'] as const } });

/**
 * Hash of the padding.
 * @param what rest of a phrase that begins with "Hash function of the OAEP padding", for operations that pad twice
 */
export const oaepHash = (what = '') =>
  text({
    help: `Hash function of the OAEP padding${what}, for RSA keys. Default: sha2-256.`,
    cli: { suggest: hashNames },
  });

export const keyVersion = integer({
  help: 'Version of the key to use (0: latest).',
  default: 0,
  cli: { metavar: 'N', isKeyVersion: true },
});

/** Ciphertext with the parameters for reading it: the same for decrypt and rewrap, single and in items. */
export const ciphertextParameters = {
  ciphertext: text({ long: true, help: 'Ciphertext of any key version.' }),
  context,
  nonce,
  associated_data: associatedData,
};

/** In items there is no default: absent means that the call's own counts. */
export const itemKeyVersion = integer({ help: 'Key version (0: latest).' });

export const reference = text({ help: 'Caller-defined text, returned with the result.' });

export const hashAlgorithm = text({
  help: 'Hash function: sha1, sha2-224, sha2-256, sha2-384, sha2-512, sha3-224, sha3-256, sha3-384, sha3-512 or none. Default: sha2-256.',
  cli: { suggest: hashNames },
});

/**
 * Older name of `hash_algorithm`. It is sent as `hash_algorithm` in the body: OpenBao does not read the older name
 * there, and with the name of the hash in the path a policy for `sign/NAME` would not match.
 */
const oldHashAlgorithm = {
  ...text({
    help: 'Older name of hash_algorithm, which takes precedence if both are given.',
    cli: { suggest: hashNames },
  }),
  sentAs: 'hash_algorithm',
};

/** Signature parameters, common to sign and verify. */
export const signatureParameters = {
  hash_algorithm: hashAlgorithm,
  algorithm: oldHashAlgorithm,
  prehashed: flag({ help: 'The input is already a hash (base64 of the binary digest).', default: false }),
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
    cli: { textTwin: true, metavar: 'B64' },
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

export const partialFailureCode = integer({
  help: 'HTTP status if some items of a batch fail. Default: 400.',
  cli: { hidden: true },
});
