import { describe, expect, it } from 'vitest';
import { parseWithCommander } from '../../src/cli/parse/program.ts';
import { commandTree } from '../../src/cli/tree.ts';
import { streamsDouble } from './streams.double.ts';

const refusalOf = (line: string): Promise<unknown> =>
  parseWithCommander(line.split(' '), commandTree, streamsDouble()).catch((error: unknown) => error);

describe('a misspelt command of another group', () => {
  it.each([
    ['kyes', 'kyes', '"coffer transit keys"'],
    ['kyes list', 'kyes', '"coffer transit keys"'],
    ['enevlope', 'enevlope', '"coffer transit envelope"'],
    ['bakcup', 'bakcup', '"coffer store backup" or "coffer transit backup"'],
    [
      'encrpt orders x',
      'encrpt',
      '"coffer transit encrypt", "coffer secrets encrypt" or "coffer transit envelope encrypt"',
    ],
  ])('is suggested with its whole path: %s', async (line, word, meant) => {
    expect(await refusalOf(line)).toMatchObject({
      kind: 'invalid',
      message: `unknown command '${word}'`,
      hint: `did you mean ${meant}? see "coffer --help"`,
    });
  });

  it('may be one at the top, or of another program', async () => {
    expect(await refusalOf('secrets docter')).toMatchObject({
      hint: 'did you mean "coffer doctor"? see "coffer secrets --help"',
    });
    expect(await refusalOf('passwrd')).toMatchObject({
      hint: 'did you mean "coffer passphrase change"? see "coffer --help"',
    });
  });

  it.each(['ecrypt orders x', 'histry', 'secrets kyes', 'secrets list-keys', 'undoo'])(
    'is not suggested if it could mean too much, or nothing there: %s',
    async (line) => {
      expect(await refusalOf(line)).toMatchObject({ hint: expect.stringMatching(/^see "coffer /) });
    },
  );
});
