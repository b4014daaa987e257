import { ok } from 'node:assert/strict';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Bench, type Environment, root } from './bench.ts';

/** What must be so when all of it was done. */
const AFTERWARDS = `
[ "$(coffer transit decrypt orders "$ciphertext")" = 'credit card 4242' ]
[ -s coffer.backup ]
echo 'five minutes: done'
`;
const DONE = 'five minutes: done\n';

/**
 * What scripts do in five minutes, for bash in a directory with the README, where `coffer` is a command: all commands of that part of the README, as they
 * stand there. Every form of a release is used in this way.
 */
export function fiveMinutes(): string {
  const [, section = ''] = readFileSync(join(root, 'README.md'), 'utf8').split(
    '\n## Your first ciphertext\n',
  );
  // The server goes on in the same shell.
  const [part = ''] = section.split('\n## Secrets in git');
  const blocks = [...part.matchAll(/<!-- tested -->\n```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  if (blocks.length < 4) throw new Error('the README has no such part any more');
  return `set -euo pipefail\n${blocks.join('')}${AFTERWARDS}`;
}

/** How a form of the command is run. */
export interface Runnable {
  readonly command: readonly string[];
  /** All that it has in its environment, beside what it is told in the five minutes. */
  readonly environment: Environment;
  /** An empty directory in which it may work. */
  readonly work: string;
}

/** What the commands of the five minutes find in their environment. */
const TOLD = ['COFFER_STORE', 'COFFER_MASTER_KEY'];
const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** Spends them with a form of the command, for which `coffer` is a script that starts it. */
export async function useFiveMinutes(bench: Bench, { command, environment, work }: Runnable): Promise<void> {
  const programs = join(bench.directory, 'programs');
  mkdirSync(programs);
  const given = Object.entries(environment).map(([name, value]) => quoted(`${name}=${value}`));
  const starter = `#!/bin/bash
told=()
for name in ${TOLD.join(' ')}; do [ -z "\${!name+set}" ] || told+=("$name=\${!name}"); done
exec env -i ${given.join(' ')} "\${told[@]}" ${command.map(quoted).join(' ')} "$@"
`;
  writeFileSync(join(programs, 'coffer'), starter);
  chmodSync(join(programs, 'coffer'), 0o755);
  copyFileSync(join(root, 'README.md'), join(work, 'README.md'));
  const script = join(bench.directory, 'five-minutes.sh');
  writeFileSync(script, fiveMinutes());
  const output = await bench.run('bash', ['-c', `cd ${quoted(work)}; . ${quoted(script)}`], {
    PATH: `${programs}:/usr/bin:/bin`,
  });
  ok(output.endsWith(DONE), output);
}
