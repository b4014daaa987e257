import { expect } from 'vitest';

/** By the curves' names in JSON Web Keys: SEC 2, sections 2.4.2, 2.5.1, 2.6.1 and 2.4.1. */
const ORDERS: Record<string, bigint> = {
  'P-256': 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
  'P-384':
    0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n,
  'P-521':
    0x01fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409n,
  secp256k1: 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n,
};

/** The order of a curve's group, from its standard. */
export const orderOf = (jwkName: string): bigint =>
  ORDERS[jwkName] ?? expect.fail(`the order of ${jwkName} is not in this table yet`);
