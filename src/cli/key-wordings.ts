/** A text of the API, or a part of one, its replacement as for `String.replace`, and a hint if the error has none. */
export type Rewording = readonly [text: RegExp, plain: string, hint?: string];

/** Texts about named keys and what is done with them. A version is one of the key that the command names. */
export const OF_KEYS: readonly Rewording[] = [
  [/^keep versions cannot be negative/, 'keep_versions cannot be negative'],
  [/^min (en|de)cryption version cannot be negative/, 'min_$1cryption_version cannot be negative'],
  [
    /^allow_rotation must be set to true if auto-rotation is enabled/,
    'auto_rotate_period needs allow_rotation',
  ],
  [
    /^auto rotate period must be 0 to disable or at least an hour/,
    'auto_rotate_period must be 0 (never) or at least 1h',
  ],
  [/^auto trim needs keep versions/, 'auto_trim needs keep_versions'],
  [/^base64-decoded nonce must be 12 bytes long when .*/, 'the nonce must have 12 bytes'],
  [
    /^(?:cipher|chacha20poly1305): message authentication failed/,
    'cannot decrypt the ciphertext',
    'it was modified, or encrypted with another key, context or associated data',
  ],
  [
    /^base private key type (\S+) does not match peer public key curve/,
    'the public key of the peer is not on the curve of the base key, which has the type $1',
  ],
  [
    /^cannot add a public key to a key version that already has a public key set/,
    'this version already has a public key',
  ],
  [
    /^cannot decrypt ciphertext, key version does not have a private counterpart/,
    'cannot decrypt: this version of the key has no private key',
  ],
  [
    /^cannot import key, key pair does not match/,
    'cannot import: the private key does not belong to the public key',
  ],
  [
    /^cannot set min decryption version of (\d+), the key keeps versions from (\d+)/,
    'min_decryption_version cannot be $1: the oldest version kept is $2',
  ],
  [
    /^cannot set min encryption\/decryption values; min encryption version of (\d+) must be greater than or equal to min decryption version of (\d+)/,
    'min_encryption_version ($1) cannot be lower than min_decryption_version ($2)',
  ],
  [
    /^cannot set min (en|de)cryption version of (\d+), latest key version is (\d+)/,
    'min_$1cryption_version cannot be $2: the latest version of the key is $3',
  ],
  [
    /^min (en|de)cryption version should not be less th[ae]n min available version/,
    'min_$1cryption_version cannot be lower than the oldest version of the key',
  ],
  [
    /certificate in the first element is not a valid leaf certificate/,
    'the first certificate is the certificate of a CA, not of the key',
  ],
  [/certificate in the last element is not a valid CA certificate/, 'the last certificate is not of a CA'],
  [
    /could not validate if there is only one leaf certificate in the provided chain/,
    'each certificate after the first must be of a CA',
  ],
  [
    /could not validate key match between leaf certificate key and key entry in transit: provided leaf certificate public key algorithm '([^']*)' does not match the transit key type '([^']*)'/,
    'the key of the first certificate has the type $1, but this key has the type $2',
  ],
  [/^failed to persist certificate chain: /, 'cannot store the certificate chain: '],
  [
    /leaf certificate public key does not match the selected key version/,
    'the first certificate is for another key, or for another version of this key',
  ],
  [
    /provided certificate chain did not contain any valid PEM encoded certificate/,
    'no certificate in PEM found',
  ],
  [
    /^certificate chain not supported for keys that do not support signing/,
    'only keys that sign have a certificate chain',
  ],
  [
    /^convergent encryption requires derivation to be enabled, so context is required/,
    'missing context: a convergent key needs one',
  ],
  [/^convergent encryption requires derivation to be enabled/, 'a convergent key must be derived as well'],
  [
    /^could not derive enc key, length not correct/,
    'cannot derive a key for the context: the derived key has the wrong length',
  ],
  [
    /^derive-key can add a version to an imported key only/,
    'derive-key can only add versions to a key that was imported, or created by derive-key',
  ],
  [/^encryption not supported for the key/, 'this key does not encrypt'],
  [/^signing not supported for the key/, 'this key does not sign'],
  [
    /^error deriving key: key version does not have a private part/,
    'this version of the key has no private key',
  ],
  [/^error importing key: /, 'cannot import the key: '],
  [
    /^error parsing asymmetric key: not a PKCS#8 private key/,
    'the wrapped key is not a private key in PKCS #8 format',
  ],
  [/^error parsing public key: not a SubjectPublicKeyInfo/, 'not a public key'],
  [/^error parsing version template/, 'the format of the ciphertexts of this key is damaged'],
  [/^expected ephemeral AES key to be 256-bit/, 'the wrapped key must begin with an AES key of 256 bits'],
  [/^failed to parse supplied peer public key PEM: .*/, 'the public key of the peer cannot be read'],
  [
    /^hash_algorithm=none requires both prehashed=true and signature_algorithm=pkcs1v15/,
    'hash_algorithm none needs --prehashed and signature_algorithm pkcs1v15',
  ],
  [/^import cannot be used on keys with convergent encryption enabled/, 'convergent keys cannot be imported'],
  [
    /^import_version cannot be used on keys with convergent encryption enabled/,
    'a convergent key cannot get imported versions',
  ],
  [
    /^the import_version endpoint can only be used with an imported key/,
    'only imported keys can get imported versions',
  ],
  [/^the import path cannot be used with an existing key; .*/, 'a key with this name already exists'],
  [/^private key imported, key version cannot be updated/, 'this version already has its private key'],
  [
    /^provided type does not support public_key import/,
    'a key of this type cannot be imported from a public key alone',
    'use --type with the type of the public key, such as ed25519 or rsa-2048, or import the private key',
  ],
  [
    /^unable to import only public key for derived Ed25519 key: .*/,
    'a derived ed25519 key cannot be imported without its private key',
  ],
  [/^(invalid \w+): version is too new/, '$1: the key has no such version yet'],
  [/^(invalid \w+): wrong number of fields/, '$1: a part is missing'],
  // A value alone is item 0 of a batch.
  [
    /^(?:(\w+) argument|'(?:\[0\]\.)?(\w+)') invalid: unsupported key type (\S+) for padding scheme/,
    '$1$2 cannot be used with keys of type $3',
  ],
  [/^(?:(\w+) argument|'(?:\[0\]\.)?(\w+)') invalid: unsupported padding scheme (.*)/, '$1$2 cannot be $3'],
  [/^'(?:\[0\]\.)?(\w+)' provided for non-AEAD cipher suite (\S+)/, '$1 cannot be used with keys of type $2'],
  [/minimum available version cannot be decremented/, 'min_available_version cannot be lowered'],
  [
    /^minimum available version cannot be greater than min+i?mum (en|de)cryption version/,
    'versions that can still $1crypt cannot be deleted',
  ],
  [
    /^minimum available version cannot be set when minimum (en|de)cryption version is not set/,
    '--min-$1cryption-version of the key must be set before versions are deleted',
  ],
  [
    /^minimum available version (?:cannot be negative|should be positive)/,
    'min_available_version must be at least 1',
  ],
  [
    /^(?:error deriving key: )?missing 'context' for key derivation; .*/s,
    'missing context, which this derived key needs',
  ],
  [/^'bytes' cannot be less than 1$/, 'too few bytes'],
  [/^'bytes' should be less than 131072$/, 'too many bytes'],
  [/^'backup' must be supplied/, 'the backup is empty'],
  [/^missing batch input to process/, 'the batch has no items'],
  [/^neither a 'signature' nor an 'hmac' were given to verify/, 'missing signature or HMAC'],
  [/^private key material is not exportable/, 'the key is not exportable'],
  [/^private key not imported for key version selected/, 'this version of the key has no private key'],
  [/^provided nonce not allowed for this key/, 'this key does not accept a nonce'],
  [/^invalid convergent nonce supplied/, 'invalid nonce'],
  [
    /^requested version (?:of the base key|for signing) does not contain a private part/,
    'this version of the key has no private key',
  ],
  [/^salt length neither 'auto', 'hash', nor an int: (.*)/, 'invalid salt length "$1"'],
  [
    /^selected key version does not have a certificate chain imported/,
    'this version of the key has no certificate chain',
  ],
  [/^since Vault .*; forcing minimum to 1/, 'versions start at 1, so the minimum is 1'],
  [/^unknown format for (HMAC key|a key of age); .*/, 'unknown format for this key'],
  [/^unknown key type (\S+) for export type public-key/, 'keys of type $1 have no public key'],
  [/^unsupported key type in use; must be a rsa key/, 'the destination key must be an RSA key'],
  [
    /^unwrapping the key failed: integrity check failed/,
    'cannot unwrap the key: it is damaged, or wrapped with another key',
  ],
  [
    /^version for export is below minimum decryption version/,
    'cannot export this version: it is lower than --min-decryption-version',
  ],
  [/^crypto\/rsa: decryption error/, 'cannot decrypt the wrapped AES key'],
  [
    /^crypto\/rsa: input must be hashed (?:message|with given hash)/,
    'the input is not a hash of the right length',
  ],
  [
    /^(?:failed to RSA encrypt the plaintext: )?crypto\/rsa: message too long for RSA key size/,
    'the input is too long for this RSA key',
  ],
  [
    /^failed to RSA decrypt the ciphertext: crypto\/rsa: decryption error/,
    'cannot decrypt with this RSA key',
  ],
];
