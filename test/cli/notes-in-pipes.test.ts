import { describe, expect, it } from 'vitest';
import { DirectoryHere } from './directory-here.ts';
import { promptsDouble } from './streams.double.ts';

/** Runs a command in a pipe, and with --quiet, which has the same result without a note. */
async function noted(here: DirectoryHere, line: string, undo?: string) {
  const quiet = await here.run(`${line} --quiet`);
  if (undo !== undefined) await here.ok(undo);
  const { exitCode, out, err } = await here.run(line);
  expect({ line, exitCode: quiet.exitCode, out: quiet.out, err: quiet.err }).toEqual({
    line,
    exitCode,
    out,
    err: '',
  });
  return { exitCode, out, err };
}

async function withTags(): Promise<DirectoryHere> {
  const here = await DirectoryHere.withStore({ COFFER_ORG: 'acme' });
  for (const line of [
    'orgs create acme',
    'workspaces create ws1',
    'workspaces create ws2',
    'tags create prod',
  ])
    await here.ok(line);
  await here.ok('workspaces tag ws1 prod');
  return here;
}

describe('a note on standard error, in a pipe', () => {
  it('says that --out wrote no file if the command has no result', async () => {
    const here = await DirectoryHere.withStore();
    await here.ok('transit keys create gone');
    await here.ok('transit keys config gone --deletion-allowed');
    const { exitCode, out, err } = await here.run('transit keys delete gone --yes --out gone.json');
    expect({ exitCode, out, err }).toEqual({
      exitCode: 0,
      out: '',
      err: 'coffer: warning: this command has no result, so gone.json was not written\n',
    });
    await here.ok('transit keys create gone');
    await here.ok('transit keys config gone --deletion-allowed');
    await here.ok('transit keys delete gone --yes -o json --out gone.json');
    expect(here.read('gone.json')).toBe('{}\n');
  });

  it('says that all values have another key than the one that was named', async () => {
    const here = await DirectoryHere.withStore();
    here.write('a.env', 'A=one\n');
    await here.ok('secrets encrypt a.env --key app');
    expect(await noted(here, 'secrets encrypt a.env --key nokey')).toEqual({
      exitCode: 0,
      out: '',
      err: 'No value of a.env is encrypted with key "nokey": values that are already encrypted keep their key (app).\n',
    });
    for (const line of ['secrets encrypt a.env --key app', 'secrets encrypt a.env'])
      expect((await here.run(line)).err).not.toContain('No value');
  });

  it('says that a tag was created with the name of a workspace, and how several workspaces are given', async () => {
    const here = await withTags();
    const hint =
      'ws2 is the name of a workspace: to tag several workspaces, use "coffer tags attach TAG --workspace WS WS"';
    const line = 'workspaces tag ws1 ws2 prod';
    expect(await noted(here, line, 'tags delete ws2 --yes')).toEqual({
      exitCode: 0,
      out: '',
      err: `Created tag ws2, which did not exist; ${hint}\n`,
    });
    await here.ok('tags delete ws2 --yes');
    const prompts = promptsDouble([false]);
    const refused = await here.run(line, { terminals: ['in', 'out', 'err'], prompts });
    expect([refused.exitCode, prompts.asked]).toEqual([1, [`Create tag ws2? It does not exist; ${hint}`]]);
    expect(await here.ok('tags list')).toBe('prod');
    expect((await here.run('workspaces tag ws1 ws9')).err).toBe('Created tag ws9, which did not exist.\n');
    const several = (await here.run('workspaces tag ws1 n7 n8')).err;
    expect(several).toBe('Created tags n7, n8, which did not exist.\n');
  });

  it('names the tag that was probably meant by a list for one that does not exist', async () => {
    const here = await withTags();
    const err = 'No tag is named "prd"; did you mean "prod"?\n';
    expect(await noted(here, 'workspaces list --tag prd')).toEqual({ exitCode: 0, out: '', err });
    expect(await noted(here, 'workspaces list --any-tag prd,prod')).toEqual({
      exitCode: 0,
      out: 'ws1\n',
      err,
    });
    expect(await noted(here, 'workspaces list --all-tags prd --tag prod')).toMatchObject({ out: '', err });
    for (const tag of ['prod', 'elsewhere', 'PROD'])
      expect((await here.run(`workspaces list --tag ${tag}`)).err, tag).toBe('');
  });
});

describe('a value that is typed', () => {
  it('ends before the line end that its last line has', async () => {
    const here = await DirectoryHere.withStore();
    const typed = { terminals: ['in', 'err'], prompts: promptsDouble() } as const;
    for (const [input, text] of [
      ['hello\n', 'hello'],
      ['hello\r\n', 'hello'],
      ['hello', 'hello'],
      ['two\nlines\n\n', 'two\nlines\n'],
    ] as const) {
      const sealed = await here.ok('transit encrypt app', { ...typed, input });
      expect((await here.run(`transit decrypt app ${sealed}`)).out, JSON.stringify(input)).toBe(text);
    }
    const piped = await here.ok('transit encrypt app', { input: 'hello\n' });
    expect((await here.run(`transit decrypt app ${piped}`)).out).toBe('hello\n');
  });

  it('of standard input is called so in messages about a file', async () => {
    const here = await DirectoryHere.withStore();
    const line = 'secrets decrypt - --format dotenv';
    for (const [input, message] of [
      [`A=${'a'.repeat(2 ** 20)}`, 'standard input is larger than 1 MiB'],
      [Uint8Array.of(0x41, 0x3d, 0xff), 'standard input is not UTF-8'],
      ['A', 'standard input:1: this line is neither'],
      [
        'A=coffer:app:v1:AA\n',
        'standard input:1: A: cannot decrypt (the value appears to be truncated: restore it from git or a backup)',
      ],
    ] as const)
      expect((await here.run(line, { input })).err).toMatch(`coffer: ${message}`);
    expect(await here.refused('tags apply - --org acme', 2, { input: 'x' })).toContain(
      'cannot tell the format of standard input',
    );
  });
});
