import { readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { emptyPlace } from '../../e2e/harness.ts';
import { DirectoryHere } from '../directory-here.ts';
import { promptsDouble } from '../streams.double.ts';

/* What would leave a file that nobody opens again. */

describe('a file that would be larger than what can be read', () => {
  const TOO_LARGE =
    /^coffer: \S+ would be larger than 1 MiB; nothing was written \(divide the file, encrypt fewer values/;

  it('is refused before it is written, by encrypt, set and through a pipe', async () => {
    const here = await DirectoryHere.withStore();
    const many = `{${Array.from({ length: 18_000 }, (_, index) => `"k${index}":${index}`).join(',')}}`;
    here.write('many.json', many);
    const refused = await here.run('secrets encrypt --key app many.json');
    expect(refused).toMatchObject({ exitCode: 2, err: expect.stringMatching(TOO_LARGE) });
    expect(here.read('many.json')).toBe(many);
    const piped = await here.run('secrets encrypt - --format json --key app', { input: many });
    expect(piped).toMatchObject({ exitCode: 2, out: '' });
    expect(piped.err).toContain('the result would be larger than 1 MiB');
    const set = await here.run('secrets set new.env A --key app', { input: 'a'.repeat(800_000) });
    expect(set).toMatchObject({ exitCode: 2, err: expect.stringMatching(TOO_LARGE) });
    expect(() => here.read('new.env')).toThrow('ENOENT');
  });
});

describe('values that another tool has encrypted', () => {
  const SOPS = 'ENC[AES256_GCM,data:vG8=,iv:AAAA,tag:BBBB,type:str]';
  const DOTENVX = `encrypted:${'BDQ+'.repeat(30)}`;

  it('are not encrypted a second time, and the command that decrypts them is named', async () => {
    const here = await DirectoryHere.withStore();
    for (const [file, text, told] of [
      [
        'a.yaml',
        `a: plain\ndb: ${SOPS}\n`,
        'a.yaml: db is already encrypted, by sops (decrypt it first with "sops decrypt --in-place a.yaml")',
      ],
      [
        'b.env',
        `DB="${DOTENVX}"\n`,
        'b.env: DB is already encrypted, by dotenvx (decrypt it first with "dotenvx decrypt -f b.env")',
      ],
    ] as const) {
      here.write(file, text);
      const { exitCode, err } = await here.run(`secrets encrypt --key app ${file}`);
      expect({ exitCode, err }).toEqual({ exitCode: 2, err: `coffer: ${told}\n` });
      expect(here.read(file)).toBe(text);
    }
  });

  it('are given to a program as they are, with a warning', async () => {
    const here = emptyPlace();
    writeFileSync(here.file('a.env'), `DB='${SOPS}'\nA=encrypted:short\n`);
    const { exitCode, stdout, stderr } = await here.run('exec -f a.env -- printenv DB');
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${SOPS}\n` });
    expect(stderr).toContain(
      'a.env: DB is encrypted by sops and is not decrypted (to move the file: "sops decrypt',
    );
    expect(stderr.match(/is not decrypted/g)).toHaveLength(1);
  });
});

describe('a value that would be lost by a slip', () => {
  it('is not replaced by nothing when Enter alone answers the prompt', async () => {
    const here = await DirectoryHere.withStore();
    await here.ok('secrets set a.env A s3cret --key app');
    const prompts = promptsDouble(['']);
    const { exitCode, err } = await here.run('secrets set a.env A', { prompts, terminals: ['in', 'err'] });
    expect({ exitCode, asked: prompts.asked }).toEqual({ exitCode: 2, asked: ['Value of A'] });
    expect(err).toContain('no value for A (pass "" as VALUE to set an empty value)');
    expect(await here.ok('secrets get a.env A')).toBe('s3cret');
  });

  it('is not written in the place of a link to a file that does not exist', async () => {
    const here = await DirectoryHere.withStore();
    symlinkSync('conf/real.env', join(here.path, 'app.env'));
    const { exitCode, err } = await here.run('secrets set app.env A v --key app');
    expect({ exitCode, err }).toEqual({
      exitCode: 2,
      err: 'coffer: FILE: app.env is a symbolic link to conf/real.env, which does not exist (create that file, or remove the link)\n',
    });
    expect(readlinkSync(join(here.path, 'app.env'))).toBe('conf/real.env');
    here.write('conf/real.env', '');
    await here.ok('secrets set app.env A v --key app');
    expect(readlinkSync(join(here.path, 'app.env'))).toBe('conf/real.env');
    expect(here.read('conf/real.env')).toContain('A=coffer:app:v1:');
  });
});
