import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DirectoryHere } from './directory-here.ts';
import { promptsDouble } from './streams.double.ts';

/** What a command asks, does and says where somebody can be asked, who answers so. */
async function asked(here: DirectoryHere, line: string, answers: readonly (boolean | string)[]) {
  const prompts = promptsDouble(answers);
  const { exitCode, out, err } = await here.run(line, { prompts });
  return { exitCode, out, err, asked: prompts.asked };
}

/** The bytes of all files of a store. */
const bytesOf = (directory: string): readonly string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(directory, name)).isFile())
    .map((name) => `${name} ${readFileSync(join(directory, name), 'base64')}`)
    .toSorted();

/** Commands that ask, and what they ask. */
const ASKING: readonly (readonly [line: string, asks: string])[] = [
  ['delete sys/policies/acl/team', 'Permanently delete sys/policies/acl/team?'],
  ['policy delete team', 'Delete policy team?'],
  ['slots remove paper', '(master key)? Its secret will no longer unlock the store.'],
  ['store accept', 'Accept the store in'],
  ['tags delete one two', 'Delete 2 tags?'],
  ['orgs delete acme', 'acme'],
  ['transit keys destroy app 1', 'app'],
];

describe('a no to the question of a command', () => {
  it.each(ASKING)('changes no byte of the store: %s', async (line, asks) => {
    const here = await DirectoryHere.withStore({ COFFER_ORG: 'acme' });
    here.write('team.hcl', 'path "transit/*" { capabilities = ["read"] }');
    for (const each of [
      'policy write team team.hcl',
      'slots add --raw --label paper',
      'orgs create acme',
      'tags create one',
      'tags create two',
      'transit keys rotate app',
    ])
      await here.ok(each);
    const before = bytesOf(here.file('.store'));
    const question = [expect.stringContaining(asks)];
    expect(await asked(here, line, [false])).toEqual({
      exitCode: 1,
      out: '',
      err: 'No changes made.\n',
      asked: question,
    });
    expect(bytesOf(here.file('.store'))).toEqual(before);
    expect(await asked(here, line, [true])).toMatchObject({ exitCode: 0, asked: question });
    expect(bytesOf(here.file('.store'))).not.toEqual(before);
  });

  it('sends a server nothing that would seal it', async () => {
    const here = DirectoryHere.make({ COFFER_ADDR: 'http://127.0.0.1:1' });
    const question = ['Seal http://127.0.0.1:1? It refuses all requests until it is unsealed.'];
    expect(await asked(here, 'seal', [false])).toEqual({
      exitCode: 1,
      out: '',
      err: 'No changes made.\n',
      asked: question,
    });
    const yes = await asked(here, 'seal', [true]);
    expect(yes).toMatchObject({ exitCode: 1, asked: question });
    expect(yes.err).toContain('connection refused');
  });
});

describe('a file that is there already', () => {
  it('is as it was after a no, by whatever number of names, and the error says why', async () => {
    const here = await DirectoryHere.withStore();
    here.write('out', 'mine');
    const one = await asked(here, 'transit encrypt app hello --out out', [false]);
    expect(one).toMatchObject({
      exitCode: 6,
      asked: ['Overwrite out? The current contents will be lost.'],
    });
    expect(one.err).toBe('coffer: out already exists (use --force to overwrite it)\n');
    for (const name of ['a', 'b', 'c']) here.write(name, 'plain');
    for (const name of ['a.coffer', 'c.coffer']) here.write(name, 'mine');
    const many = await asked(here, 'transit envelope encrypt app a b c', [false]);
    expect(many).toMatchObject({
      exitCode: 6,
      asked: ['Overwrite a.coffer and 1 more? The current contents will be lost.'],
    });
    expect(['out', 'a.coffer', 'c.coffer'].map((name) => here.read(name))).toEqual(['mine', 'mine', 'mine']);
    expect(readdirSync(here.path)).not.toContain('b.coffer');
    expect((await asked(here, 'transit encrypt app hello --out out', [true])).exitCode).toBe(0);
    expect(here.read('out')).toMatch(/^service:v1:/);
  });
});
