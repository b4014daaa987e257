import { describe, expect, it } from 'vitest';
import type { BlobIdentity } from '../../src/store/root-key.ts';
import { DocumentCache } from '../../src/store/sealed/document-cache.ts';

const document = (id: string): BlobIdentity => ({ space: 'document', collection: 'c', id });
const file = (value: unknown, size = 1000) => ({ fingerprint: 'print', value, size });
const version = (revision: number) => ({ generation: 1, revision });

function cacheAt(revision: number, maxBytes = 1e6): DocumentCache {
  const cache = new DocumentCache(maxBytes);
  cache.moveTo(version(revision), true);
  return cache;
}

describe('the cache of opened documents', () => {
  it('keeps what belongs to its version only', () => {
    const cache = cacheAt(1);
    cache.add(version(1), document('a'), file('A'));
    cache.add(version(2), document('b'), file('B'));
    expect(cache.current(document('a'))?.value).toBe('A');
    expect(cache.current(document('b'))).toBeUndefined();
  });

  it('counts everything as stale, but remembers it, when somebody else commits', () => {
    const cache = cacheAt(1);
    cache.add(version(1), document('a'), file('A'));
    cache.moveTo(version(2), false);
    expect(cache.current(document('a'))).toBeUndefined();
    expect(cache.lastSeen(document('a'))?.value).toBe('A');
    cache.add(version(2), document('a'), file('A'));
    expect(cache.current(document('a'))?.value).toBe('A');
  });

  it('keeps what a commit of our own did not touch', () => {
    const cache = cacheAt(1);
    for (const id of ['a', 'b', 'c']) cache.add(version(1), document(id), file(id));
    cache.advance(version(1), version(2), [
      [document('b'), file('new')],
      [document('c'), undefined],
    ]);
    expect(cache.isAt(version(2))).toBe(true);
    expect(cache.current(document('a'))?.value).toBe('a');
    expect(cache.current(document('b'))?.value).toBe('new');
    expect(cache.lastSeen(document('c'))).toBeUndefined();
  });

  it('knows what commits of our own left as it was, until somebody else commits', () => {
    const cache = cacheAt(1);
    cache.advance(version(1), version(2), [[document('a'), file('new')]]);
    cache.advance(version(2), version(3), [[document('b'), undefined]]);
    const unchanged = (since: number): string[] =>
      ['a', 'b', 'c'].filter((id) => cache.isUnchanged(document(id), version(since)));
    expect(unchanged(1)).toEqual(['c']);
    expect(unchanged(2)).toEqual(['a', 'c']);
    expect(unchanged(3)).toEqual(['a', 'b', 'c']);
    expect(unchanged(0)).toEqual([]);
    for (const id of ['a', 'b', 'c']) cache.add(version(1), document(id), file('read in 1'));
    expect(['a', 'b', 'c'].map((id) => cache.current(document(id))?.value)).toEqual([
      'new',
      undefined,
      'read in 1',
    ]);
    cache.moveTo(version(4), false);
    expect(cache.follows(version(3))).toBe(false);
    cache.advance(version(4), version(5), []);
    expect([3, 4, 5].map((revision) => cache.follows(version(revision)))).toEqual([false, true, true]);
  });

  it('remembers only the last commits of our own, and none of very many documents', () => {
    const cache = cacheAt(0);
    for (let revision = 0; revision < 100; revision++) {
      cache.advance(version(revision), version(revision + 1), [[document('a'), file(revision)]]);
    }
    expect([0, 50, 90].map((revision) => cache.follows(version(revision)))).toEqual([false, false, true]);
    const many = Array.from({ length: 2000 }, (_, n) => [document(`${n}`), undefined] as const);
    cache.advance(version(100), version(101), many);
    expect([90, 100, 101].map((revision) => cache.follows(version(revision)))).toEqual([false, false, true]);
  });

  it('is not turned back by a reader that comes late, but by somebody who knows', () => {
    const cache = cacheAt(5);
    cache.moveTo(version(4), false);
    expect(cache.isAt(version(5))).toBe(true);
    cache.moveTo(version(4), true);
    expect(cache.isAt(version(4))).toBe(true);
  });

  it('drops the least recently used beyond its bound', () => {
    const cache = cacheAt(1, 4000);
    for (const id of ['a', 'b', 'c']) cache.add(version(1), document(id), file(id));
    cache.current(document('a'));
    cache.add(version(1), document('d'), file('d'));
    expect(cache.current(document('b'))).toBeUndefined();
    expect(['a', 'c', 'd'].map((id) => cache.current(document(id))?.value)).toEqual(['a', 'c', 'd']);
  });

  it('keeps what is used now and then, however much is added meanwhile', () => {
    const cache = cacheAt(1, 100 * 1200);
    cache.add(version(1), document('used'), file('used'));
    for (let added = 0; added < 1000; added++) {
      cache.add(version(1), document(`${added}`), file(added));
      if (added % 60 === 0) expect(cache.current(document('used'))?.value).toBe('used');
    }
    expect(cache.current(document('899'))).toBeUndefined();
    expect(cache.current(document('950'))?.value).toBe(950);
  });

  it('keeps a changed document in place of the old one, and counts its size once', () => {
    const cache = cacheAt(1, 4800);
    for (const id of ['a', 'b', 'c']) cache.add(version(1), document(id), file(id));
    for (let revision = 1; revision < 50; revision++) {
      cache.advance(version(revision), version(revision + 1), [[document('b'), file(revision)]]);
    }
    expect(['a', 'b', 'c'].map((id) => cache.current(document(id))?.value)).toEqual(['a', 49, 'c']);
  });

  it('keeps so many of a bounded collection, those used last, and as many as fit of the others', () => {
    const cache = cacheAt(1);
    const other = (id: string): BlobIdentity => ({ space: 'document', collection: 'other', id });
    for (const id of ['a', 'b', 'c']) {
      cache.add(version(1), document(id), file(id));
      cache.add(version(1), other(id), file(id));
    }
    cache.current(document('a'));
    cache.limit('c', 2);
    expect(cache.current(document('b'))).toBeUndefined();
    cache.add(version(1), document('d'), file('d'));
    expect(cache.current(document('c'))).toBeUndefined();
    expect(['a', 'd'].map((id) => cache.current(document(id))?.value)).toEqual(['a', 'd']);
    expect(['a', 'b', 'c'].map((id) => cache.current(other(id))?.value)).toEqual(['a', 'b', 'c']);
    cache.limit('c', 0);
    for (const id of ['e', 'f', 'g']) cache.add(version(1), document(id), file(id));
    expect(['a', 'd', 'e', 'f', 'g'].map((id) => cache.current(document(id))?.value)).toEqual([
      'a',
      'd',
      'e',
      'f',
      'g',
    ]);
  });

  it('keeps nothing when its bound is nothing', () => {
    const cache = cacheAt(1, 0);
    cache.add(version(1), document('a'), file('A'));
    expect(cache.current(document('a'))).toBeUndefined();
  });
});
