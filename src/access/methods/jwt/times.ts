import { invalid } from '../../../ground/errors.ts';
import { ownWords } from '../../../ground/own-words.ts';
import { type Claims, pointedAt } from './claims.ts';
import type { JwtSettings } from './documents.ts';

/** How far clocks may be apart, and how long a token is good that does not say: seconds, where the role says nothing. */
const SKEW = 60;
const LEEWAY = 150;

/** Seconds of a setting: 0 stands for the usual ones, and what is negative for none. */
const leewayOf = (setting: number, usual: number): number => (setting === 0 ? usual : Math.max(setting, 0));

/**
 * Judges `iat`, `nbf` and `exp` as the family does: one of them is enough, and stands in for those that are missing.
 * @throws `invalid` in its words.
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

/** Beyond it a number is no time in the family's 64 bits. */
const LAST = 2 ** 62;

/** Whole seconds since the epoch; 0 where the claim is missing. */
function secondsIn(claims: Claims, name: string): number {
  const value = pointedAt(claims, `/${name}`) ?? 0;
  if (typeof value !== 'number' || Math.abs(value) > LAST) {
    throw invalidToken(ownWords('go-jose/go-jose/jwt: expected number value to unmarshal NumericDate'));
  }
  return Math.trunc(value);
}

/** The refusal of a token for what it is, in the family's words. */
export const invalidToken = (reason: string) => invalid(`${ownWords('error validating token: ')}${reason}`);
