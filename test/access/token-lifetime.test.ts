import { describe, expect, it } from 'vitest';
import { grantLifetime, printSeconds } from '../../src/access/token.ts';
import { failureOf } from './room.ts';

const HOUR = 3600;
const MAX = 768 * HOUR;
const base = { age: 0, wanted: 0, ttl: 0, period: 0, explicitMaxTtl: 0 };

describe('the lifetime of a token', () => {
  it.each([
    ['32 days by default', {}, MAX],
    ['what it asked for', { ttl: HOUR }, HOUR],
    ['what a renewal asks for', { ttl: HOUR, wanted: 60, age: 10 }, 60],
    ['again what it asked for when a renewal asks for nothing', { ttl: HOUR, age: 10 }, HOUR],
    ['its period, whatever a renewal asks for', { period: 60, wanted: HOUR, age: 10 * MAX }, 60],
    ['its period, up to the maximum, on the dot', { period: MAX }, MAX],
    ['its period, up to the explicit maximum', { period: HOUR, explicitMaxTtl: HOUR }, HOUR],
    ['what is left, on the dot', { ttl: HOUR, age: MAX - HOUR }, HOUR],
    ['up to its explicit maximum, on the dot', { explicitMaxTtl: HOUR, ttl: HOUR }, HOUR],
  ])('is %s', (_, request, ttl) => {
    expect(grantLifetime({ ...base, ...request })).toEqual({ ttl, warnings: [] });
  });

  it.each([
    [
      { ttl: 1000 * HOUR },
      MAX,
      'TTL of "1000h" exceeded the effective max_ttl of "768h"; TTL value is capped accordingly',
    ],
    [
      { ttl: HOUR, age: MAX - 90 },
      90,
      'TTL of "1h" exceeded the effective max_ttl of "1m30s"; TTL value is capped accordingly',
    ],
    [
      { ttl: 2 * HOUR, explicitMaxTtl: HOUR },
      HOUR,
      'TTL of "2h" exceeded the effective max_ttl of "1h"; TTL value is capped accordingly',
    ],
    [
      { period: 1000 * HOUR },
      MAX,
      'period of "1000h" exceeded the effective max_ttl of "768h"; period value is capped accordingly',
    ],
    [
      { period: HOUR, explicitMaxTtl: 2 * HOUR, age: 2 * HOUR - 5 },
      5,
      'TTL of "1h" exceeded the effective max_ttl of "5s"; TTL value is capped accordingly',
    ],
  ])('is capped with a warning: %j', (request, ttl, warning) => {
    expect(grantLifetime({ ...base, ...request })).toEqual({ ttl, warnings: [warning] });
  });

  it('can not be granted past the maximum', async () => {
    const past = ['invalid', 'past the max TTL, cannot renew'];
    expect(await failureOf(() => grantLifetime({ ...base, age: MAX }))).toEqual(past);
    expect(await failureOf(() => grantLifetime({ ...base, age: 60, period: 5, explicitMaxTtl: 60 }))).toEqual(
      past,
    );
  });

  it('is printed without parts that are zero', () => {
    expect([0, 1, 60, 3600, 3661, 90_000].map(printSeconds)).toEqual([
      '0s',
      '1s',
      '1m',
      '1h',
      '1h1m1s',
      '25h',
    ]);
  });
});
