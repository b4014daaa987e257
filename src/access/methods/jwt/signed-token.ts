import { ownWords } from '../../../ground/own-words.ts';
/** Parses and verifies tokens of other issuers. */

import type { CompactVerifyGetKey, CompactVerifyResult } from 'jose';
import { isObject } from '../../../ground/objects.ts';
import { type Claims, printGo } from './claims.ts';
import { invalidToken } from './times.ts';
import { hasUniqueNames } from './unique-names.ts';

/** Allowed signature algorithms: no symmetric ones, and never `none`. */
export const ALGORITHMS: readonly string[] = [
  ...['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512', 'EdDSA'],
];

/** Algorithm with a second name (RFC 9864). */
const SAME_ALGORITHM: Readonly<Record<string, string>> = { Ed25519: 'EdDSA' };
const VERIFIED = [...ALGORITHMS, ...Object.keys(SAME_ALGORITHM)];

/** Keys that verify tokens. */
export interface VerificationKeys {
  /** Tried in order; each finds the key, or the keys, for a token's header. */
  readonly candidates: readonly CompactVerifyGetKey[];
  /** Error text for a token that none of them signed. */
  readonly refusal: string;
}

export interface SignedToken {
  readonly claims: Claims;
  /** Name in Vault. */
  readonly algorithm: string;
}

/** Creates the error for a signature, with Vault's message. */
export const badSignature = (reason: string) =>
  invalidToken(`${ownWords('error verifying token signature: ')}${reason}`);

/**
 * Checks the form of a token.
 * @param ofIssuer whether keys are fetched: Vault's messages have an additional word then, and report unsupported
 * algorithms
 * @throws `invalid` if it is not in the compact form of RFC 7515
 */
export function checkForm(token: string, ofIssuer: boolean): void {
  const refuse = (reason: string) => badSignature(ofIssuer ? `oidc: malformed jwt: ${reason}` : reason);
  const parts = token.split('.');
  if (parts.length !== 3) throw refuse(ownWords('go-jose/go-jose: compact JWS format must have three parts'));
  for (const part of parts) {
    const at = part.length % 4 === 1 ? part.length - 1 : part.search(/[^\w-]/);
    if (at !== -1) throw refuse(`illegal base64 data at input byte ${at}`);
  }
  const { alg, kid = '' } = headerIn(parts[0] ?? '', refuse);
  if (typeof kid !== 'string') throw refuse(ownWords('failed to unmarshal key ID'));
  if (ofIssuer && (typeof alg !== 'string' || !VERIFIED.includes(alg))) {
    const expected = ALGORITHMS.map((name) => JSON.stringify(name)).join(' ');
    throw refuse(`unexpected signature algorithm "${printGo(alg ?? '')}"; expected [${expected}]`);
  }
}

function headerIn(part: string, refuse: (reason: string) => Error): Readonly<Record<string, unknown>> {
  const json = Buffer.from(part, 'base64url').toString('utf8');
  let header: unknown;
  try {
    header = JSON.parse(json);
  } catch {
    // Reported below.
  }
  if (isObject(header)) return header;
  throw refuse(`invalid character '${visibleStart(json)}' looking for beginning of value`);
}

/** Returns the first character of untrusted text if it is printable. */
const visibleStart = (text: string): string => /^[ -~]/.exec(text)?.[0] ?? '?';

/**
 * Returns the claims of a token that one of the keys has signed; undefined if none has, or if the payload is malformed.
 * Before that, only the token's key ID is used.
 */
export async function verified(token: string, keys: VerificationKeys): Promise<SignedToken | undefined> {
  for (const candidate of keys.candidates) {
    const found = await signedBy(token, candidate);
    const claims = found && claimsIn(found.payload);
    if (found !== undefined && claims !== undefined) {
      const { alg } = found.protectedHeader;
      return { claims, algorithm: SAME_ALGORITHM[alg] ?? alg };
    }
  }
  return undefined;
}

async function signedBy(token: string, key: CompactVerifyGetKey): Promise<CompactVerifyResult | undefined> {
  const { compactVerify, errors } = await import('jose');
  const options = { algorithms: VERIFIED };
  try {
    return await compactVerify(token, key, options);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) return undefined;
    for await (const one of error) {
      const found = await compactVerify(token, one, options).catch(() => undefined);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Parses claims; undefined if they are not a JSON object, or a name occurs twice in one. */
function claimsIn(payload: Uint8Array): Claims | undefined {
  try {
    const json = UTF8.decode(payload);
    const claims: unknown = JSON.parse(json);
    return isObject(claims) && hasUniqueNames(json) ? claims : undefined;
  } catch {
    return undefined;
  }
}
