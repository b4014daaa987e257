import { postQuantumType } from './post-quantum.ts';

/**
 * SLH-DSA (FIPS 205) over SHA-2. `s` signs slowly and small, `f` fast and large. A public key is two values of the security
 * parameter's size, a private key holds two more.
 */
const slhDsaType = (securityBits: number, trade: 's' | 'f') =>
  postQuantumType({
    name: `slh-dsa-sha2-${securityBits}${trade}`,
    privateForm: 'raw-private',
    privateBytes: securityBits / 2,
    publicBytes: securityBits / 4,
    slowSigning: true,
  });

export const slhDsa = [128, 192, 256].flatMap((bits) => [slhDsaType(bits, 's'), slhDsaType(bits, 'f')]);
