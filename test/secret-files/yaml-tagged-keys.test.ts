import { describe, expect, it } from 'vitest';
import { placeOf } from '../../src/secret-files/format.ts';
import { yaml } from '../../src/secret-files/yaml.ts';
import { refusal } from '../refusal.ts';

const TOKEN = 'coffer:app:v1:aG9zdGlsZSBpbnB1dCBvZiBzb21lYm9keSBlbHNl';

/** Keys that PyYAML and js-yaml call otherwise than they are written, and the line of the key. */
const RENAMED: readonly (readonly [string, number])[] = [
  [`!!merge staging:\n  db_password: ${TOKEN}\n`, 1],
  [`a: 1\n!<tag:yaml.org,2002:merge> staging: {db_password: ${TOKEN}}\n`, 2],
  [`%TAG ! tag:yaml.org,2002:\n---\n!merge staging:\n  - db_password: ${TOKEN}\n`, 3],
  [`? !!merge "staging"\n: db_password: ${TOKEN}\n`, 1],
  [`? &k !!merge staging\n: db_password: ${TOKEN}\n`, 1],
  [`db: !!str\n  !!value password: ${TOKEN}\n`, 2],
  [`{a: {!!null password: ${TOKEN}}}\n`, 1],
  [`a: {!own password: ${TOKEN}}\n`, 1],
  // A list for who does not know the tag.
  [`db: !!omap\n- password: ${TOKEN}\n`, 2],
  [`db: !!pairs [password: ${TOKEN}]\n`, 1],
  [`!!merge a:\n  b:\n    c:\n    - ${TOKEN}\n`, 1],
];

describe('a key with a tag, or of a list with one', () => {
  it.each(RENAMED)('is refused with its line above an encrypted value: %j', (text, line) => {
    expect(refusal(() => yaml.parse(text, 'f'))).toMatchObject({
      kind: 'invalid',
      message: expect.stringMatching(new RegExp(`^f:${line}: some programs read `)),
    });
  });

  it.each(RENAMED)('lets nothing below it be encrypted: %j', (text) => {
    const { places } = yaml.parse(text.replace(TOKEN, 'plain'), 'f');
    expect(places.find(({ text: value }) => value === 'plain')).toHaveProperty('otherNameAt');
  });

  it('that says it is a text is a key as any other, and so is one beside encrypted values', () => {
    const text = `!!str a: ${TOKEN}\n"b": ${TOKEN}\n! c: ${TOKEN}\n!!merge d: {e: 1}\nf: !own ${TOKEN}\n`;
    expect(yaml.parse(text, 'f').places.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd.e', 'f']);
  });
});

describe('a blank that is none in YAML', () => {
  it.each(['\u00a0', '\u3000', '\ufeff', '\u2003'])('is a part of a key: %j', (blank) => {
    for (const key of [`${blank}password`, `password${blank}`]) {
      const file = yaml.parse(`a: 1\n${key}: ${TOKEN}\n`, 'f');
      expect(placeOf(file, 'password')).toBeUndefined();
      expect(placeOf(file, key)).toBeDefined();
    }
  });
});

describe('a blank behind a key', () => {
  it('is no part of it', () => {
    expect(yaml.parse(`password : ${TOKEN}\n? other \n: 1\n`, 'f').places.map(({ name }) => name)).toEqual([
      'password',
      'other',
    ]);
  });
});
