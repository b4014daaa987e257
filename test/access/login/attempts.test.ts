import { describe, expect, it } from 'vitest';
import { LoginAttempts } from '../../../src/access/login/attempts.ts';

const failing = (attempts: LoginAttempts, address: string, times: number): void => {
  for (let i = 0; i < times; i++) attempts.begin('m', address)?.end(true);
};

const admits = (attempts: LoginAttempts, mount: string, address: string): boolean => {
  const attempt = attempts.begin(mount, address);
  attempt?.end(false);
  return attempt !== undefined;
};

/** @returns how many of so many that come at once are let in. */
const crowd = (attempts: LoginAttempts, address: string, size: number): number =>
  Array.from({ length: size }, () => attempts.begin('m', address)).filter((attempt) => attempt !== undefined)
    .length;

describe('failed logins', () => {
  it('bar their source after a hundred, until some time has passed, and nobody else', () => {
    let ms = 0;
    const attempts = new LoginAttempts(() => ms);
    failing(attempts, '10.0.0.1', 99);
    expect(admits(attempts, 'm', '10.0.0.1')).toBe(true);
    failing(attempts, '10.0.0.1', 1);
    expect(admits(attempts, 'm', '10.0.0.1')).toBe(false);
    expect(admits(attempts, 'other', '10.0.0.1')).toBe(true);
    expect(admits(attempts, 'm', '10.0.0.2')).toBe(true);
    ms = 250;
    expect(admits(attempts, 'm', '10.0.0.1')).toBe(true);
    failing(attempts, '10.0.0.1', 2);
    expect(admits(attempts, 'm', '10.0.0.1')).toBe(false);
  });

  it('are counted for a network of IPv6, however the address is written', () => {
    const attempts = new LoginAttempts(() => 0);
    failing(attempts, '2001:db8:0:1::1', 50);
    failing(attempts, '2001:0DB8:0:1:ffff::9', 50);
    expect(admits(attempts, 'm', '2001:db8:0:1:2:3:4:5')).toBe(false);
    expect(admits(attempts, 'm', '2001:db8:0:2::1')).toBe(true);
  });

  it('are counted for an address of IPv4, by whatever listener it came', () => {
    const attempts = new LoginAttempts(() => 0);
    failing(attempts, '::ffff:10.0.0.1', 100);
    expect(admits(attempts, 'm', '10.0.0.1')).toBe(false);
    expect(admits(attempts, 'm', '::ffff:10.0.0.2')).toBe(true);
    expect(admits(attempts, 'm', '')).toBe(true);
  });

  it('are forgotten for the oldest source when there are very many', () => {
    const attempts = new LoginAttempts(() => 0);
    failing(attempts, 'first', 100);
    for (let i = 0; i < 10_000; i++) failing(attempts, `10.0.${i >> 8}.${i & 255}`, 1);
    expect(admits(attempts, 'm', 'first')).toBe(true);
  });
});

describe('logins under way', () => {
  it('are no more at once than may fail yet, once many from there have failed', () => {
    let ms = 0;
    const attempts = new LoginAttempts(() => ms);
    failing(attempts, '10.0.0.1', 100);
    ms = 1000;
    expect(crowd(attempts, '10.0.0.1', 110)).toBe(5);
    expect(admits(attempts, 'm', '10.0.0.2')).toBe(true);
  });

  it('are many at once from where few fail', () => {
    const attempts = new LoginAttempts(() => 0);
    failing(attempts, '10.0.0.1', 20);
    expect(crowd(attempts, '10.0.0.1', 300)).toBe(300);
  });

  it('are bounded for each source alone', () => {
    const attempts = new LoginAttempts(() => 0);
    for (let source = 0; source < 60; source++) {
      expect(crowd(attempts, `10.0.0.${source}`, 1000)).toBe(500);
    }
    expect(crowd(attempts, '10.1.0.1', 10)).toBe(10);
  });

  it('give their places back when they end', () => {
    const attempts = new LoginAttempts(() => 0);
    const held = Array.from({ length: 500 }, () => attempts.begin('m', '10.0.0.1'));
    expect(admits(attempts, 'm', '10.0.0.1')).toBe(false);
    for (const attempt of held) attempt?.end(false);
    expect(crowd(attempts, '10.0.0.1', 500)).toBe(500);
  });
});
