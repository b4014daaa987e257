/** The used part of a library: of a module that is imported with `import()`, the bundle would contain all exports. */
export { ed25519 } from '@noble/curves/ed25519.js';
