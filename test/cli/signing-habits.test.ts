import { describe, expect, it } from 'vitest';
import { parseWithCommander } from '../../src/cli/parse/program.ts';
import { commandTree } from '../../src/cli/tree.ts';
import { streamsDouble } from './streams.double.ts';

describe('an option of another program for signatures', () => {
  it.each([
    ['sign -Y sign', 'use "coffer sign FILE --key NAME"; see "coffer sign --help"'],
    ['sign -Sm app.tgz', 'use "coffer sign FILE --key NAME"; see "coffer sign --help"'],
    ['verify -Y verify', 'use "coffer verify FILE SIGNATURE --public-key KEY"; see "coffer verify --help"'],
    ['verify -Vm app.tgz', 'use "coffer verify FILE SIGNATURE --public-key KEY"; see "coffer verify --help"'],
    [
      'verify app.tgz --signature s.sig --key release',
      'the signature comes right after the file: "coffer verify app.tgz s.sig --key release"; see "coffer verify --help"',
    ],
    [
      'verify app.tgz --signature=s.sig',
      'the signature comes right after the file: "coffer verify app.tgz s.sig"; see "coffer verify --help"',
    ],
    [
      'verify --signature s.sig app.tgz',
      'the signature comes right after the file: "coffer verify FILE SIGNATURE"; see "coffer verify --help"',
    ],
  ])('brings up the command that does the same: %s', async (line, hint) => {
    await expect(parseWithCommander(line.split(' '), commandTree, streamsDouble())).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringMatching(/^unknown option '-/),
      hint,
    });
  });
});

describe('a short word for a command', () => {
  it.each([
    ['secrets enc .env', 'secrets encrypt'],
    ['secrets dec .env', 'secrets decrypt'],
  ])('brings up the whole one: %s', async (line, meant) => {
    await expect(parseWithCommander(line.split(' '), commandTree, streamsDouble())).rejects.toMatchObject({
      kind: 'invalid',
      hint: `did you mean "coffer ${meant}"? see "coffer secrets --help"`,
    });
  });
});
