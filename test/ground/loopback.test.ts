import { describe, expect, it } from 'vitest';
import { isLoopback } from '../../src/ground/loopback.ts';

describe('a host', () => {
  it('is loopback when only this machine reaches it', () => {
    expect(['127.0.0.1', '127.8.9.10', '::1', 'localhost'].map(isLoopback)).toEqual([true, true, true, true]);
    expect(['0.0.0.0', '::', '10.0.0.1', 'example.org', '128.0.0.1'].map(isLoopback)).toEqual(
      Array.from({ length: 5 }, () => false),
    );
  });
});
