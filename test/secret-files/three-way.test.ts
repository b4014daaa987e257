import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dotenv } from '../../src/secret-files/dotenv.ts';
import { align, inQuestion, isAsExpected, sidesOf } from '../../src/secret-files/three-way.ts';

const fileOf = (values: Readonly<Record<string, string>>) =>
  dotenv.parse(
    Object.entries(values)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
    'a.env',
  );

const values = fc.dictionary(fc.constantFrom('A', 'B', 'C', 'D'), fc.constantFrom('1', '2', '3'), {
  maxKeys: 4,
});

describe('align', () => {
  it('gives all three sides the value of the side that changed it, and says what both did', () => {
    fc.assert(
      fc.property(values, values, values, (was, mine, others) => {
        const { expected, disputed, ...texts } = align(fileOf(was), fileOf(mine), fileOf(others), new Set());
        for (const name of ['A', 'B', 'C', 'D']) {
          const [base, ours, theirs] = [was[name], mine[name], others[name]];
          const isDisputed = ours !== theirs && ours !== base && theirs !== base;
          expect(disputed.includes(name)).toBe(isDisputed);
          if (isDisputed) continue;
          const outcome = ours === base ? theirs : ours;
          expect(expected.get(name)).toBe(outcome);
          if (outcome === undefined) continue;
          for (const text of [texts.base, texts.ours, texts.theirs]) {
            const place = dotenv.parse(text, 'a.env').places.find((candidate) => candidate.name === name);
            if (place !== undefined) expect(place.source).toBe(outcome);
          }
        }
      }),
    );
  });

  it('leaves a side as it is when nothing was changed on the other', () => {
    fc.assert(
      fc.property(values, values, (was, mine) => {
        const aligned = align(fileOf(was), fileOf(mine), fileOf(was), new Set());
        expect(aligned.ours).toBe(fileOf(mine).text);
        expect(isAsExpected(fileOf(mine), aligned)).toBe(true);
      }),
    );
  });

  it('takes ours of two ciphertexts that are the same value', () => {
    const [base, ours, theirs] = ['1', '2', '3'].map((digit) => fileOf({ A: `coffer:app:v1:${digit}AAA` }));
    if (base === undefined || ours === undefined || theirs === undefined) throw new Error('three were made');
    expect(inQuestion(base, ours, theirs).map(([{ name }]) => name)).toEqual(['A']);
    const aligned = align(base, ours, theirs, new Set(['A']));
    expect([aligned.base, aligned.ours, aligned.theirs]).toEqual([ours.text, ours.text, ours.text]);
  });
});

describe('inQuestion', () => {
  const sealed = (digit: number): string => `coffer:app:v1:${digit}AAA`;
  it.each([
    ['two encrypted values, of which both are new', sealed(1), sealed(2), sealed(3), true],
    ['an encrypted value that is the same on both sides', sealed(1), sealed(2), sealed(2), false],
    ['one that only we have changed', sealed(1), sealed(2), sealed(1), false],
    ['one that only they have changed', sealed(1), sealed(1), sealed(2), false],
    ['one that we made readable', sealed(1), 'x', sealed(2), false],
    ['one that they made readable', sealed(1), sealed(2), 'x', false],
    ['two readable ones', '1', '2', '3', false],
  ])('says of %s whether only a key can tell if they are equal', (_, was, mine, others, isAsked) => {
    const [base, ours, theirs] = [was, mine, others].map((value) => fileOf({ A: value }));
    if (base === undefined || ours === undefined || theirs === undefined) throw new Error('three were made');
    expect(inQuestion(base, ours, theirs)).toHaveLength(isAsked ? 1 : 0);
  });
});

describe('isAsExpected', () => {
  it('says no as long as a value is disputed', () => {
    const aligned = align(fileOf({ A: '1' }), fileOf({ A: '2' }), fileOf({ A: '3' }), new Set());
    expect(aligned.disputed).toEqual(['A']);
    expect(isAsExpected(fileOf({}), aligned)).toBe(false);
  });

  it.each([
    ['a value that is missing', 'A=1\n'],
    ['a value too many', 'A=1\nB=3\nC=1\n'],
    ['another value', 'A=1\nB=2\n'],
  ])('says no to %s', (_, text) => {
    const aligned = align(
      fileOf({ A: '1', B: '2' }),
      fileOf({ A: '1', B: '3' }),
      fileOf({ A: '1', B: '2' }),
      new Set(),
    );
    expect(isAsExpected(dotenv.parse(text, 'a.env'), aligned)).toBe(false);
    expect(isAsExpected(fileOf({ A: '1', B: '3' }), aligned)).toBe(true);
  });
});

describe('sidesOf', () => {
  it('tells both texts of one with conflicts, with what was before or without it', () => {
    const text = 'a\n<<<<<<< ours\nx\n||||||| base\nw\n=======\ny\nz\n>>>>>>> theirs\nb\n=======\nc\n';
    expect(sidesOf(text)).toEqual(['a\nx\nb\n=======\nc\n', 'a\ny\nz\nb\n=======\nc\n']);
  });

  it('leaves any text without conflicts alone', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!text.includes('<<<<<<<'));
        expect(sidesOf(text)).toEqual([text, text]);
      }),
    );
  });
});
