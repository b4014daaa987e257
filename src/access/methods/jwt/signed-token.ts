import type { CompactVerifyGetKey, CompactVerifyResult } from 'jose';
import { attempt, ownWords } from '../../../ground/errors.ts';
import { isObject } from '../../../ground/objects.ts';
import { type Claims, invalidToken, printGo } from './claims.ts';

/** Parses and verifies tokens of other issuers. */

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
  const header: unknown = attempt(() => JSON.parse(json));
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
const claimsIn = (payload: Uint8Array): Claims | undefined =>
  attempt(() => {
    const json = UTF8.decode(payload);
    const claims: unknown = JSON.parse(json);
    return isObject(claims) && hasUniqueNames(json) ? claims : undefined;
  });

/**
 * Whether no object in a JSON text, at any depth, has a duplicate name. Parsers differ in which duplicate they use, so
 * an attacker could show different values to different parsers.
 * @param json valid for `JSON.parse`; names are compared after resolving escapes
 */
export function hasUniqueNames(json: string): boolean {
  /** Names of each open object; undefined for a list. */
  const open: (Set<string> | undefined)[] = [];
  let names: Set<string> | undefined;
  let expectsName = false;
  for (let at = 0; at < json.length; at++) {
    switch (json.charCodeAt(at)) {
      case OBJECT:
        open.push(names);
        names = new Set();
        expectsName = true;
        break;
      case LIST:
        open.push(names);
        names = undefined;
        expectsName = false;
        break;
      case OBJECT_END:
      case LIST_END:
        names = open.pop();
        expectsName = false;
        break;
      case COMMA:
        expectsName = names !== undefined;
        break;
      case QUOTE: {
        const end = endOfText(json, at);
        if (expectsName && names !== undefined) {
          const written = json.slice(at, end + 1);
          const name: unknown = written.includes('\\') ? JSON.parse(written) : written.slice(1, -1);
          if (typeof name !== 'string' || names.has(name)) return false;
          names.add(name);
          expectsName = false;
        }
        at = end;
        break;
      }
    }
  }
  return true;
}

const [OBJECT, OBJECT_END, LIST, LIST_END, COMMA, QUOTE] = [...'{}[],"'].map((sign) => sign.charCodeAt(0));

/** Returns the end of the text whose opening quote is at `start`. */
function endOfText(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  while (isEscaped(json, end)) end = json.indexOf('"', end + 1);
  return end;
}

function isEscaped(json: string, at: number): boolean {
  let slashes = 0;
  while (json[at - 1 - slashes] === '\\') slashes += 1;
  return slashes % 2 === 1;
}
