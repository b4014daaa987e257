/**
 * Known answers of other implementations: computed with the cryptography package of Python, and those that OpenBao's
 * tests have as well agree with them.
 */

/** Bytes 00 to 1f, in base64: the key of all that follows. */
export const KEY = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
/** `the quick brown fox`, and the derivation context `my-context`. */
export const FOX = 'dGhlIHF1aWNrIGJyb3duIGZveA==';
export const CONTEXT = 'bXktY29udGV4dA==';

/** The fox under the key, with a nonce of a0 to ab; and with the associated data `aad`. */
export const PLAIN = 'vault:v1:oKGio6SlpqeoqaqrknAZDTS+a9wJReWhaA2u/hbDIelh227cvtxj0qcEAMk/H8M=';
export const WITH_AAD = 'vault:v1:oKGio6SlpqeoqaqrknAZDTS+a9wJReWhaA2u/hbDIY0cK471515mxZWNAsZTQ08=';

/** Settings of a backup's policy and version for the convergent encryption of today, and the fox under it. */
export const CONVERGENT_POLICY = {
  derived: true,
  kdf: 1,
  convergent_encryption: true,
  convergent_version: -1,
};
export const CONVERGENT_ENTRY = { key: KEY, convergent_version: 3 };
export const CONVERGENT = 'vault:v1:Fe9pARQ9J9e6i2jrGaJTydaXAJt0vwHdtUw9TzJ/vzYX8+0tfmR33z9fVXcJLl0=';

/** The same for release 0.6.1, where the caller gave the nonce. */
export const POLICY_OF_0_6_1 = { derived: true, kdf: 0, convergent_encryption: true, convergent_version: 1 };
export const NONCE = 'AAECAwQFBgcICQoL';
export const CIPHERTEXT_OF_0_6_1 = 'vault:v1:IlMiVYR4YC2hPTufhbgUjaFsUCHuMnej2o/w5oMwwF2LWxM=';

/** The ed25519 key whose seed is the key, as backups hold it; its signature of the fox. */
export const ED25519_KEY =
  'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8DoQe/884Qvh1w3RjnS8CZZ+TWMJulDV8d3IZkElUxuA==';
export const ED25519_SIGNATURE =
  'vault:v1:OZORekOQiAkX+r0lQwgpVDF+nm4IFKGAnX15wMqffzhClKn67u/NbsuGqOqrCgYylUgQZYM2rgXPBuGAea7mDA==';

/** The same when it is derived, for `my-context`. */
export const DERIVED_PUBLIC_KEY = 'OIvIl/P5BgXI5mVbCspIin8B4+5fbJBqqp0rjRBwXjc=';
export const DERIVED_SIGNATURE =
  'vault:v1:kXZfwfEvi5pakYUyuHfl7GU9sAdGd2VScF3DmaT3m4XgGjlxEGIhAixoeajmDVksLBIAxRhc5hI6GLmgJAqFBA==';

/** As this program's own dialect prints it. */
export const ours = (text: string): string => text.replace(/^vault:/, 'service:');

/** HMACs of the fox, by algorithm, with the key `01234567890123456789012345678901`. */
export const KNOWN_HMAC_KEY = 'MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=';
export const HMACS: Readonly<Record<string, string>> = {
  sha1: 'FuC2wR0oEs8Q2taEueKCq59KyXY=',
  'sha2-224': '3p+ZWVquYDvu2dSTCa65Y3fgoMfIAc6fNaBbtg==',
  'sha2-256': 'UcBvm5VskkukzZHlPgm3p5P/Yr/PV6xpuOGZISya3A4=',
  'sha2-384': 'jDB9YXdPjpmr29b1JCIEJO93IydlKVfD9mA2EO9OmJtJQg3QAV5tcRRRb7IQGW9p',
  'sha2-512': 'PSXLXvkvKF4CpU65e2bK1tGBZQpcpCEM32fq2iUoiTyQQCfBcGJJItQ+60tMwWXAPQrC290AzTrNJucGrr4GFA==',
  'sha3-256': '+px9V/7QYLfdK808zPESC2T/L33uFf4Blzsn9Jy838o=',
  'sha3-512': 'GrNA8sU88naMPEQ7UZGj9EJl7YJhl03AFHfxcEURFrtvnobdea9ZlZHePpxAx/oCaC7R2HkrAO+Tu3uXPIl3lg==',
};

/** A P-256 key, as backups hold it, and a signature of the fox that Go made with it over SHA-256. */
export const P256_ENTRY = {
  ec_x: 0x7336010a6da5935113d26d9ea4bb61b3b8d102c9a8083ed432f9b58fd7e80686n,
  ec_y: 0x4040aa31864691a8a9e7e3ec9250e85425b797ad7be34ba8df62bfbad45ebb0en,
  ec_d: 0x99e5569be8683a2691dfc560ca9dfa71e887867a3af60635a08a3e3655aba3efn,
};
export const P256_SIGNATURE =
  'vault:v1:MEUCIAgnEl9V8P305EBAlz68Nq4jZng5fE8k6MactcnlUw9dAiEAvJVePg3dazW6MaW7lRAVtEz82QJDVmR98tXCl8Pc7DA=';
