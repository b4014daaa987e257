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
