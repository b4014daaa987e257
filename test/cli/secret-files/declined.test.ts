import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { DirectoryHere } from '../directory-here.ts';
import { promptsDouble } from '../streams.double.ts';

const GIT = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null', PATH: process.env['PATH'] };

/** A repository whose last commit encrypts a value that its rules now leave readable, in whose place a text is. */
async function withFewerRules(): Promise<DirectoryHere> {
  const here = await DirectoryHere.withStore();
  const git = (...words: readonly string[]) => execFileSync('git', words, { cwd: here.path, env: GIT });
  git('init', '-q');
  here.write('.coffer.yaml', 'rules: [{files: "*.env", key: app}]\n');
  here.write('a.env', 'A=one\nB=two\n');
  await here.ok('secrets encrypt a.env -q');
  git('add', 'a.env', '.coffer.yaml');
  git('-c', 'user.name=ann', '-c', 'user.email=ann@example.com', 'commit', '-qm', 'x');
  here.write('.coffer.yaml', 'rules: [{files: "*.env", key: app, except: [A]}]\n');
  here.write('a.env', 'A=one\nB=other\n');
  return here;
}

it.each(['secrets encrypt a.env -q', 'secrets set a.env A more -q'])(
  'a file of which the last commit encrypts more is left as it is after a no: %s',
  async (line) => {
    const here = await withFewerRules();
    const before = here.read('a.env');
    const answered = async (answer: boolean) => {
      const prompts = promptsDouble([answer]);
      const { exitCode, out } = await here.run(line, { prompts });
      return { exitCode, out, asked: prompts.asked };
    };
    const asked = [
      expect.stringMatching(
        /^\.coffer\.yaml no longer encrypts values as in the last commit: .*A of a\.env would be readable.* Continue\?$/,
      ),
    ];
    expect(await answered(false)).toEqual({ exitCode: 1, out: '', asked });
    expect(here.read('a.env')).toBe(before);
    expect(await here.refused(line, 1)).toContain('no longer encrypts values as in the last commit');
    expect(here.read('a.env')).toBe(before);
    expect(await answered(true)).toEqual({ exitCode: 0, out: '', asked });
    expect(here.read('a.env')).not.toBe(before);
  },
);
