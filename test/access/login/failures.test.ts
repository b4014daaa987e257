import { describe, expect, it } from 'vitest';
import { LoginFailures } from '../../../src/access/login/failures.ts';

const failing = (failures: LoginFailures, address: string, times: number): void => {
  for (let i = 0; i < times; i++) failures.count('m', address);
};

describe('failed logins', () => {
  it('bar their source after a hundred, until some time has passed, and nobody else', () => {
    let ms = 0;
    const failures = new LoginFailures(() => ms);
    failing(failures, '10.0.0.1', 99);
    expect(failures.admits('m', '10.0.0.1')).toBe(true);
    failing(failures, '10.0.0.1', 1);
    expect(failures.admits('m', '10.0.0.1')).toBe(false);
    expect(failures.admits('other', '10.0.0.1')).toBe(true);
    expect(failures.admits('m', '10.0.0.2')).toBe(true);
    ms = 250;
    expect(failures.admits('m', '10.0.0.1')).toBe(true);
    failing(failures, '10.0.0.1', 2);
    expect(failures.admits('m', '10.0.0.1')).toBe(false);
  });

  it('are counted for a network of IPv6, however the address is written', () => {
    const failures = new LoginFailures(() => 0);
    failing(failures, '2001:db8:0:1::1', 50);
    failing(failures, '2001:db8:0:1:ffff::9', 50);
    expect(failures.admits('m', '2001:db8:0:1:2:3:4:5')).toBe(false);
    expect(failures.admits('m', '2001:db8:0:2::1')).toBe(true);
  });

  it('are forgotten for the oldest source when there are very many', () => {
    const failures = new LoginFailures(() => 0);
    failing(failures, 'first', 100);
    for (let i = 0; i < 10_000; i++) failures.count('m', `10.0.${i >> 8}.${i & 255}`);
    expect(failures.admits('m', 'first')).toBe(true);
  });
});
