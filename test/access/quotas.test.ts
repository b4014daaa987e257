import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LimitTable, NEW_CONFIG, Quotas, type RateLimit, Rates } from '../../src/access/quotas/quotas.ts';
import { refused } from '../refusal.ts';
import { memoryStore } from '../store/memory-store.ts';

const limit = (wanted: Partial<RateLimit> = {}): RateLimit => ({
  name: wanted.path ?? 'g',
  rate: 2,
  interval: 1,
  block_interval: 0,
  path: '',
  role: '',
  inheritable: true,
  ...wanted,
});

describe('the rate limits of a store', () => {
  it('are 1,000 at most, each of which may still be changed', async () => {
    const store = await memoryStore();
    const limits = Array.from({ length: 999 }, (_, index) =>
      limit({ name: `l${index}`, path: `a/${index}` }),
    );
    await store.transact((tx) =>
      tx.put({ collection: 'access/quotas', id: 'rate-limits' }, { limits, config: NEW_CONFIG }),
    );
    const quotas = new Quotas(store);
    await quotas.write('last', { rate: 1, path: 'b' });
    expect(await refused(quotas.write('more', { rate: 1, path: 'c' }))).toMatchObject({
      kind: 'invalid',
      message: 'at most 1000 rate limits are allowed',
    });
    await quotas.write('last', { rate: 2 });
    const kept = (await quotas.read()).limits;
    expect([kept.length, kept.at(-1)?.rate]).toEqual([1000, 2]);
  });
});

describe('a rate limit', () => {
  it('is one for each path and role, and counts by the second unless it says otherwise', async () => {
    const quotas = new Quotas(await memoryStore());
    await quotas.write('one', { rate: 1, path: 'auth/a' });
    await quotas.write('other', { rate: 1, path: 'auth/a', role: 'ci', interval: 60 });
    await quotas.write('third', { rate: 1, path: 'auth/b', role: 'ci', interval: 0 });
    expect(await refused(quotas.write('fourth', { rate: 1, path: 'auth/a', role: 'ci' }))).toMatchObject({
      kind: 'invalid',
      message: 'quota rule with similar properties exists under the name "other"',
    });
    for (const rate of [0, -1, Number.NaN]) {
      expect((await refused(quotas.write('fifth', { rate, path: 'c' }))).message).toBe("'rate' is invalid");
    }
    const kept = (await quotas.read()).limits.map(({ name, interval }) => [name, interval]);
    expect(kept).toEqual([
      ['one', 1],
      ['other', 60],
      ['third', 1],
    ]);
  });
});

describe('the limit of a path', () => {
  const table = new LimitTable({
    limits: [
      limit({ name: 'all' }),
      limit({ path: 'auth/approle' }),
      limit({ path: 'auth/approle/login' }),
      limit({ path: 'transit/e*' }),
      limit({ path: 'transit/enc*' }),
      limit({ path: 'transit' }),
      limit({ path: 'transit/e/exact' }),
      limit({ path: 'transit/x/yy' }),
      limit({ path: 'transit/x/y*' }),
      limit({ name: 'ci', path: 'auth/approle', role: 'CI' }),
    ],
    config: {
      ...NEW_CONFIG,
      rate_limit_exempt_paths: ['sys/health', '/transit/random', 'sys/int*'],
      absolute_rate_limit_exempt_paths: ['sys/leader'],
    },
  });

  it.each([
    ['auth/approle/login', 'auth/approle/login'],
    ['auth/approle/login/x', 'auth/approle/login'],
    ['auth/approle/role/ci', 'auth/approle'],
    ['auth/approles/login', 'all'],
    ['auth/approle', 'auth/approle'],
    ['transit/encrypt/k', 'transit/enc*'],
    ['transit/export/k', 'transit/e*'],
    ['transit/decrypt/k', 'transit'],
    ['transit/e/exact', 'transit/e/exact'],
    ['transit/x/yy/z', 'transit/x/yy'],
    ['transit/x/yyz', 'transit/x/y*'],
    ['sys/mounts', 'all'],
    ['', 'all'],
    ['sys/health', undefined],
    ['transit/random', undefined],
    ['sys/leader', undefined],
    ['sys/internal/ui/mounts', undefined],
    [`auth${'/'.repeat(16_000)}`, 'all'],
  ])('of %s is the most particular one', (path, name) => {
    expect(table.at([path])?.name).toBe(name);
  });

  it('is the most particular one of all spellings of it', () => {
    expect(table.at(['transit/x', 'auth/approle/login'])?.name).toBe('auth/approle/login');
    expect(table.at(['auth/approle/login', 'transit/x'])?.name).toBe('auth/approle/login');
    expect(table.at(['sys/health', 'transit/x'])?.name).toBe('transit');
    expect(table.at([])).toBeUndefined();
  });

  it('is another one for logins of some roles', () => {
    expect(table.ofRole('auth/approle', 'ci')?.name).toBe('ci');
    expect(table.ofRole('auth/approle', 'other')).toBeUndefined();
    expect([table.hasRolesAt('auth/approle'), table.hasRolesAt('transit')]).toEqual([true, false]);
  });
});

