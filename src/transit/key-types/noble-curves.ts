/** The used part of a library: of a module that is imported with `import()`, the bundle would contain all exports. */
export { ecdsa } from '@noble/curves/abstract/weierstrass.js';
export { p256, p384, p521 } from '@noble/curves/nist.js';
export { secp256k1 } from '@noble/curves/secp256k1.js';
