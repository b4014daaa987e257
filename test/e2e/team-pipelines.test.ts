import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { builtCommand } from '../built.ts';
import { push, team } from './team-people.ts';

/* The pipelines with a keyring on the page on scripts and CI, word for word, and the action. */

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(join(root, 'docs/scripts-and-ci.md'), 'utf8');

interface Step {
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
}

function deployOf(platform: string): {
  readonly steps?: readonly Step[];
  readonly script?: readonly string[];
} {
  const text = page.split(`<!-- keyring ${platform} -->\n\`\`\`yaml\n`)[1]?.split('```')[0] ?? '';
  return (parse(text) as { readonly deploy: ReturnType<typeof deployOf> }).deploy;
}

/** A runner with a clone of a team's repository, and the secret of its pipeline. */
async function runner() {
  const { people, alice } = await team();
  const secret = await alice.place.ok('team add ci -q --new');
  writeFileSync(
    alice.place.file('deploy'),
    '#!/bin/sh\nprintf "deployed with %s\\n" "$DB"\nenv | grep COFFER_IDENTITY= || true\n',
    {
      mode: 0o755,
    },
  );
  push(alice);
  const home = join(people.directory, 'runner');
  const bin = join(home, 'bin');
  mkdirSync(bin, { recursive: true });
  symlinkSync(builtCommand(), join(bin, 'coffer'));
  const usual = { HOME: home, PATH: [bin, process.env['PATH']].join(':'), GIT_CONFIG_GLOBAL: '/dev/null' };
  const clone = join(home, 'clone');
  const run = (line: string, env: Readonly<Record<string, string>>, cwd = clone) => {
    const { status, stdout, stderr } = spawnSync('sh', ['-ec', line], {
      cwd,
      env: { ...usual, ...env },
      encoding: 'utf8',
    });
    return { exitCode: status, stdout, stderr };
  };
  run(`git clone -q ${people.remote} ${clone}`, {}, home);
  return { home, clone, secret, run };
}

it('a pipeline of GitHub, and one of GitLab, deploys with the values of a keyring as the page shows, and leaves nothing', async () => {
  const { home, secret, run } = await runner();
  const [, step] = deployOf('github').steps ?? [];
  expect(Object.keys(step?.env ?? {})).toEqual(['COFFER_IDENTITY']);
  expect(run(step?.run ?? '', { COFFER_IDENTITY: secret, GITHUB_ACTIONS: 'true' })).toEqual({
    exitCode: 0,
    stdout: 'deployed with s3cret\n',
    stderr: '::add-mask::s3cret\n',
  });
  const [line = ''] = deployOf('gitlab').script ?? [];
  const file = join(home, 'variable');
  writeFileSync(file, secret, { mode: 0o600 });
  for (const env of [{ COFFER_IDENTITY: secret }, { COFFER_IDENTITY_FILE: file }])
    expect(run(line, env)).toEqual({ exitCode: 0, stdout: 'deployed with s3cret\n', stderr: '' });
  for (const path of ['.local', '.config', '.cache']) expect(existsSync(join(home, path))).toBe(false);
  // As in a job that gets no secrets, e.g. of a fork.
  for (const [env, what] of [
    [{ COFFER_IDENTITY: '' }, 'COFFER_IDENTITY is empty'],
    [{ COFFER_IDENTITY_FILE: '' }, 'COFFER_IDENTITY_FILE is empty'],
    [{ CI: 'true' }, 'COFFER_IDENTITY is not set'],
  ] as const) {
    const { exitCode, stderr } = run(line, env);
    expect(exitCode).toBe(4);
    expect(stderr).toContain(`this keyring is not trusted on this machine yet (${what}: in a pipeline, `);
  }
  const elsewhere = run(line, {});
  expect(elsewhere.exitCode).toBe(4);
  expect(elsewhere.stderr).toContain('(ask a colleague for the ID');
});

it('the action hands values of a keyring over to later steps, and never the identity that opens them', async () => {
  const { home, clone, secret, run } = await runner();
  const [env, output] = [join(home, 'env'), join(home, 'output')];
  const step = {
    INPUT_FILES: join(clone, 'app.env'),
    INPUT_VARIABLES: 'DB',
    INPUT_OUTPUT: '',
    GITHUB_ACTIONS: 'true',
    GITHUB_ENV: env,
    GITHUB_OUTPUT: output,
  };
  const decrypt = `bash ${join(root, 'action/decrypt.sh')}`;
  for (const given of [{ INPUT_IDENTITY: secret }, { INPUT_IDENTITY: '', COFFER_IDENTITY: secret }]) {
    writeFileSync(env, '');
    expect(run(decrypt, { ...step, ...given })).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: '::add-mask::s3cret\n',
    });
    expect(readFileSync(env, 'utf8')).toMatch(/^DB<<(\w+)\ns3cret\n\1\n$/);
  }
  expect(run(decrypt, { ...step, INPUT_IDENTITY: '' }).stderr).toContain('not trusted on this machine yet');
  writeFileSync(env, '');
  const refused = (given: Readonly<Record<string, string>>): string => {
    const { exitCode, stdout } = run(decrypt, { ...step, INPUT_IDENTITY: secret, ...given });
    expect([exitCode, readFileSync(env, 'utf8')]).toEqual([1, '']);
    return stdout;
  };
  // Bash has values of its own for these.
  for (const name of 'IFS SHLVL RANDOM LINENO OPTIND PPID PWD OLDPWD PS4 _ BASH_VERSION SHELLOPTS'.split(' '))
    expect(refused({ INPUT_VARIABLES: name })).toBe(
      `::error::That variable is not for values of files: ${name}\n`,
    );
  expect(refused({ INPUT_OUTPUT: 'DB\nDB' })).toBe('::error::The input "output" is one name.\n');
});
