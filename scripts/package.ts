/**
 * Makes `dist/coffer`, one file that runs with no Node on the machine, from the bundle and the Node binary of the
 * npm package `node`.
 *
 * What V8 compiled for the frequent commands goes along, for
 * a quicker start (scripts/code-cache.ts).
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LICENSES, licenseOfNode } from './licenses.ts';
import { makeExecutable, PARTS, wrapped } from './single-executable.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const output = join(root, 'dist', process.platform === 'win32' ? 'coffer.exe' : 'coffer');

const node = (script: string, ...args: string[]): Buffer =>
  execFileSync(process.execPath, [join(root, script), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env,
  });
const coffer = (...args: string[]): Buffer => node('bin/coffer', ...args);
const dist = (name: string): string => join(root, 'dist', name);

const directory = mkdtempSync(join(tmpdir(), 'coffer-package-'));
const env: NodeJS.ProcessEnv = { ...process.env, COFFER_STORE: join(directory, 'store') };
const part = (name: string): string => join(directory, name);

try {
  node('scripts/build.ts');
  for (const name of PARTS) writeFileSync(part(name), wrapped(readFileSync(dist(name), 'utf8')));
  env['COFFER_MASTER_KEY'] = coffer('keygen').toString().trim();
  coffer('--quiet', 'init');
  coffer('--quiet', 'transit', 'keys', 'create', 'aead');
  node('scripts/code-cache.ts', directory, 'coffer.cjs', JSON.stringify(frequentCommands()));
  node('scripts/code-cache.ts', directory, 'coffer-more.cjs', JSON.stringify(everydayCommands()));
  writeFileSync(part('app.yaml'), 'password: hunter2\nlist: [one, "two"]\n');
  const encrypt = ['secrets', 'encrypt', part('app.yaml'), '--key', 'aead'];
  node('scripts/code-cache.ts', directory, 'coffer-yaml.cjs', JSON.stringify([encrypt]));
  writeFileSync(part(LICENSES), `${readFileSync(dist(LICENSES), 'utf8')}\n${licenseOfNode(root)}`);
  rmSync(output, { force: true });
  await makeExecutable(join(root, 'scripts/executable.cjs'), output, assets());
} finally {
  rmSync(directory, { recursive: true, force: true });
}
process.stdout.write(`${output} (${Math.round(statSync(output).size / 2 ** 20)} MiB)\n`);

function assets(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...PARTS, 'coffer.cjs.cache', 'coffer-more.cjs.cache', 'coffer-yaml.cjs.cache', LICENSES].map((name) => [
      name,
      part(name),
    ]),
  );
}

/** The two that are run most; a cache with the functions of more commands is slower to load than it saves. */
function frequentCommands(): string[][] {
  const ciphertext = coffer('transit', 'encrypt', 'aead', 'hello').toString().trim();
  return [
    ['transit', 'encrypt', 'aead', 'hello'],
    ['transit', 'decrypt', 'aead', ciphertext],
  ];
}

/** What people type to look around and to keep house. */
function everydayCommands(): string[][] {
  return [
    ['transit', 'keys', 'rotate', 'aead'],
    ['transit', 'keys', 'list'],
    ['transit', 'keys', 'read', 'aead'],
    ['status'],
    ['transit', '--help'],
  ];
}
