import { describe, expect, it } from 'vitest';
import { DirectoryHere } from './directory-here.ts';
import { promptsDouble } from './streams.double.ts';

describe('a mistake is answered with what helps:', () => {
  it.each([
    ['help nope', '("coffer --help" lists the commands, "coffer help help" the topics)'],
    ['token create-by-role rl', 'unknown role rl (run "coffer token roles list" to list them)'],
    ['help sharin', 'did you mean "sharing"?'],
    ['tags import nofile --org o', 'cannot read nofile: no such file'],
    ['tags apply nofile --org o', 'cannot read nofile: no such file'],
    ['auth userpass write ada --password x', 'leave it out: the command asks for the password'],
    [
      'transit keys list ord',
      '(it lists all; to filter the list, use "coffer transit keys list | grep ord"; see',
    ],
    ['transit keys list --json=name', 'did you mean -o json?'],
    ['secrets encrypt b.json', 'b.json:2: not valid JSON: it ends before a value'],
    ['keygen -o key.txt', '(for a file, use --out key.txt; use one of table, wide, json, raw)'],
    [
      'sign -o x.sig b.json',
      'run "coffer sign - --key NAME < b.json > x.sig"; use one of table, wide, json, raw)',
    ],
    ['sign b.json --key k -o x.sig', 'run "coffer sign - --key k < b.json > x.sig"'],
  ])('names what was meant, or where the mistake is: %s', async (line, hint) => {
    const here = await DirectoryHere.withStore();
    here.write('b.json', '{"a": "x",\n "b":');
    expect(await here.refused(line, 2)).toContain(hint);
  });

  it('the policy of a new token is never corrected to root', async () => {
    const here = await DirectoryHere.withStore();
    for (const name of ['rott', 'roott', 'Root', 'defalt']) {
      const { err } = await here.run(['token', 'create', '--policy', name]);
      expect(err).not.toContain('"root"');
      if (name === 'defalt') expect(err).toContain('did you mean "default"?');
    }
  });

  it('a dash in the place of a key is standard input, as elsewhere', async () => {
    const here = await DirectoryHere.withStore();
    const { outBytes: input } = await here.run('transit envelope encrypt app -', { input: 'text' });
    expect(await here.ok('transit envelope decrypt -', { input })).toBe('text');
    expect(await here.ok('transit envelope header - -o json', { input })).toContain('"name":"app"');
  });

  it('a directory in the place of a key is read as with --in', async () => {
    const here = await DirectoryHere.withStore();
    here.write('f.txt', 'text');
    await here.ok('transit envelope encrypt app --in f.txt --out f.txt.coffer');
    await here.ok('transit envelope decrypt . --force', { input: '' });
    expect(here.read('f.txt')).toBe('text');
    expect(await here.ok('transit envelope header ./', { input: '' })).toContain('f.txt.coffer');
  });
});

describe('a secret', () => {
  const terminal = { terminals: ['in', 'err'] as const };

  it('is asked for only if the file can have it', async () => {
    const here = await DirectoryHere.withStore();
    here.write('.env', 'A=secret\n');
    await here.ok('secrets encrypt .env --key app');
    const other = {
      COFFER_STORE: here.file('.other'),
      COFFER_MASTER_KEY: Buffer.alloc(32, 8).toString('hex'),
    };
    const set = (environment: Record<string, string>, prompts = promptsDouble([], true)) =>
      here.run('secrets set .env B', { ...terminal, environment, prompts });
    expect(await set(other)).toMatchObject({
      exitCode: 3,
      err: expect.stringContaining('there is no store'),
    });
    await here.ok('init', { environment: other });
    await here.ok('transit keys create app', { environment: other });
    const before = here.read('.env');
    expect(await set(other)).toMatchObject({ exitCode: 4, err: expect.stringContaining('cannot decrypt') });
    expect(here.read('.env')).toBe(before);
    expect(await set({}, promptsDouble(['word'], true))).toMatchObject({ exitCode: 0 });
    expect(await here.ok('secrets get .env B')).toBe('word');
  });
});
