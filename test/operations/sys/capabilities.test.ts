import { describe, expect, it } from 'vitest';
import { printCapabilities } from '../../../src/operations/sys/capabilities.ts';
import { refused } from '../../refusal.ts';

describe('an answer about capabilities', () => {
  it('has all paths, and for a single one its capabilities by themselves', async () => {
    const capabilities = (path: string) => [path === 'a' ? 'read' : 'deny'];
    const both = { a: ['read'], b: ['deny'] };
    expect(await printCapabilities({ paths: ['a', 'b'], path: [] }, capabilities)).toEqual({
      data: both,
      topLevel: both,
    });
    const one = { capabilities: ['read'], a: ['read'] };
    expect(await printCapabilities({ paths: [], path: ['a'] }, capabilities)).toEqual({
      data: one,
      topLevel: one,
    });
    expect(await refused(printCapabilities({ paths: [], path: [] }, capabilities))).toMatchObject({
      kind: 'invalid',
      message: 'paths must be supplied',
    });
  });

  it('about very many paths lets others have their turn', async () => {
    const paths = Array.from({ length: 1_000 }, (_, index) => `path/${index}`);
    let turnsOfOthers = 0;
    let next: NodeJS.Immediate | undefined;
    const other = (): void => {
      turnsOfOthers += 1;
      next = setImmediate(other);
    };
    next = setImmediate(other);
    const { data } = await printCapabilities({ paths, path: [] }, () => ['deny']);
    clearImmediate(next);
    expect(Object.keys(data ?? {})).toHaveLength(1_000);
    expect(turnsOfOthers).toBeGreaterThan(5);
  });
});
