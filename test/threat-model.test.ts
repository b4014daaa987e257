import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(join(root, 'docs/threat-model.md'), 'utf8');

const ATTACKERS = [
  'A stranger who reaches a server',
  'A caller with few rights',
  'Another user of the machine',
  'A program of the same user',
  'Anyone who can write to a repository',
  'A forwarded machine',
];

/** The tables that name tests, by the heading above: rows of what is tried, what comes of it, and what shows it. */
const tables = page.split(/^##+ /m).flatMap((section) => {
  const [heading = '', ...lines] = section.split('\n');
  const start = lines.findIndex((line) => line.endsWith('| tested by |'));
  if (start === -1) return [];
  const rows = lines.slice(start + 2);
  const end = rows.findIndex((line) => !line.startsWith('|'));
  return [{ heading, rows: end === -1 ? rows : rows.slice(0, end) }];
});
const rows = tables.flatMap((table) => table.rows);

/** Links to tests in the last cell of a row: their titles are the texts. */
const testsOf = (row: string): { readonly title: string; readonly file: string }[] =>
  [...row.matchAll(/\[((?:[^\]]|\](?!\())+)\]\(\.\.\/(test\/[^)]+)\)/g)].map(([, title = '', file = '']) => ({
    title,
    file,
  }));

const hasTitle = ({ title, file }: { title: string; file: string }): boolean =>
  existsSync(join(root, file)) && readFileSync(join(root, file), 'utf8').includes(title);

describe('the page on threats', () => {
  it.each(ATTACKERS)('tells of this attacker with a table of what was tried: %s', (attacker) => {
    expect(tables.find(({ heading }) => heading === attacker)?.rows.length).toBeGreaterThan(0);
  });

  it('has in each row of its tables a test that exists, or why none can be', () => {
    const unproven = rows.filter((row) => {
      const last = row.slice(0, -1).split(' | ').at(-1)?.trim() ?? '';
      if (/^none: ./.test(last)) return false;
      const tests = testsOf(last);
      return tests.length === 0 || !tests.every(hasTitle);
    });
    expect(unproven).toEqual([]);
  });

  it('is read row by row, and a title that no test has is found', () => {
    expect(testsOf('| a | b | [one, two](../test/x.test.ts) |')).toEqual([
      { title: 'one, two', file: 'test/x.test.ts' },
    ]);
    const [here] = testsOf('[is read row by row](../test/threat-model.test.ts)');
    expect(here && hasTitle(here)).toBe(true);
    expect(hasTitle({ title: ['no such', 'title'].join(' '), file: 'test/threat-model.test.ts' })).toBe(
      false,
    );
  });
});
