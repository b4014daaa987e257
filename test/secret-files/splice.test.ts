import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { dotenv } from '../../src/secret-files/dotenv.ts';
import type { FileFormat, SecretFile } from '../../src/secret-files/format.ts';
import { json } from '../../src/secret-files/json.ts';
import { isSecret } from '../../src/secret-files/rules.ts';
import { changedAlone, respliced, spliced } from '../../src/secret-files/splice.ts';
import { formatValue } from '../../src/secret-files/value.ts';
import { yaml } from '../../src/secret-files/yaml.ts';
import { rounds } from '../long.ts';
import { refusal } from '../refusal.ts';

/** A file of some layout. */
interface Sample {
  readonly format: FileFormat;
  readonly text: string;
}

const word = fc.stringMatching(/^[a-z][a-z0-9]{0,6}$/);
const comment = fc.constantFrom('', '', ' # why', '   #  two  blanks');

const dotenvText = fc
  .array(
    fc.record({
      name: word.map((text) => text.toUpperCase()),
      head: fc.constantFrom('', 'export ', '  '),
      equals: fc.constantFrom('=', ' = '),
      value: fc.oneof(
        word,
        fc.constantFrom(
          '',
          '"a b"',
          "'a # b'",
          '"two\nlines"',
          'plain words',
          '"\\"\\n"',
          '`x`',
          '12',
          'a=b',
        ),
      ),
      comment,
      before: fc.constantFrom('', '', '# note\n', '\n'),
    }),
    { maxLength: 8 },
  )
  .map((lines) =>
    lines
      .map((line) => `${line.before}${line.head}${line.name}${line.equals}${line.value}${line.comment}\n`)
      .join(''),
  );

const scalar = fc.oneof(
  word,
  fc.constantFrom(
    '1',
    '0x1F',
    '1.50',
    'true',
    "'it''s'",
    '"a\\tb"',
    '"x: y"',
    '!tag t',
    '&anchor v',
    '~',
    '',
    '""',
  ),
  fc.integer({ min: 0, max: 9 }).map((n) => `[a,  "b", {c: ${n}}]`),
);

/** Lines of a YAML map. */
function yamlMap(depth: number, indent: string): fc.Arbitrary<string> {
  const member = fc.oneof(
    { weight: 4, arbitrary: fc.tuple(scalar, comment).map(([value, tail]) => ` ${value}${tail}\n`) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom('|', '>-', '|+', '>2')
        .map((header) => ` ${header}\n${indent}  one\n${indent}   two\n\n`),
    },
    { weight: 1, arbitrary: fc.constant(`\n${indent}- 1\n${indent}-   k: v\n${indent}    l: "w"\n`) },
    ...(depth === 0
      ? []
      : [{ weight: 2, arbitrary: yamlMap(depth - 1, `${indent}  `).map((inner) => `\n${inner}`) }]),
  );
  return fc
    .uniqueArray(fc.tuple(word, member), { selector: ([key]) => key, minLength: 1, maxLength: 5 })
    .map((members) => members.map(([key, text]) => `${indent}${key}:${text}`).join(''));
}

const sample: fc.Arbitrary<Sample> = fc
  .tuple(
    fc.oneof(
      dotenvText.map((text): Sample => ({ format: dotenv, text })),
      fc
        .array(yamlMap(2, ''), { minLength: 1, maxLength: 2 })
        .map((documents): Sample => ({ format: yaml, text: documents.join('---\n') })),
      fc.tuple(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(undefined, 2, '\t')).map(
        ([value, indent]): Sample => ({
          format: json,
          text: `${JSON.stringify(value, undefined, indent)}\n`,
        }),
      ),
    ),
    fc.boolean(),
    fc.boolean(),
    fc.boolean(),
  )
  .map(([{ format, text }, hasMark, isWindows, isOpen]) => {
    const ended = isOpen ? text.replace(/\n$/, '') : text;
    return {
      format,
      text: `${hasMark ? '\ufeff' : ''}${isWindows ? ended.replaceAll('\n', '\r\n') : ended}`,
    };
  });

let last = 0;
const token = (): string =>
  formatValue({
    mount: 'transit',
    key: 'app',
    version: 1,
    payload: Buffer.from(`${last++}`.padStart(30)).toString('base64'),
  });

/** The file with all its secrets replaced by tokens, and what they stand for. */
function sealed({ format, text }: Sample, isMeant: (index: number) => boolean = () => true) {
  const file = format.parse(text, 'f');
  // What has a second name for some is never encrypted.
  const places = file.places.filter(
    (place, index) => isSecret(place, undefined) && isMeant(index) && place.otherNameAt === undefined,
  );
  const sources = new Map(places.map((place) => [place, file.written(place, token())]));
  return { file, sources, result: respliced(format, 'f', file, sources) };
}

