import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dotenv } from '../../src/secret-files/dotenv.ts';
import { placeOf } from '../../src/secret-files/format.ts';
import { anyText } from '../any-text.ts';
import { rounds } from '../long.ts';
import { refusal } from '../refusal.ts';

const meanings = (text: string) => dotenv.parse(text, '.env').places.map((place) => [place.name, place.text]);
const sources = (text: string) => dotenv.parse(text, '.env').places.map(({ source }) => source);

describe('a .env file', () => {
  it.each([
    ['A=1', '1'],
    ['export A=1', '1'],
    ['  A = 1  ', '1'],
    ['A: 1', '1'],
    ['A=', ''],
    ['A=a b', 'a b'],
    ['A=a # comment', 'a'],
    ['A=a#b', 'a#b'],
    ['A=# comment', ''],
    [`A='a # b'`, 'a # b'],
    [`A='it\\n'`, 'it\\n'],
    ['A="a\\nb\\t\\"c\\"\\\\"', 'a\nb\t"c"\\'],
    ['A="two\nlines" # comment', 'two\nlines'],
    [`A='two\nlines'`, 'two\nlines'],
    ['A=`it\'s "so"`', 'it\'s "so"'],
    ['A=$HOME/$(id)', '$HOME/$(id)'],
    ['A="C:\\dir\\"', 'C:\\dir\\'],
    ['A="open', '"open'],
    ['A="a" b', '"a" b'],
    ['\ufeffA=1', '1'],
    ['A=1\r', '1'],
  ])('means by %j the value %j', (text, value) => {
    expect(meanings(text)).toEqual([['A', value]]);
  });

  it('has all its values in order, with comments and empty lines between', () => {
    const text = '# one\nA=1\n\n  # two\r\nB="x\ny"\nexport C\nA=2';
    expect(meanings(text)).toEqual([
      ['A', '1'],
      ['B', 'x\ny'],
      ['A', '2'],
    ]);
    expect(placeOf(dotenv.parse(text, '.env'), 'A')?.text).toBe('2');
  });

  it('keeps the quotes as a part of what is encrypted', () => {
    expect(sources('A="x" # c\nB=y z  # c\n')).toEqual(['"x"', 'y z']);
  });

  it.each([
    ['A=1\nthis is nothing\n', 2],
    ['A="-----BEGIN\nabcdef\n', 2],
    ['A=1\n\nMIIabc\n', 3],
    ['=1', 1],
  ])('is refused as %j, naming line %i', (text, line) => {
    expect(refusal(() => dotenv.parse(text, 'x.env'))).toMatchObject({
      kind: 'invalid',
      message: `x.env:${line}: this line is neither NAME=value nor a comment`,
    });
  });

  it('is refused with the markers of a merge in it', () => {
    const text = 'A=1\n<<<<<<< HEAD\nB=1\n=======\nB=2\n>>>>>>> other\n';
    expect(refusal(() => dotenv.parse(text, 'x.env')).message).toBe('x.env:2: unresolved merge conflict');
  });

  it('reads back any text that was written into it', () => {
    fc.assert(
      fc.property(anyText(), (value) => {
        const file = dotenv.parse('# c\nA=1 # tail\nB=2\n', '.env');
        const text = file.added('NEW', value);
        expect(meanings(text)).toEqual([
          ['A', '1'],
          ['B', '2'],
          ['NEW', value],
        ]);
      }),
      { numRuns: rounds(500) },
    );
  });

  it.each([
    ['A=1', 'A=1\nNEW=x'],
    ['A=1\r\n', 'A=1\r\nNEW=x\r\n'],
    ['', 'NEW=x\n'],
    ['\ufeff', '\ufeffNEW=x\n'],
  ])('gets a new line at the end of %j in its own manner', (text, result) => {
    expect(dotenv.parse(text, '.env').added('NEW', 'x')).toBe(result);
  });

  it('loses the whole line of a value that is taken out, and no other', () => {
    const file = dotenv.parse('# c\nA=1\nexport B="x\ny" # t\nC=3', '.env');
    expect(file.places.map((place) => file.removed(place))).toEqual([
      '# c\nexport B="x\ny" # t\nC=3',
      '# c\nA=1\nC=3',
      '# c\nA=1\nexport B="x\ny" # t\n',
    ]);
  });

  it('takes no name that its readers would not', () => {
    expect(refusal(() => dotenv.parse('', '.env').added('a b', 'x'))).toMatchObject({ kind: 'invalid' });
  });
});