describe('the rate of an address', () => {
  it('is so many in an interval, and as many again after it', () => {
    let now = 0;
    const rates = new Rates(() => now);
    const take = (address = '192.0.2.1') => rates.take(limit({ interval: 10 }), address);
    expect([take(), take(), take()].map(({ isAllowed, left }) => [isAllowed, left])).toEqual([
      [true, 1],
      [true, 0],
      [false, 0],
    ]);
    expect(take('192.0.2.2').isAllowed).toBe(true);
    now = 9000;
    expect(take()).toEqual({ isAllowed: false, limit: 2, left: 0, resetsIn: 1 });
    now = 10_000;
    expect(take()).toEqual({ isAllowed: true, limit: 2, left: 1, resetsIn: 10 });
  });

  it('is said to be full again after the interval, at whatever fraction of a millisecond it began', () => {
    fc.assert(
      fc.property(fc.nat(1e9), (microseconds) => {
        const now = microseconds / 1000;
        const rates = new Rates(() => now);
        expect(rates.take(limit({ interval: 3600 }), '192.0.2.1').resetsIn).toBe(3600);
      }),
      { numRuns: 1000 },
    );
  });

  it('is that of all addresses together, where the limit says so', () => {
    const rates = new Rates(() => 0);
    const together = limit({ group_by: 'none' });
    const allowed = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map(
      (address) => rates.take(together, address).isAllowed,
    );
    expect(allowed).toEqual([true, true, false]);
  });

  it('may be less than one', () => {
    let now = 0;
    const rates = new Rates(() => now);
    const slow = limit({ rate: 0.1, interval: 1 });
    expect([rates.take(slow, 'a').isAllowed, rates.take(slow, 'a').isAllowed]).toEqual([true, false]);
    now = 10_000;
    expect(rates.take(slow, 'a').isAllowed).toBe(true);
  });

  it('is none for a while once it was too high, where that is said', () => {
    let now = 0;
    const rates = new Rates(() => now);
    const strict = limit({ rate: 1, block_interval: 60 });
    rates.take(strict, 'a');
    expect(rates.take(strict, 'a')).toMatchObject({ isAllowed: false, resetsIn: 60 });
    now = 30_000;
    expect(rates.take(strict, 'a')).toMatchObject({ isAllowed: false, resetsIn: 30 });
    now = 60_000;
    expect(rates.take(strict, 'a').isAllowed).toBe(true);
  });

  it('is that of a network of IPv6, and is forgotten for the one that came first past a bound', () => {
    const rates = new Rates(() => 0);
    const one = limit({ rate: 1 });
    expect(rates.take(one, '2001:db8::1').isAllowed).toBe(true);
    expect(rates.take(one, '2001:db8::2').isAllowed).toBe(false);
    for (let index = 0; index < 20_000; index++) rates.take(one, `10.0.${index >> 8}.${index & 255}`);
    expect(rates.take(one, '2001:db8::1').isAllowed).toBe(true);
  });
});
