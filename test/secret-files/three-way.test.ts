import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dotenv } from '../../src/secret-files/dotenv.ts';
import type { ScalarPlace, SecretFile } from '../../src/secret-files/format.ts';
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
        const { expected, disputed, ...texts } = align(fileOf(was), fileOf(mine), fileOf(others), new Map());
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
        const aligned = align(fileOf(was), fileOf(mine), fileOf(was), new Map());
        expect(aligned.ours).toBe(fileOf(mine).text);
        expect(isAsExpected(fileOf(mine), aligned)).toBe(true);
      }),
    );
  });
});

/** Parses a file with ciphertexts such as `v1:3p`: the version, a nonce and the plaintext. */
const sealedFile = (text: string): SecretFile =>
  dotenv.parse(text.replaceAll(/v(\d):(\w\w)/g, 'coffer:app:v$1:$2AA'), 'a.env');

/** Aligns such files with everything that a key tells of values in question. */
function alignedWithKey(...texts: readonly [was: string, ours: string, theirs: string]) {
  const [was, ours, theirs] = texts.map(sealedFile) as [SecretFile, SecretFile, SecretFile];
  const plaintexts = inQuestion(was, ours, theirs)
    .flatMap((sides) => [sides.was, sides.ours, sides.theirs])
    .flatMap((place): [ScalarPlace, string][] =>
      place === undefined ? [] : [[place, place.sealed?.payload[1] ?? place.source]],
    );
  return { ours, aligned: align(was, ours, theirs, new Map(plaintexts)) };
}

describe('align with a key', () => {
  it.each([
    ['we encrypted it again, they changed it', 'A=v1:1p', 'A=v2:2p', 'A=v1:3q', 'A=v1:3q'],
    ['we changed it, they encrypted it again', 'A=v1:1p', 'A=v1:2q', 'A=v2:3p', 'A=v1:2q'],
    ['both encrypted it again', 'A=v1:1p', 'A=v2:2p', 'A=v2:3p', 'A=v2:2p'],
    ['both did, they with a newer version', 'A=v1:1p', 'A=v2:2p', 'A=v3:3p', 'A=v3:3p'],
    ['both changed it in the same way', 'A=v1:1p', 'A=v1:2q', 'A=v1:3q', 'A=v1:2q'],
    ['both encrypted a readable one, they changed it', 'A=p', 'A=v1:2p', 'A=v1:3q', 'A=v1:3q'],
    ['both added it', '', 'A=v1:2q', 'A=v1:3q', 'A=v1:2q'],
    ['we encrypted it again, they removed it', 'A=v1:1p\nB=x', 'A=v2:2p\nB=x', 'B=x', 'B=x'],
    ['we removed it, they encrypted it again', 'A=v1:1p\nB=x', 'B=x', 'A=v2:2p\nB=x', 'B=x'],
    [
      'one of two with the same name was changed',
      'A=v1:1p\nA=v1:1q',
      'A=v2:2p\nA=v2:2q',
      'A=v1:1p\nA=v1:3r',
      'A=v2:2p\nA=v1:3r',
    ],
    [
      'the second of two with the same name is equal, and the first was changed',
      'A=v1:1p\nA=v1:1q',
      'A=v1:1p\nA=v2:2q',
      'A=v1:3r\nA=v2:3q',
      'A=v1:3r\nA=v2:2q',
    ],
  ])('takes the change of the side that has one: %s', (_, was, ours, theirs, merged) => {
    const { aligned } = alignedWithKey(was, ours, theirs);
    expect(aligned.disputed).toEqual([]);
    expect(isAsExpected(sealedFile(merged), aligned)).toBe(true);
  });

  it('takes ours of two ciphertexts that are the same value, in all three texts', () => {
    const { ours, aligned } = alignedWithKey('A=v1:1p', 'A=v1:2q', 'A=v1:3q');
    expect([aligned.base, aligned.ours, aligned.theirs]).toEqual([ours.text, ours.text, ours.text]);
  });

  it('leaves git nothing to decide about a value that one side removed and the other encrypted again', () => {
    const { ours, aligned } = alignedWithKey('A=v1:1p\nB=x', 'A=v2:2p\nB=x', 'B=x');
    expect([aligned.base, aligned.ours, aligned.theirs]).toEqual([ours.text, ours.text, 'B=x']);
  });

  it.each([
    ['both changed it', 'A=v1:1p', 'A=v1:2q', 'A=v1:3r'],
    ['both added it', '', 'A=v1:2q', 'A=v1:3r'],
    ['we changed it, they removed it', 'A=v1:1p', 'A=v1:2q', ''],
    ['both encrypted and changed a readable one', 'A=p', 'A=v1:2q', 'A=v1:3r'],
    ['we encrypted a readable one, they changed it', 'A=p', 'A=v1:2p', 'A=q'],
    ['we encrypted it again, they made it readable', 'A=v1:1p', 'A=v2:2p', 'A=p'],
    ['we made it readable, they encrypted it again', 'A=v1:1p', 'A=p', 'A=v2:2p'],
  ])('takes no side where both have a change: %s', (_, was, ours, theirs) => {
    const { aligned } = alignedWithKey(was, ours, theirs);
    expect(aligned.disputed).toEqual(['A']);
    expect([aligned.base, aligned.ours, aligned.theirs]).toEqual(
      [was, ours, theirs].map((text) => sealedFile(text).text),
    );
  });

  it('takes no side of what only the key of the base could tell', () => {
    const [was, ours, theirs] = ['A=v1:1p', 'A=v2:2p', 'A=v1:3q'].map(sealedFile) as [
      SecretFile,
      SecretFile,
      SecretFile,
    ];
    const known = new Map([ours, theirs].flatMap(({ places }) => places.map((place) => [place, place.text])));
    expect(align(was, ours, theirs, known).disputed).toEqual(['A']);
  });
});

describe('inQuestion', () => {
  const sealed = (digit: number): string => `coffer:app:v1:${digit}AAA`;
  it.each([
    ['two encrypted values, of which both are new', sealed(1), sealed(2), sealed(3), true],
    ['one that we encrypted again and they removed', sealed(1), sealed(2), undefined, true],
    ['one that we removed and they encrypted again', sealed(1), undefined, sealed(2), true],
    ['one that both have added', undefined, sealed(1), sealed(2), true],
    ['one that both have encrypted', 'x', sealed(1), sealed(2), true],
    ['one that only we have removed', sealed(1), undefined, sealed(1), false],
    ['one that we encrypted and they changed', 'x', sealed(1), 'y', false],
    ['an encrypted value that is the same on both sides', sealed(1), sealed(2), sealed(2), false],
    ['one that only we have changed', sealed(1), sealed(2), sealed(1), false],
    ['one that only they have changed', sealed(1), sealed(1), sealed(2), false],
    ['one that we made readable', sealed(1), 'x', sealed(2), false],
    ['one that they made readable', sealed(1), sealed(2), 'x', false],
    ['two readable ones', '1', '2', '3', false],
  ])('says of %s whether only a key can tell if they are equal', (_, was, mine, others, isAsked) => {
    const [base, ours, theirs] = [was, mine, others].map((value) =>
      fileOf(value === undefined ? {} : { A: value }),
    );
    if (base === undefined || ours === undefined || theirs === undefined) throw new Error('three were made');
    expect(inQuestion(base, ours, theirs)).toHaveLength(isAsked ? 1 : 0);
  });
});

describe('isAsExpected', () => {
  it('says no as long as a value is disputed', () => {
    const aligned = align(fileOf({ A: '1' }), fileOf({ A: '2' }), fileOf({ A: '3' }), new Map());
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
      new Map(),
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
