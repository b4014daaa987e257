import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { CofferError } from '../../src/ground/errors.ts';
import { dotenv } from '../../src/secret-files/dotenv.ts';
import { isLong } from '../long.ts';
import { refusal } from '../refusal.ts';
import { seeded } from '../seeded.ts';

const TOKEN = 'coffer:app:v1:aG9zdGlsZSBpbnB1dCBvZiBzb21lYm9keSBlbHNl';

/** What one reader or another takes for a value over several lines, and the line where it begins. */
const GOES_ON: readonly (readonly [text: string, line: number])[] = [
  [`A='x\nB=${TOKEN}\nC='y'\n`, 1],
  [`A="x\nB=${TOKEN}\nC="y" z\n`, 1],
  [`A=\`x\nB=${TOKEN}\nC=\`y\`\n`, 1],
  [`# c\nA='x\nB=${TOKEN}\n`, 2],
  [`A="x\\"\nB=${TOKEN}\nC="y\n`, 1],
  [`A="x\\\\"\nB=${TOKEN}\nC="y"\n`, 1],
  [`A="x\\"\nZ='" # c\nB=${TOKEN}\nC='q'\n`, 2],
  [`A=x\rB=${TOKEN}\n`, 1],
  [`A= \n\nB=${TOKEN}\n`, 1],
  [`A: x= \nB=${TOKEN}\n`, 1],
  // A comment for us, and none for Node.
  [`# c\n # x= \nB=${TOKEN}\n`, 1],
  [`A=\n # x= \nB=${TOKEN}\n`, 1],
  [`D: ='x\nB=${TOKEN}\nC='\n`, 1],
  [`A=x\n\rC=1\r\rB=${TOKEN}\n`, 2],
  [`A=x\\\nB=${TOKEN}\n`, 1],
  [`C=1\nA=\\\nB=${TOKEN}\n`, 2],
  [`export A=x # y\\\nB=${TOKEN}\n`, 1],
  [`A=x\\\nC=y\\\nB=${TOKEN}\n`, 1],
  [`A='x' 'y\nB=${TOKEN}\nC='\n`, 1],
  [`A="x""y\nB=${TOKEN}\n`, 1],
  [`A='x' y\\\nB=${TOKEN}\n`, 1],
];

describe('a value that some readers of .env files take for a part of the one before', () => {
  it.each(GOES_ON)('is not read when it is encrypted: %j', (text, line) => {
    expect(refusal(() => dotenv.parse(text, 'x.env'))).toMatchObject({
      kind: 'invalid',
      message: expect.stringMatching(
        new RegExp(`^x\\.env:${line}: some programs read B as part of the value that begins here, `),
      ) as string,
    });
  });

  it.each(GOES_ON)('is known before it is encrypted: %j', (text) => {
    const { places } = dotenv.parse(text.replace(TOKEN, 'secret'), 'x.env');
    expect(places.find(({ name }) => name === 'B')?.otherNameAt).toBeGreaterThanOrEqual(0);
  });

  it.each([
    `A='x'\nB=${TOKEN}\n`,
    `A='x' y\nB=${TOKEN}\nC=it's\n`,
    `A="two\nlines"\nB=${TOKEN}\nC='z'\n`,
    `A="{\n  \\"a\\": 1\n}"\nB=${TOKEN}\n`,
    `A=Bob's\nB=${TOKEN}\nC=Bob's\n`,
    `B=${TOKEN}\nA='x\n`,
    `A=\nB=${TOKEN}\n`,
    `A=\r\n \r\nB=${TOKEN}\r\n`,
    `A=1\r\nB=${TOKEN}\r\n`,
    `# C:\\\nA=C:\\x\nB=${TOKEN}\n`,
    `A=x\\\\\nB=${TOKEN}\nC=x\\\n`,
    `A='x' "y"\nB=${TOKEN}\n`,
    // A blank behind a value, e.g. one whose base64 ends with "=".
    `A=2 \nB=${TOKEN}\n`,
    `A=x== \nB=${TOKEN}\n`,
    `A="x=" \t\r\nB=${TOKEN}\n`,
    `A=${TOKEN}= \n\nB=${TOKEN}\n`,
    `A=1\n# x= \nB=${TOKEN}\n`,
  ])('is none where all agree: %j', (text) => {
    expect(dotenv.parse(text, 'x.env').places.some(({ sealed }) => sealed !== undefined)).toBe(true);
  });

  it('shows no secret under another name to the reader of Node, whatever stands around it', () => {
    const random = seeded('dotenv-readings');
    const pieces = [
      "'",
      '"',
      '`',
      '\\',
      '\n',
      '\nC=',
      '=',
      ' # ',
      'x',
      '\r',
      '\r\n',
      '\nD: ',
      'export ',
      ' ',
    ];
    const some = () =>
      Array.from({ length: random.below(7) }, () => pieces[random.below(pieces.length)]).join('');
    let read = 0;
    let refused = 0;
    for (let round = 0; round < (isLong ? 400_000 : 20_000); round++) {
      const start = ['A=', 'A=', 'A=', '# '][random.below(4)];
      const [before, behind] = [`${start}${some()}\n`, `\n${some()}\nE=${some()}`];
      const secret = ['secret', "'secret'", '"a\'secret"', '`a"secret`'][random.below(4)] ?? '';
      try {
        const { places } = dotenv.parse(`${before}B=${TOKEN}${behind}`, 'x');
        // It may be a part of another value for us as well, and is not decrypted then.
        if (!places.some(({ sealed }) => sealed !== undefined)) continue;
      } catch (error) {
        if (!(error instanceof CofferError)) throw error;
        if (error.message.includes('read B as part of the value that begins here')) refused++;
        continue;
      }
      read++;
      const shown = Object.entries(parseEnv(`${before}B=${secret}${behind}`));
      const others = shown.filter(([name, value]) => name !== 'B' && value?.includes('secret'));
      expect(others, JSON.stringify(`${before}|${behind}`)).toEqual([]);
    }
    expect(Math.min(read, refused)).toBeGreaterThan(500);
  });
});
