import { describe, expect, it } from 'vitest';
import { type Claims, checkTimes } from '../../../../src/access/methods/jwt/claims.ts';
import type { JwtSettings } from '../../../../src/access/methods/jwt/documents.ts';
import { refusal } from '../../../refusal.ts';

const NOW = 1_790_000_000;
const USUAL = { expiration_leeway: 0, not_before_leeway: 0, clock_skew_leeway: 0 };

const check = (claims: Claims, settings: Partial<JwtSettings> = {}) =>
  checkTimes(claims, { ...USUAL, ...settings } as JwtSettings, NOW * 1000);

const EARLY = 'invalid not before (nbf) claim: token not yet valid';
const LATE = 'invalid expiration time (exp) claim: token is expired';
const FUTURE = 'invalid issued at (iat) claim: token issued in the future';

describe('the times of a token', () => {
  it.each<[string, Claims, Partial<JwtSettings>, Claims, string]>([
    ['its end', { exp: NOW - 60 }, {}, { exp: NOW - 61 }, LATE],
    ['its end, with no skew', { exp: NOW }, { clock_skew_leeway: -1 }, { exp: NOW - 1 }, LATE],
    ['its end, with more skew', { exp: NOW - 300 }, { clock_skew_leeway: 300 }, { exp: NOW - 301 }, LATE],
    ['its begin', { nbf: NOW + 60 }, {}, { nbf: NOW + 61 }, EARLY],
    ['its issue', { iat: NOW + 60, nbf: NOW }, {}, { iat: NOW + 61, nbf: NOW }, FUTURE],
    ['an end that follows from its issue', { iat: NOW - 210 }, {}, { iat: NOW - 211 }, LATE],
    [
      'an end that follows from its issue at once',
      { iat: NOW - 60 },
      { expiration_leeway: -1 },
      { iat: NOW - 61 },
      LATE,
    ],
    ['a begin that follows from its end', { exp: NOW + 210 }, {}, { exp: NOW + 211 }, EARLY],
  ])('hold to the second for %s', (_, good, settings, bad, why) => {
    expect(() => check(good, settings)).not.toThrow();
    expect(refusal(() => check(bad, settings))).toMatchObject({
      kind: 'invalid',
      message: `error validating token: ${why}`,
    });
  });

  it('are numbers of 62 bits at most', () => {
    expect(() => check({ exp: 2 ** 62, nbf: 1 })).not.toThrow();
    for (const exp of [2 ** 62 + 2 ** 10, -(2 ** 62) - 2 ** 10, String(NOW), true]) {
      expect(refusal(() => check({ exp, nbf: 1 })).message).toBe(
        'error validating token: go-jose/go-jose/jwt: expected number value to unmarshal NumericDate',
      );
    }
  });
});
