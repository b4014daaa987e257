import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { placeWithRules, scriptedEditor, writeSecret } from '../e2e/edited.ts';
import { binary, type Place } from '../e2e/harness.ts';
import { Canaries } from './canaries.ts';

/** strace tells every call of a process and its children; where it is not, or may not look, nothing can be said. */
const canTrace = spawnSync('strace', ['-f', '-o', '/dev/null', 'true']).status === 0;

const SECRETS = { old: 'canary-old-kingfisher-41', typed: 'canary-new-nightingale-42' };
const canaries = new Canaries(SECRETS);

interface Call {
  readonly name: string;
  /** Its arguments, as strace writes them: descriptors with their paths, environments whole. */
  readonly text: string;
}

/** Runs a command line, and tells the calls by which a plaintext could get anywhere. */
function traced(here: Place, words: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const trace = here.file('trace');
  const calls = 'trace=execve,write,pwrite64,writev,sendto,sendmsg,openat,rename,renameat2,mkdir,symlink';
  const { status } = spawnSync(
    'strace',
    ['-f', '-v', '-y', '-s', '100000', '-e', calls, '-o', trace, process.execPath, binary, ...words],
    { cwd: here.directory, env: here.environment(environment), stdio: ['ignore', 'ignore', 'ignore'] },
  );
  expect(status).toBe(0);
  return readFileSync(trace, 'utf8')
    .split('\n')
    .flatMap((line): Call[] => {
      const [, name, text] = /^\d+ +(\w+)\((.*)$/.exec(line) ?? [];
      return name === undefined || text === undefined ? [] : [{ name, text }];
    });
}

/** What of a call holds a plaintext: `execve` of a program, `write` to what the descriptor is. */
const tellingOf = (calls: readonly Call[]): readonly string[] => [
  ...new Set(
    calls
      .filter(({ text }) => canaries.toldBy(text).length > 0)
      .map(({ name, text }) =>
        name === 'execve'
          ? `execve ${/^"([^"]*)"/.exec(text)?.[1]}`
          : `${name} ${kindOf(/^\d+<([^>]*)>/.exec(text)?.[1] ?? text)}`,
      ),
  ),
];

const kindOf = (path: string): string => {
  // What lies in the directory of the test stands for what lies on a disk, wherever that is.
  if (path.startsWith('/dev/shm/') && !path.startsWith(tmpdir())) return 'memory';
  return /^(?:pipe|socket|anon_inode)/.exec(path)?.[0] ?? path;
};

describe.skipIf(!canTrace)('over a whole edit', () => {
  it('no plaintext gets into a file on a disk, an argument list or an environment', async () => {
    const here = await placeWithRules();
    await writeSecret(here, 'app.env', `DB=${SECRETS.old}\nOTHER=x\n`);
    // The new value comes from a file, because the script would have it in its own arguments.
    const script = `. "$HOME/typed"; printf 'DB=%s\\nOTHER=x\\n' "$typed" > "$1"`;
    spawnSync('sh', ['-c', `echo "typed=$1" > '${here.file('typed')}'`, 'sh', SECRETS.typed]);
    const calls = traced(here, ['edit', 'app.env'], scriptedEditor(here, script));
    expect(tellingOf(calls)).toEqual(['write memory']);
    expect(readFileSync(here.file('app.env'), 'utf8')).toMatch(/^DB=coffer:/);
  });
});

describe.skipIf(!canTrace)('over a whole exec', () => {
  it('a plaintext is in the environment of the program alone', async () => {
    const here = await placeWithRules();
    await writeSecret(here, 'app.env', `DB=${SECRETS.old}\n`);
    const calls = traced(here, ['exec', '-f', 'app.env', '--', '/bin/true']);
    expect(tellingOf(calls)).toEqual(['execve /bin/true']);
    const [, argv] =
      /^"\/bin\/true", (\[[^\]]*\])/.exec(
        calls.find(({ text }) => text.startsWith('"/bin/true"'))?.text ?? '',
      ) ?? [];
    expect(argv).toBe('["/bin/true"]');
  });

  it('a value as a file is in memory alone', async () => {
    const here = await placeWithRules();
    await writeSecret(here, 'app.env', `DB=${SECRETS.old}\n`);
    const calls = traced(here, ['exec', '-f', 'app.env', '--as-file', 'DB', '--', '/bin/true']);
    expect(tellingOf(calls)).toEqual(['write memory']);
  });
});
