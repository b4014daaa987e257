import { describe, expect, it } from 'vitest';
import {
  type Journal,
  parseJournal,
  printJournal,
} from '../../../src/store/backends/files/format-1/recovery.ts';
import { printChecked } from '../../../src/store/checked-json.ts';
import { refusal } from '../../refusal.ts';

const SHA256 = 'ab'.repeat(32);
const change = { area: 'slots', name: '0123456789abcdef', sha256: SHA256 };
const usual = { format: 1, generation: 1, revision: 2, changes: [change] };
const parsed = (members: object) => parseJournal(printChecked({ ...usual, ...members }), '/store/journal');

describe('the journal of a commit', () => {
  it('is read as it was written', () => {
    const journal: Journal = {
      from: { generation: 3, revision: 7 },
      entries: [
        { ref: { area: 'slots', name: 'a' }, sha256: undefined },
        { ref: { area: 'documents', name: 'f'.repeat(64) }, sha256: SHA256 },
      ],
    };
    expect(parseJournal(printJournal(journal), 'f')).toEqual(journal);
    expect(parsed({}).entries).toEqual([{ ref: { area: 'slots', name: change.name }, sha256: SHA256 }]);
  });

  const names = ['', '.', '..', '../x', 'a/b', '/etc/passwd', 'A', 'g', 'a\0', 'a\n', 'f'.repeat(65), 1];
  const each = (member: string, values: readonly unknown[]): [string, readonly object[]] => [
    `a change whose ${member} is none`,
    values.map((value) => ({ changes: [change, { ...change, [member]: value }] })),
  ];
  it.each<[string, readonly object[]]>([
    ['another format', [{ format: 2 }, { format: undefined }]],
    ['a state that is none', [{ generation: '1' }, { revision: null }]],
    ['no changes', [[], undefined, { 0: change }].map((changes) => ({ changes }))],
    ['a change that is no object', [null, 'x', []].map((value) => ({ changes: [change, value] }))],
    each('name', names),
    each('area', ['state', 'slots/..', '', undefined, 1]),
    each('sha256', ['', 'ab', 'AB'.repeat(32), `${SHA256}0`, undefined, 1]),
  ])('is damaged with %s, so that nothing outside the store is ever written', (_, cases) => {
    for (const members of cases) {
      expect(refusal(() => parsed(members))).toMatchObject({
        kind: 'corrupt',
        message: '/store/journal is damaged',
      });
    }
  });

  it('is damaged with another revision than it was written with', () => {
    const bytes = printChecked(usual);
    const other = Buffer.from(bytes.toString().replace('"revision":2', '"revision":3'));
    expect(other.equals(bytes)).toBe(false);
    expect(refusal(() => parseJournal(other, '/store/journal')).kind).toBe('corrupt');
  });
});
