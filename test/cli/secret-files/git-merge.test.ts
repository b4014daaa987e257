import { describe, expect, it } from 'vitest';
import type { Environment } from '../../../src/cli/given.ts';
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

/**
 * Merges two versions of a file, each made by the given commands, while git would have the driver use this environment.
 */
async function mergedAfter(
  base: string,
  sides: Readonly<Record<'ours' | 'theirs', readonly string[]>>,
  environment: Environment = {},
) {
  const here = await DirectoryHere.withStore();
  here.write('.coffer.yaml', 'rules: [{files: "*.env", key: app}]\n');
  here.write('a.env', base);
  await here.ok('secrets encrypt a.env -q');
  const before = here.read('a.env');
  here.write('base', before);
  for (const [side, commands] of Object.entries(sides)) {
    here.write('a.env', before);
    for (const command of commands) await here.ok(command);
    here.write(side, here.read('a.env'));
  }
  const versions = { ours: here.read('ours'), theirs: here.read('theirs') };
  const { exitCode } = await here.run('secrets git-merge -- base ours theirs a.env', { environment });
  const merged = here.read('ours');
  here.write('a.env', merged);
  if (exitCode === 0) await here.ok('secrets decrypt a.env -q');
  return { exitCode, merged, plain: here.read('a.env'), versions };
}

describe('values that one side has only encrypted again', () => {
  const REWRAP = ['transit keys rotate app', 'secrets rewrap a.env -q'];
  const CHANGE = ['secrets set a.env B changed -q'];

  it.each([
    ['theirs', { ours: CHANGE, theirs: REWRAP }],
    ['ours', { ours: REWRAP, theirs: CHANGE }],
  ])(
    'are no change beside one of the other side, and keep their new version elsewhere: %s',
    async (_, sides) => {
      const { exitCode, merged, plain } = await mergedAfter('A=1\nB=2\nC=3\n', sides);
      expect({ exitCode, plain }).toEqual({ exitCode: 0, plain: 'A=1\nB=changed\nC=3\n' });
      expect(merged).toMatch(/^A=coffer:app:v2:.*\nB=.*\nC=coffer:app:v2:/);
    },
  );

  it.each([
    ['theirs', { ours: ['secrets unset a.env B -q'], theirs: REWRAP }],
    ['ours', { ours: REWRAP, theirs: ['secrets unset a.env B -q'] }],
  ])('are gone if the other side removed them: %s', async (_, sides) => {
    expect(await mergedAfter('A=1\nB=2\nC=3\n', sides)).toMatchObject({ exitCode: 0, plain: 'A=1\nC=3\n' });
  });

  it('have the newest version if both sides encrypted them again', async () => {
    const sides = { ours: REWRAP, theirs: REWRAP };
    const { exitCode, merged, versions } = await mergedAfter('A=1\nB=2\n', sides);
    expect({ exitCode, merged }).toEqual({ exitCode: 0, merged: versions.theirs });
    expect(merged).toMatch(/^A=coffer:app:v3:/);
  });

  it('are in conflict with a change if there is no key to tell, and no plaintext is written', async () => {
    const sides = { ours: CHANGE, theirs: REWRAP };
    const { exitCode, merged } = await mergedAfter('A=1\nB=2\nC=3\n', sides, {
      COFFER_MASTER_KEY: undefined,
    });
    expect(exitCode).toBe(1);
    expect(merged.replaceAll(/coffer:\S+/g, 'X')).toBe(
      'A=X\n<<<<<<< ours\nB=X\n=======\nB=X\n>>>>>>> theirs\nC=X\n',
    );
  });

  it('are equal on both sides even if the version before can no longer be decrypted', async () => {
    const { exitCode, merged, versions } = await mergedAfter('A=1\n', {
      ours: ['transit keys rotate app', 'secrets set a.env A 2 -q'],
      theirs: ['secrets set a.env A 2 -q', 'transit keys config app --min-decryption-version 2 -q'],
    });
    expect({ exitCode, merged }).toEqual({ exitCode: 0, merged: versions.ours });
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
