import { describe, expect, it } from 'vitest';
import { DirectoryHere } from '../directory-here.ts';

/** Values that a side sets, one after the other. */
type Changes = readonly (readonly [name: string, value: string])[];

interface Sides {
  /** Text of the version before, not encrypted. */
  readonly base: string;
  readonly ours: Changes;
  readonly theirs: Changes;
}

/** Merges three versions of a file as git has it done. */
async function merged(name: string, { base, ours, theirs }: Sides) {
  const here = await DirectoryHere.withStore();
  here.write('.coffer.yaml', 'rules: [{files: ["*.env", "*.json"], key: app}]\n');
  here.write(name, base);
  if (base !== '') await here.ok(`secrets encrypt ${name} -q`);
  const before = here.read(name);
  here.write('base', before);
  for (const [side, changes] of Object.entries({ ours, theirs })) {
    here.write(name, before === '' && name.endsWith('.json') ? '{}\n' : before);
    for (const [value, text] of changes) await here.ok(`secrets set ${name} ${value} ${text} -q`);
    here.write(side, here.read(name));
  }
  const { exitCode } = await here.run(`secrets git-merge -- base ours theirs ${name}`);
  const isConflict = here.read('ours').includes('<<<<<<<');
  here.write(name, here.read('ours'));
  if (!isConflict) await here.ok(`secrets decrypt ${name} -q`);
  return { exitCode, isConflict, lines: here.read(name).split('\n').toSorted() };
}

describe('three versions of a file, as git has them merged', () => {
  it.each<[string, Sides, string]>([
    [
      'different values that both sides have changed',
      { base: 'A=1\nB=1\n', ours: [['A', '2']], theirs: [['B', '2']] },
      'A=2\nB=2\n',
    ],
    [
      'one value that both have changed in the same way',
      { base: 'A=1\n', ours: [['A', '2']], theirs: [['A', '2']] },
      'A=2\n',
    ],
    [
      'values that both have added at one place',
      { base: 'A=1\n', ours: [['B', '2']], theirs: [['C', '3']] },
      'A=1\nB=2\nC=3\n',
    ],
    ['files that both have made', { base: '', ours: [['A', '1']], theirs: [['B', '2']] }, 'A=1\nB=2\n'],
  ])('are one with both changes: %s', async (_, sides, text) => {
    expect(await merged('a.env', sides)).toEqual({
      exitCode: 0,
      isConflict: false,
      lines: text.split('\n').toSorted(),
    });
  });

  it.each<[string, string, Sides]>([
    ['a value that both have changed', 'a.env', { base: 'A=1\n', ours: [['A', '2']], theirs: [['A', '3']] }],
    ['JSON that both have made', 'a.json', { base: '', ours: [['A', '1']], theirs: [['B', '2']] }],
  ])('have a conflict where nobody but the user can tell: %s', async (_, name, sides) => {
    expect(await merged(name, sides)).toMatchObject({ exitCode: 1, isConflict: true });
  });

  it('are merged by lines where one of them is no such file', async () => {
    const here = await DirectoryHere.withStore();
    here.write('base', '{"A":"1"}\n\n\n\nend\n');
    here.write('ours', '{"A":"2"}\n\n\n\nend\n');
    here.write('theirs', '{"A":"1"}\n\n\n\nbroken\n');
    expect((await here.run('secrets git-merge -- base ours theirs a.json')).exitCode).toBe(0);
    expect(here.read('ours')).toBe('{"A":"2"}\n\n\n\nbroken\n');
  });
});

it.each([
  ['n: 1\n', '2', 'n: 2\n'],
  ['n: 1\n', 'two', 'n: two\n'],
  ['n: 1\n', 'true', 'n: "true"\n'],
  ['n: true\n', 'false', 'n: false\n'],
  ['n: true\n', '0', 'n: "0"\n'],
  ['n: "1"\n', '2', 'n: "2"\n'],
])('an encrypted value of %j that is set to %s is in the file %j', async (text, value, expected) => {
  const here = await DirectoryHere.withStore();
  here.write('.coffer.yaml', 'rules: [{files: a.yaml, key: app}]\n');
  const plain = (written: string): string => written.replaceAll(/["']/g, '"');
  here.write('a.yaml', text);
  await here.ok('secrets encrypt a.yaml -q');
  await here.ok(`secrets set a.yaml n ${value} -q`);
  await here.ok('secrets decrypt a.yaml -q');
  expect(plain(here.read('a.yaml'))).toBe(expected);
});
