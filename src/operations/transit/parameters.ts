import { base64, integer, keyName, text } from '../params.ts';

/** Parameters that several transit operations have, so that they read the same everywhere. */

/** The named key in the path. */
export const existingKey = keyName({
  help: 'The named key.',
  required: true,
  cli: { positional: true, refersTo: 'key' },
});

export const context = base64({
  help: 'Derivation context, base64; required when the key is derived.',
  cli: { textTwin: true, metavar: 'B64' },
});

export const nonce = base64({
  help: 'Nonce of 12 bytes, base64; only for convergent keys of release 0.6.1.',
  cli: { metavar: 'B64' },
});

export const associatedData = base64({
  help: 'Data to authenticate but not encrypt, base64; the same must be given to decrypt.',
  cli: { textTwin: true, metavar: 'B64' },
});

export const keyVersion = integer({
  help: 'Key version to use; 0 for the latest.',
  default: 0,
  cli: { metavar: 'N' },
});

/** In items there is no default: absent means that the call's own counts. */
export const itemKeyVersion = integer({ help: 'Key version to use; 0 for the latest.' });

export const reference = text({ help: 'Any text; it comes back with the result.' });

export const hashAlgorithmHelp =
  'Hash: sha1, sha2-224, sha2-256, sha2-384, sha2-512, sha3-224, sha3-256, sha3-384 or sha3-512.';

export const HASH_WORDS: readonly string[] = [
  'sha1',
  'sha2-224',
  'sha2-256',
  'sha2-384',
  'sha2-512',
  'sha3-224',
  'sha3-256',
  'sha3-384',
  'sha3-512',
];

export const partialFailureCode = integer({
  help: 'HTTP status to answer with when some items fail and others do not; default 400.',
  cli: { hidden: true },
});
