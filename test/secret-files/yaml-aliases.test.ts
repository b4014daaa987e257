import { describe, expect, it } from 'vitest';
import { yaml } from '../../src/secret-files/yaml.ts';
import { processorMs } from '../processor-time.ts';
import { refusal } from '../refusal.ts';

const TOKEN = 'coffer:app:v1:aG9zdGlsZSBpbnB1dCBvZiBzb21lYm9keSBlbHNl';

/** Every way of YAML to read a value under a second name, and the line where it does so. */
const SECOND_NAMES: readonly (readonly [string, number])[] = [
  [`db_password: &p ${TOKEN}\naddress: *p\n`, 2],
  [`db_password: &p ${TOKEN}\n\nlist:\n  - x\n  - *p\n`, 5],
  [`db: &p\n  password: ${TOKEN}\npublic:\n  <<: *p\n`, 4],
  [`db: &p {password: ${TOKEN}}\npublic: {<<: [*p]}\n`, 2],
  [`db: &p [{password: ${TOKEN}}]\npublic: *p\n`, 2],
  [`db: &p ${TOKEN}\n*p : x\n`, 2],
  [`db: &p ${TOKEN}\n? [*p]\n: x\n`, 2],
  [`db: &p ${TOKEN}\n? {a: *p}\n: x\n`, 2],
  [`db: &p\n  password: ${TOKEN}\n  again: *p\n`, 3],
  [`a: &p x\nb: &p ${TOKEN}\nc: *p\n`, 3],
  [`a: &q\n  b: &p ${TOKEN}\nc: *q\nd: *p\n`, 3],
  [`a: 1\n---\nb: &p "${TOKEN}"\nc: *p\n`, 4],
  [`a: &p |\n  ${TOKEN}\nb: *p\n`.replace('|', '|-'), 3],
  // For readers of YAML 1.1 the alias's name ends earlier.
  [`{a: &p ${TOKEN}, b: [*p:x]}\n`, 1],
  [`a: &p ${TOKEN}\nb: *p\u0085\n`, 2],
  [`a: &p ${TOKEN}\nb: *p\u2028\n`, 2],
];

/** What ends a line for readers of YAML 1.1. */
const OTHER_LINE_ENDS = [
  ['NEL', '\u0085'],
  ['LS', '\u2028'],
  ['PS', '\u2029'],
  ['CR', '\r'],
] as const;

describe('a character that ends a line for some readers alone', () => {
  const hidden = (end: string): readonly string[] => [
    `a: &p ${TOKEN}\nb: 1 # x${end}c: *p\n`,
    `# x${end}address:\n  password: ${TOKEN}\n`,
    `text: |\n  x${end}address:\n  y: z\npassword: ${TOKEN}\n`,
    `a: ${TOKEN}\nb: x${end}---\n`,
    `"x${end}": y\na: ${TOKEN}\n`,
  ];

  it.each(OTHER_LINE_ENDS)('is refused with its line beside an encrypted value: %s', (_name, end) => {
    for (const text of hidden(end)) {
      const line = text.slice(0, text.indexOf(end)).split('\n').length;
      expect(() => yaml.parse(text.replace(end, ''), 'f'), text).not.toThrow();
      expect(refusal(() => yaml.parse(text, 'f')).message, text).toMatch(
        new RegExp(`^f:${line}: (?:a character here ends a line|invalid YAML)`),
      );
    }
  });

  it.each(OTHER_LINE_ENDS)('is left alone in quotes, and where nothing is encrypted: %s', (_name, end) => {
    for (const text of [`a: "x${end}y"\nb: ${TOKEN}\nc: 'x${end}y'\n`, `a: 1 # x${end}y\nb: 2\n`])
      expect(yaml.parse(text, 'f').places.length, text).toBeGreaterThan(1);
  });

  it('is none in the line ends of Windows', () => {
    expect(yaml.parse(`a: ${TOKEN}\r\nb: |\r\n  x\r\n`, 'f').places).toHaveLength(2);
  });
});

describe('an alias of an encrypted value', () => {
  it.each(SECOND_NAMES)('is refused with its line: %j', (text, line) => {
    expect(refusal(() => yaml.parse(text, 'f.yaml'))).toMatchObject({
      kind: 'invalid',
      message: expect.stringMatching(new RegExp(`^f\\.yaml:${line}: this is an alias of `)) as string,
    });
  });

  it.each([
    `a: &p ${TOKEN}\nb: &p x\nc: *p\n`,
    `a: &p ${TOKEN}\nb: x\n---\nc: *p\n`,
    `a: &p ${TOKEN}\nb: "*p"\n`,
    `a: &p x\nb: *p\nc: ${TOKEN}\n`,
    `&p a: ${TOKEN}\nb: *p\n`,
  ])('is not what is an alias of something else, or of nothing: %j', (text) => {
    expect(yaml.parse(text, 'f').places.filter(({ sealed }) => sealed !== undefined)).toHaveLength(1);
  });

  it('is known of values that are not encrypted yet, by where the first one stands', () => {
    const text = 'a: &p {b: x, c: y}\nd: z\ne: *p\nf: *p\n';
    const { places } = yaml.parse(text, 'f');
    expect(places.map(({ name, otherNameAt }) => [name, otherNameAt])).toEqual([
      ['a.b', text.indexOf('*p')],
      ['a.c', text.indexOf('*p')],
      ['d', undefined],
    ]);
  });

  it('is looked for in time that grows with the file, however many aliases of many values there are', () => {
    const textOf = (count: number) =>
      `a: &p\n${'  - x\n'.repeat(count)}b: &q\n  - *p\n${'  - *p\n'.repeat(count)}${'c: *q\n'.replace('c', 'd')}`;
    const cost = (count: number) => processorMs(() => yaml.parse(textOf(count), 'f'));
    cost(2_000);
    const [small, large] = [Math.min(cost(2_000), cost(2_000)), cost(16_000)];
    expect(large).toBeLessThan(small * 8 * 4);
  });
});
