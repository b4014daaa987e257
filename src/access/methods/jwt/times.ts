import { invalid } from '../../../ground/errors.ts';
import { ownWords } from '../../../ground/own-words.ts';
import { type Claims, pointedAt } from './claims.ts';
import type { JwtSettings } from './documents.ts';

/** Default clock skew, and lifetime of a token without an expiration time, in seconds. */
const SKEW = 60;
const LEEWAY = 150;

/** Returns the seconds of a setting: 0 means the default, negative means none. */
const leewayOf = (setting: number, usual: number): number => (setting === 0 ? usual : Math.max(setting, 0));

/**
 * Checks `iat`, `nbf` and `exp` like Vault: one of them is enough, and substitutes for missing ones.
 * @throws `invalid` with Vault's messages
 */
export function checkTimes(claims: Claims, settings: JwtSettings, nowMs: number): void {
  const [iat, nbf, exp] = [secondsIn(claims, 'iat'), secondsIn(claims, 'nbf'), secondsIn(claims, 'exp')];
  if (iat === 0 && nbf === 0 && exp === 0) {
    throw invalidToken(
      ownWords('no issued at (iat), not before (nbf), or expiration time (exp) claims in token'),
    );
  }
  const end = exp === 0 ? Math.max(iat, nbf) + leewayOf(settings.expiration_leeway, LEEWAY) : exp;
  const start = nbf !== 0 ? nbf : iat !== 0 ? iat : end - leewayOf(settings.not_before_leeway, LEEWAY);
  const skew = leewayOf(settings.clock_skew_leeway, SKEW);
  const now = nowMs / 1000;
  if (now + skew < start) throw invalidToken(ownWords('invalid not before (nbf) claim: token not yet valid'));
  if (now - skew > end) throw invalidToken(ownWords('invalid expiration time (exp) claim: token is expired'));
  if (now + skew < iat)
    throw invalidToken(ownWords('invalid issued at (iat) claim: token issued in the future'));
}

/** Maximum time in Vault's 64 bits. */
const LAST = 2 ** 62;

/** Returns whole seconds since the epoch; 0 if the claim is missing. */
function secondsIn(claims: Claims, name: string): number {
  const value = pointedAt(claims, `/${name}`) ?? 0;
  if (typeof value !== 'number' || Math.abs(value) > LAST) {
    throw invalidToken(ownWords('go-jose/go-jose/jwt: expected number value to unmarshal NumericDate'));
  }
  return Math.trunc(value);
}

/** Creates the error for an invalid token, with Vault's message. */
export const invalidToken = (reason: string) => invalid(`${ownWords('error validating token: ')}${reason}`);
