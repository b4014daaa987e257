import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NameSearch } from '../../src/tags/name-search.ts';
import type { TableLeaf } from '../../src/tags/record-table.ts';

const KEY = 'k'.repeat(12);

const leafOf = (names: readonly string[]): TableLeaf => ({
  names: names.map((name) => `${name}\n`).join(''),
  keys: names.map((_, i) => String(i).padStart(12, '0')).join(''),
});

function searchOver(names: readonly string[], leafSize = 7): NameSearch {
  const leaves: TableLeaf[] = [];
  for (let i = 0; i < names.length; i += leafSize) leaves.push(leafOf(names.slice(i, i + leafSize)));
  return new NameSearch(leaves);
}

const found = (search: NameSearch, query: string): string[] =>
  [...search.find(query)].map((place) => search.at(place).name);

const letter = fc.constantFrom(...'ab-_:0');
const name = fc.string({ unit: letter, minLength: 1, maxLength: 9 });
const query = fc.string({ unit: fc.constantFrom(...'abA-_:0%é '), maxLength: 5 });

/** As obvious as can be. */
const plainly = (names: readonly string[], text: string): string[] =>
  names.filter((candidate) =>
    candidate.toLowerCase().includes(text.replace(/[A-Z]/g, (c) => c.toLowerCase())),
  );

describe('the search for names', () => {
  it('finds what contains the text, with nothing in it a wildcard', () => {
    fc.assert(
      fc.property(fc.uniqueArray(name), query, (unsorted, text) => {
        const names = unsorted.sort();
        expect(found(searchOver(names), text)).toEqual(plainly(names, text));
      }),
    );
  });

  it('finds the same by its index, which many searches over many names make worth while', () => {
    const names = Array.from(
      { length: 5000 },
      (_, i) => `${'abc'[i % 3]}${'-_:'[(i % 7) % 3]}a${(i * 7919) % 5000}`,
    ).sort();
    const search = searchOver(names, 100);
    for (let i = 0; i < 20; i++) search.find(`warm-${i}`);
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'abcABC-_:0123456789%'), minLength: 3, maxLength: 6 }),
        (text) => {
          expect(found(search, text)).toEqual(plainly(names, text));
        },
      ),
    );
    const some = names[1234] ?? '';
    expect(found(search, some)).toEqual(plainly(names, some));
    expect(found(search, some.slice(1, 5))).toEqual(plainly(names, some.slice(1, 5)));
  });

  it('finds nothing that has all parts of a text, but not the text', () => {
    const names = Array.from({ length: 2500 }, (_, i) => `abc-bcd-cde-${i}`).sort();
    const search = searchOver(names, 100);
    for (let i = 0; i < 20; i++) search.find(`warm-${i}`);
    for (const text of ['abcd', 'abcde', 'bcde']) expect(found(search, text)).toEqual([]);
    expect(found(search, 'abc')).toHaveLength(2500);
  });

  it('does not count a name twice that has the same three letters twice', () => {
    const names = Array.from({ length: 2500 }, (_, i) => `abcabc${i}`).sort();
    const search = searchOver(names, 100);
    for (let i = 0; i < 20; i++) search.find(`warm-${i}`);
    expect(search.find('abc')).toHaveLength(2500);
  });

  it('gives each name the key that stands beside it', () => {
    const search = searchOver(['a', 'b', 'c', 'd'], 3);
    expect([...search.find('')].map((place) => search.at(place).key.slice(-1))).toEqual(['0', '1', '2', '0']);
    expect(KEY).toHaveLength(12);
  });

  it('finds the longest name there may be by all of it', () => {
    const longest = 'a'.repeat(255);
    expect(found(searchOver(['a', longest]), longest)).toEqual([longest]);
  });

  it('answers nothing to a text longer than any name', () => {
    expect(searchOver(['a']).find('a'.repeat(256))).toHaveLength(0);
  });
});
