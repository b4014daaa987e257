/**
 * Tour of `npm start`: builds the command, creates a store in a temporary directory, and runs the main tasks with the
 * real command, showing each line as typed. All its files are removed at the end.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const coffer = join(root, 'bin/coffer');
const directory = mkdtempSync(join(tmpdir(), 'coffer-tour-'));
const environment: NodeJS.ProcessEnv = { ...process.env, COFFER_STORE: join(directory, 'store') };
delete environment['COFFER_ADDR'];

try {
  execFileSync(process.execPath, [join(root, 'scripts/build.ts')], { stdio: 'inherit' });
  tour();
} finally {
  rmSync(directory, { recursive: true, force: true });
}

function tour(): void {
  chapter('A store, sealed with a fresh master key');
  environment['COFFER_MASTER_KEY'] = run('keygen', {
    shown: '(a fresh 256-bit key, kept in COFFER_MASTER_KEY)',
  });
  run('init');

  chapter('A named key; encrypt and decrypt');
  run('transit keys create orders');
  const first = run('transit encrypt orders', { input: 'credit card 4242' });
  expectText(run(`transit decrypt orders ${first}`), 'credit card 4242');

  chapter('Rotate the key; rewrap moves old ciphertext to the new version without showing the plaintext');
  run('transit keys rotate orders');
  const second = run(`transit rewrap orders ${first}`);
  expectText(run(`transit decrypt orders ${second}`), 'credit card 4242');

  chapter('A signing key; sign and verify');
  run('transit keys create releases --type ed25519');
  const signature = run('transit sign releases', { input: 'coffer-1.0.tar.gz' });
  expectText(run(`transit verify releases --signature ${signature}`, { input: 'coffer-1.0.tar.gz' }), 'true');
  run(`transit verify releases --signature ${signature}`, { input: 'something else', exitCode: 5 });

  chapter('An organization, its workspaces and their tags');
  exported('COFFER_ORG', 'acme');
  run('orgs create acme');
  run('workspaces create billing-prod');
  run('workspaces create billing-test');
  run('tags create env:prod team:billing');
  run('tags attach team:billing --workspace billing-prod --workspace billing-test');
  run('tags attach env:prod --workspace billing-prod');
  run('tags list -o table');
  run('tags delete env:prod --yes');
  run('tags of billing-prod');

  chapter('The whole store, checked');
  run('doctor');
  process.stdout.write('\nThe tour is done. Next: README.md, "Your first ciphertext".\n');
}

function chapter(title: string): void {
  process.stdout.write(`\n# ${title}\n`);
}

/** Sets a variable for the commands that follow, as the reader has to. */
function exported(name: string, value: string): void {
  process.stdout.write(`$ export ${name}=${value}\n`);
  environment[name] = value;
}

interface Step {
  readonly input?: string;
  readonly shown?: string;
  readonly exitCode?: number;
}

/** Runs one command line, prints it with its output, and returns its standard output without the newline. */
function run(line: string, step: Step = {}): string {
  const piped = step.input === undefined ? '' : `printf '%s' '${step.input}' | `;
  process.stdout.write(`$ ${piped}coffer ${line}\n`);
  const result = spawnSync(process.execPath, [coffer, ...line.split(' ')], {
    env: environment,
    input: step.input ?? '',
    encoding: 'utf8',
  });
  const output = result.stdout.replace(/\n$/, '');
  if (output !== '') process.stdout.write(`${step.shown ?? output}\n`);
  if (result.stderr !== '') process.stdout.write(result.stderr);
  const expected = step.exitCode ?? 0;
  if (result.status !== expected) {
    throw new Error(`coffer ${line}: exit code ${result.status}, expected ${expected}`);
  }
  if (expected !== 0) process.stdout.write(`(exit code ${expected}: not valid)\n`);
  return output;
}

function expectText(actual: string, expected: string): void {
  if (actual !== expected)
    throw new Error(`got ${JSON.stringify(actual)}, expected ${JSON.stringify(expected)}`);
}
