import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { dotenv } from '../../src/secret-files/dotenv.ts';
import type { FileFormat } from '../../src/secret-files/format.ts';
import { respliced } from '../../src/secret-files/splice.ts';
import { yaml } from '../../src/secret-files/yaml.ts';
import { refusal } from '../refusal.ts';

const TOKEN = 'coffer:app:v1:aG9zdGlsZSBpbnB1dCBvZiBzb21lYm9keSBlbHNl';

/** Decrypts the values of a text, to these in their order. */
function decrypted(format: FileFormat, text: string, sources: readonly string[]): string {
  const file = format.parse(text, 'f');
  const sealed = file.places.filter((place) => place.sealed !== undefined);
  return respliced(format, 'f', file, new Map(sealed.map((place, index) => [place, sources[index] ?? ''])))
    .text;
}

describe('what somebody encrypted who can not decrypt', () => {
  it('shows no value behind it under its name to readers for whom a quote goes on', () => {
    const text = `TITLE=${TOKEN}\nA=${TOKEN}\nEND='y'\n`;
    expect(parseEnv(text.replace(TOKEN, "'x").replace(TOKEN, 'secret'))).toEqual({
      TITLE: 'x\nA=secret\nEND=',
    });
    for (const quote of [`'x`, `"x`, '`x', `'x' 'y`]) {
      expect(
        refusal(() => decrypted(dotenv, text, [quote, 'secret'])),
        quote,
      ).toMatchObject({
        kind: 'invalid',
        message: 'f:1: TITLE: the decrypted text cannot be written into this file',
      });
    }
  });

  it('is opened where all agree, and at the end of the file', () => {
    const text = `TITLE=${TOKEN}\nA=${TOKEN}\nEND='y'\n`;
    for (const value of [`'x'`, `"x"`, "it's", `"a'b"`, '"two\nlines"', '"x\\\\"']) {
      expect(decrypted(dotenv, text, [value, 'secret'])).toContain(`TITLE=${value}\nA=secret`);
    }
    expect(decrypted(dotenv, `A=1\nB=${TOKEN}\n`, ["'x"])).toBe("A=1\nB='x\n");
  });

  it.each(['\u0085', '\u2028', '\u2029', '\r'])(
    'adds no key for readers of YAML to whom %j ends a line, nor one that is there',
    (end) => {
      const text = `motd: ${TOKEN}\nother: 1\n`;
      for (const line of ['admin: true', 'other: 2', '---']) {
        expect(
          refusal(() => decrypted(yaml, text, [`|\n  text${end}${line}`])),
          line,
        ).toMatchObject({
          kind: 'invalid',
          message: 'f:1: motd: the decrypted text cannot be written into this file',
        });
      }
      expect(decrypted(yaml, text, [`"a${end}b: c"`])).toContain(`"a${end}b: c"`);
      expect(decrypted(yaml, text, [`|\n  a${end}  b: c`])).toContain(`a${end}  b: c`);
    },
  );
});
