/**
 * Makes `dist/coffer`, one file that runs with no Node on the machine, from the bundle and the Node binary of the
 * npm package `node`.
 *
 * The packager's command line downloads the Node that it packs; its function takes the one that is running, so that packaging
 * works offline and what is shipped is the binary that was tested. What V8 compiled for the frequent commands goes along, for
 * a quicker start (scripts/code-cache.ts).
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const PARTS = ['coffer.cjs', 'coffer-more.cjs', 'coffer-serve.cjs'] as const;
const platform = process.platform === 'darwin' ? 'macos' : process.platform === 'win32' ? 'win' : 'linux';
const output = join(root, 'dist', platform === 'win' ? 'coffer.exe' : 'coffer');

interface Target {
  readonly nodeRange: string;
  readonly platform: string;
  readonly arch: string;
  readonly output: string;
}

interface SeaOptions {
  readonly targets: readonly Target[];
  readonly nodePath: string;
  readonly seaConfig: {
    readonly useCodeCache: boolean;
    readonly execArgv: readonly string[];
    readonly assets: Readonly<Record<string, string>>;
  };
}

const { default: sea } = createRequire(import.meta.url)('@yao-pkg/pkg/lib-es5/sea.js') as {
  readonly default: (entry: string, options: SeaOptions) => Promise<void>;
};

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
  for (const name of PARTS) writeFileSync(part(name), wrapped(name), 'latin1');
  env['COFFER_MASTER_KEY'] = coffer('keygen').toString().trim();
  coffer('--quiet', 'init');
  coffer('--quiet', 'transit', 'keys', 'create', 'aead');
  node('scripts/code-cache.ts', directory, 'coffer.cjs', JSON.stringify(frequentCommands()));
  node('scripts/code-cache.ts', directory, 'coffer-more.cjs', JSON.stringify(everydayCommands()));
  rmSync(output, { force: true });
  await pack();
} finally {
  rmSync(directory, { recursive: true, force: true });
}
process.stdout.write(`${output} (${Math.round(statSync(output).size / 2 ** 20)} MiB)\n`);

function pack(): Promise<void> {
  return sea(join(root, 'scripts/executable.cjs'), {
    targets: [{ nodeRange: `node${process.version.slice(1)}`, platform, arch: process.arch, output }],
    nodePath: process.execPath,
    seaConfig: {
      useCodeCache: false,
      execArgv: [
        // A short command ends before so much is allocated; with the smaller default it pays for one collection.
        '--min-semi-space-size=4',
        // Else that signal opens a debugger on a port of the machine, for whoever is on it: keys and all.
        '--disable-sigusr1',
      ],
      assets: Object.fromEntries(
        [...PARTS, 'coffer.cjs.cache', 'coffer-more.cjs.cache'].map((name) => [name, part(name)]),
      ),
    },
  });
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

/** A part as a function for `Script`, which gives no `require` of its own. */
function wrapped(name: string): string {
  const text = `(function(require,module){${readFileSync(dist(name), 'utf8')}\n})`;
  // One byte a character is the quickest way to a string.
  if (!isLatin1(text)) throw new Error(`${name} has characters that are not Latin-1`);
  return text;
}

function isLatin1(text: string): boolean {
  return Buffer.from(text, 'latin1').toString('latin1') === text;
}
