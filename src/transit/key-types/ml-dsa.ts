import { postQuantumType } from './post-quantum.ts';

const SEED_BYTES = 32;

/** ML-DSA (FIPS 204). Sizes of public keys: FIPS 204, table 2. */
const mlDsaType = (parameterSet: number, publicBytes: number) =>
  postQuantumType({
    name: `ml-dsa-${parameterSet}`,
    privateForm: 'raw-seed',
    privateBytes: SEED_BYTES,
    publicBytes,
    slowSigning: false,
  });

export const mlDsa = [mlDsaType(44, 1312), mlDsaType(65, 1952), mlDsaType(87, 2592)];
