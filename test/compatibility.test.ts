import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type Branch, catalogue, type Entry, isEntry } from '../src/operations/catalogue.ts';
import type { Operation } from '../src/operations/declaration/operation.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(`${root}docs/compatibility.md`, 'utf8');

/** Rows of the page's table: operation, parameter, test file, title of the test. */
const rows = [
  ...page.matchAll(/^\| `([^`]+)` \| `([^`]+)` \| \[[^\]]+\]\(\.\.\/([^)]+)\) \| (.+?) \|$/gm),
].map(([, operation = '', parameter = '', file = '', title = '']) => ({ operation, parameter, file, title }));

const entriesOf = (branch: Branch, words: readonly string[] = []): [string, Entry<Operation>][] =>
  Object.entries(branch).flatMap(([word, node]) =>
    isEntry(node)
      ? [[[...words, word].join(' '), node] as [string, Entry<Operation>]]
      : entriesOf(node, [...words, word]),
  );

describe('the page on compatibility', () => {
  it('has a row for every parameter of every transit operation, and none for what is not there', async () => {
    const declared = await Promise.all(
      entriesOf(catalogue.transit, ['transit']).map(async ([path, entry]) =>
        Object.keys((await entry.load()).declaration.params).map((parameter) => `${path} ${parameter}`),
      ),
    );
    const listed = rows.map(({ operation, parameter }) => `${operation} ${parameter}`);
    expect(declared.flat().filter((name) => !listed.includes(name))).toEqual([]);
    expect(listed.filter((name) => !declared.flat().includes(name))).toEqual([]);
  });

  it('names tests that exist', () => {
    const wrong = rows.filter(
      ({ file, title }) => !existsSync(root + file) || !readFileSync(root + file, 'utf8').includes(title),
    );
    expect(wrong).toEqual([]);
    expect(rows.length).toBeGreaterThan(0);
  });
});
