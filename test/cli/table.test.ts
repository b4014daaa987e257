import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawTable } from '../../src/cli/terminal/table.ts';

const table = {
  head: ['Name', 'Instances', 'Created'],
  rows: [
    ['env:prod', '12', '2026-11-21T10:05:30Z'],
    ['a-name-that-is-much-longer-than-all-others', '0', '2026-11-21T10:05:31Z'],
  ],
  summary: 'Page 1 of 1, 2 tags',
};

describe('drawTable', () => {
  it('draws lines for people, the head set off from the rows', () => {
    expect(
      drawTable(
        { ...table, rows: [['env:prod', '12', 'today']] },
        { boxed: true, colour: false, columns: 80 },
      ),
    ).toBe(
      [
        '┌──────────┬───────────┬─────────┐',
        '│ Name     │ Instances │ Created │',
        '├──────────┼───────────┼─────────┤',
        '│ env:prod │ 12        │ today   │',
        '└──────────┴───────────┴─────────┘',
        'Page 1 of 1, 2 tags',
        '',
      ].join('\n'),
    );
  });

  it('aligns with blanks alone where there is no terminal', () => {
    expect(
      drawTable(
        { ...table, rows: [['env:prod', '12', 'today']] },
        { boxed: false, colour: false, columns: 80 },
      ),
    ).toBe(
      ['Name      Instances  Created', 'env:prod  12         today', 'Page 1 of 1, 2 tags', ''].join('\n'),
    );
  });

  it('colours the head only when told to', () => {
    expect(drawTable(table, { boxed: true, colour: true, columns: 100 })).toContain(
      '\u001b[1mName\u001b[22m',
    );
    expect(drawTable(table, { boxed: true, colour: false, columns: 100 })).not.toContain('\u001b');
  });

  it('takes room from the widest column first', () => {
    const drawn = drawTable(table, { boxed: true, colour: false, columns: 60 });
    expect(drawn).toContain('│ Instances │');
    expect(drawn).toContain('│ 2026-11-21T10:05:30Z │');
    expect(drawn).toContain('│ a-name-that-is-much');
  });

  it('draws a row of a long table as it draws that of a short one', () => {
    const cell = fc.stringMatching(/^[a-z 漢é-]{0,40}$/);
    const cases = fc.record({
      rows: fc
        .integer({ min: 1, max: 4 })
        .chain((width) =>
          fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 20 }),
        ),
      titles: fc.constantFrom('', 'Head'),
      style: fc.record({
        boxed: fc.boolean(),
        colour: fc.boolean(),
        plain: fc.boolean(),
        columns: fc.integer({ min: 40, max: 150 }),
      }),
    });
    fc.assert(
      fc.property(cases, ({ rows, titles, style }) => {
        const head = (rows[0] ?? []).map(() => titles);
        const short = drawTable({ head, rows }, style).split('\n');
        const long = drawTable({ head, rows: Array.from({ length: 101 }, () => rows).flat() }, style).split(
          '\n',
        );
        const below = style.boxed ? 2 : 1;
        const above = short.length - below - (long.length - short.length) / 100;
        expect(Number.isInteger(above)).toBe(true);
        const body = short.slice(above, -below);
        const all = Array.from({ length: 101 }, () => body).flat();
        expect(long).toEqual([...short.slice(0, above), ...all, ...short.slice(-below)]);
      }),
    );
  });

  it.each([true, false])('draws more rows than a function can have arguments, boxed: %s', (boxed) => {
    const rows = Array.from({ length: 130_000 }, (_, row) => [`key-${row}`, 'aes256-gcm96']);
    const drawn = drawTable({ head: ['Name', 'Type'], rows }, { boxed, colour: false, columns: 80 });
    expect(drawn).toContain('key-129999');
    expect(drawn.split('\n').length).toBe(rows.length + (boxed ? 5 : 2));
  });

  describe('with lesser columns', () => {
    const tags = (name: string) => ({
      head: ['Name', 'Instances', 'Created', 'Id'],
      rows: [[name, '12', '3 hours ago', 'tag-G9hoWHT5Dnda5p6S']],
      lesser: [3, 2],
    });
    const drawn = (name: string, columns: number, wide = false) =>
      drawTable(tags(name), { boxed: true, colour: false, columns, wide });

    it('leaves them out one after the other where it is too wide', () => {
      expect(drawn('env:prod', 80)).toContain('tag-G9hoWHT5Dnda5p6S');
      expect(drawn('env:production', 60)).not.toContain('Id');
      expect(drawn('env:production', 60)).toContain('3 hours ago');
      expect(drawn('env:production', 40)).not.toContain('Created');
      expect(drawn('env:production', 40)).toContain('env:production');
    });

    it('has at most six lines for a tag of 120 characters, and four from 60 columns on', () => {
      for (let columns = 40; columns <= 200; columns += 1) {
        const lines = drawn('x'.repeat(120), columns).split('\n');
        expect(lines.length - 5).toBeLessThanOrEqual(columns < 60 ? 6 : 4);
        expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
      }
    });

    it('breaks no word of them, at any width', () => {
      for (let columns = 40; columns <= 200; columns += 1) {
        const text = drawn('a-key-with-a-rather-long-name', columns);
        for (const word of ['3 hours ago', 'tag-G9hoWHT5Dnda5p6S', 'Created', 'Id'])
          expect(text.includes(word) || !text.includes(word.slice(0, 5).trim())).toBe(true);
      }
    });

    it('leaves one out before it breaks a word of up to half the width, and breaks a longer one', () => {
      const withWord = (length: number): string =>
        drawTable(
          { head: ['A', 'B'], rows: [['x'.repeat(length), 'y'.repeat(30)]], lesser: [1] },
          { boxed: true, colour: false, columns: 60 },
        );
      expect(withWord(30)).not.toContain('B');
      expect(withWord(30)).toContain('x'.repeat(30));
      expect(withWord(31)).toContain('B');
    });

    it('has all of them with wide, as a list where they do not fit', () => {
      expect(drawn('env:prod', 80, true)).toContain('│ tag-G9hoWHT5Dnda5p6S │');
      expect(drawn('x'.repeat(120), 40, true)).toBe(
        `Name: ${'x'.repeat(120)}\nInstances: 12\nCreated: 3 hours ago\nId: tag-G9hoWHT5Dnda5p6S\n\n`,
      );
    });
  });

  it('leaves out an empty column before it shortens or breaks anything, and only then', () => {
    const name = 'a-key-of-the-payments-team-with-a-long-name';
    const keys = (rotated: string) => ({
      head: ['Name', 'Type', 'Rotated'],
      rows: [
        [name, 'ed25519', ''],
        ['b', 'ed25519', rotated],
      ],
    });
    const drawn = (rotated: string, columns: number, wide = false) =>
      drawTable(keys(rotated), { boxed: true, colour: false, columns, wide });
    expect(drawn('', 60)).toContain(`│ ${name} │ ed25519 │\n`);
    expect(drawn('', 60)).not.toContain('Rotated');
    expect(drawn('', 80)).toContain('Rotated');
    expect(drawn('', 60, true)).toContain('Rotated');
    expect(drawn('x', 60)).toContain('Rotated');
  });

  it('breaks cells at words', () => {
    const style = { boxed: true, colour: false, columns: 40 };
    const rows = [['a', 'an attacker with the file can guess it']];
    expect(drawTable({ head: ['A', 'B'], rows }, style)).toContain('│ a │ an attacker with the file can ');
  });

  it('has no head row without titles', () => {
    const drawn = drawTable(
      { head: ['', ''], rows: [['Name', 'web']] },
      { boxed: true, colour: false, columns: 80 },
    );
    expect(drawn).toBe('┌──────┬─────┐\n│ Name │ web │\n└──────┴─────┘\n');
  });

  it('never gets wider than the terminal, and loses no letter', () => {
    const cell = fc.string({ unit: fc.constantFrom(...'abc 世界-é'), maxLength: 60 });
    const rows = fc.array(
      fc.tuple(cell, cell, cell).map((cells) => [...cells]),
      { minLength: 1, maxLength: 5 },
    );
    fc.assert(
      fc.property(rows, fc.integer({ min: 40, max: 200 }), (cells, columns) => {
        const drawn = drawTable(
          { head: ['A', 'B', 'C'], rows: cells },
          { boxed: true, colour: false, columns },
        );
        const wide = (line: string): number => [...line].length + (line.match(/[世界]/g)?.length ?? 0);
        expect(Math.max(...drawn.split('\n').map(wide))).toBeLessThanOrEqual(columns);
        const letters = (text: string): string =>
          [...text]
            .filter((letter) => 'abc世界-é'.includes(letter))
            .sort()
            .join('');
        expect(letters(drawn)).toBe(letters(cells.flat().join('')));
      }),
      { numRuns: 100 },
    );
  });
});
