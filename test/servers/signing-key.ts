/** Keys that issuers sign tokens with, and tokens. */
import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';

export type Claims = Readonly<Record<string, unknown>>;

export const KEY_TYPES = {
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  PS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  RS512: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ES384: () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  ES512: () => generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  EdDSA: () => generateKeyPairSync('ed25519'),
} as const satisfies Readonly<Record<string, () => { publicKey: KeyObject; privateKey: KeyObject }>>;

/** A key that tokens are signed with. */
export interface SigningKey {
  readonly kid: string;
  readonly alg: keyof typeof KEY_TYPES;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
  readonly publicPem: string;
}

export function signingKey(alg: keyof typeof KEY_TYPES = 'RS256', kid: string = randomUUID()): SigningKey {
  const { publicKey, privateKey } = KEY_TYPES[alg]();
  const publicPem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  return { kid, alg, publicKey, privateKey, publicPem };
}

/** Signs claims as they are; only what the header says can be chosen beside. */
export const signToken = (
  { privateKey, kid, alg }: SigningKey,
  claims: Claims,
  header: Readonly<Record<string, unknown>> = {},
): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg, kid, typ: 'JWT', ...header }).sign(privateKey);

export const jwkOf = ({ publicKey, kid, alg }: SigningKey): object => ({
  ...publicKey.export({ format: 'jwk' }),
  kid,
  alg,
  use: 'sig',
});

/** Seconds since the epoch. */
export const nowSeconds = (): number => Math.floor(Date.now() / 1000);