const backAgain = (format: FileFormat, file: SecretFile, result: SecretFile): string =>
  respliced(
    format,
    'f',
    result,
    new Map(result.places.map((place, index) => [place, file.places[index]?.source ?? ''])),
  ).text;

describe('values exchanged in a file', () => {
  it('are sealed where they stand, and every other character stays', () => {
    fc.assert(
      fc.property(sample, (some) => {
        const { file, sources, result } = sealed(some);
        const rest = (text: string, places: SecretFile['places']): readonly string[] => {
          const ends = [0, ...places.map(({ end }) => end)];
          return [...places, { start: text.length }].map(({ start }, index) =>
            text.slice(ends[index], start),
          );
        };
        expect(rest(result.text, result.places)).toEqual(rest(file.text, file.places));
        for (const [index, place] of file.places.entries())
          expect(result.places[index]?.sealed !== undefined).toBe(sources.has(place));
      }),
      { numRuns: rounds(300) },
    );
  });

  it('come back byte for byte, with the types they had', () => {
    fc.assert(
      fc.property(sample, (some) => {
        const { file, result } = sealed(some);
        expect(backAgain(some.format, file, result)).toBe(some.text);
      }),
      { numRuns: rounds(300) },
    );
  });

  it('keep the lines of values that nobody touched', () => {
    fc.assert(
      fc.property(sample, fc.nat(), (some, chosen) => {
        const { result } = sealed(some);
        const tokens = result.places.filter((place) => place.sealed !== undefined);
        const place = tokens[chosen % Math.max(tokens.length, 1)];
        if (place === undefined) return;
        const text = spliced(result, new Map([[place, result.written(place, token())]]));
        const [before, after] = [result.text.split('\n'), text.split('\n')];
        expect(after.length).toBe(before.length);
        expect(after.filter((line, index) => line !== before[index])).toHaveLength(1);
      }),
      { numRuns: 200 },
    );
  });

  it('are refused when they would be more than a value', () => {
    const file = yaml.parse('a: 1\nb: 2\n', 'f');
    const [place] = file.places;
    for (const source of ['1\nadmin: true', '{x: 1}', '1 # b', '- 1', '"open', ' 1']) {
      const made = () => respliced(yaml, 'f', file, new Map(place === undefined ? [] : [[place, source]]));
      expect(refusal(made)).toMatchObject({
        kind: 'invalid',
        message: 'f:1: a: the decrypted text cannot be written into this file',
      });
    }
  });

  it('are set only where nothing else becomes another thing by it', () => {
    const file = yaml.parse('a: 1\nb: 2\n', 'f');
    expect(changedAlone(yaml, 'f', { before: file, text: 'a: 3\nb: 2\n', name: 'a' }).places[0]?.source).toBe(
      '3',
    );
    for (const text of ['a: 3\nb: 3\n', 'a: 3\n', 'a: 3\nb: 2\nc: 1\n', 'a: [\n']) {
      expect(refusal(() => changedAlone(yaml, 'f', { before: file, text, name: 'a' }))).toMatchObject({
        kind: 'invalid',
      });
    }
  });
});

describe('a merge of two changes to different values', () => {
  const directory = mkdtempSync(join(tmpdir(), 'coffer-merge-'));
  afterAll(() => rmSync(directory, { recursive: true }));

  it.each([
    [dotenv, 'A="1"\n\n# c\nB=2\n\nC=3\n', ['A', 'C']],
    [yaml, 'db:\n  user: u\n\n  password: p # c\nother: x\n', ['db.user', 'other']],
    [json, '{\n  "a": 1,\n  "b": {\n    "c": 2\n  }\n}\n', ['a', 'b.c']],
  ] as const)('needs no hand (case %#)', (format, text, names) => {
    const base = sealed({ format, text }).result;
    const changed = (name: string): string =>
      spliced(
        base,
        new Map(
          base.places
            .filter((place) => place.name === name)
            .map((place) => [place, base.written(place, token())]),
        ),
      );
    const texts = [changed(names[0]), base.text, changed(names[1])];
    const files = texts.map((content, index) => {
      const path = join(directory, `${format.name}-${index}`);
      writeFileSync(path, content);
      return path;
    });
    const { status, stdout } = spawnSync('git', ['merge-file', '-p', ...files], { encoding: 'utf8' });
    expect(status).toBe(0);
    const merged = format.parse(stdout, 'f').places.map(({ source }) => source);
    const [ours, theirs] = [texts[0], texts[2]].map((content) => format.parse(content ?? '', 'f'));
    expect(merged).toEqual(
      base.places.map(({ name }, index) => (name === names[1] ? theirs : ours)?.places[index]?.source),
    );
  });
});
