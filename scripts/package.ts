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
  readonly seaConfig: { readonly useCodeCache: boolean; readonly assets: Readonly<Record<string, string>> };
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
try {
  node('scripts/build.ts');
  const wrapped = `(function(require,module){${readFileSync(dist('coffer.cjs'), 'utf8')}\n})`;
  if (!isLatin1(wrapped)) throw new Error('the bundle has characters that are not Latin-1');
  writeFileSync(dist('wrapped.cjs'), wrapped, 'latin1');
  env['COFFER_MASTER_KEY'] = coffer('keygen').toString().trim();
  coffer('--quiet', 'init');
  coffer('transit', 'keys', 'create', 'aead');
  node('scripts/code-cache.ts', dist('wrapped.cjs'), dist('code-cache'), JSON.stringify(frequentCommands()));
} finally {
  rmSync(directory, { recursive: true, force: true });
}

rmSync(output, { force: true });
await sea(join(root, 'scripts/executable.cjs'), {
  targets: [{ nodeRange: `node${process.version.slice(1)}`, platform, arch: process.arch, output }],
  nodePath: process.execPath,
  seaConfig: {
    useCodeCache: false,
    assets: {
      'coffer.cjs': dist('wrapped.cjs'),
      'code-cache': dist('code-cache'),
      'coffer-more.cjs': dist('coffer-more.cjs'),
      'coffer-serve.cjs': dist('coffer-serve.cjs'),
    },
  },
});
for (const part of ['wrapped.cjs', 'code-cache']) rmSync(dist(part));
process.stdout.write(`${output} (${Math.round(statSync(output).size / 2 ** 20)} MiB)\n`);

/** The two that are run most; a cache with the functions of more commands is slower to load than it saves. */
function frequentCommands(): string[][] {
  const ciphertext = coffer('transit', 'encrypt', 'aead', 'hello').toString().trim();
  return [
    ['transit', 'encrypt', 'aead', 'hello'],
    ['transit', 'decrypt', 'aead', ciphertext],
  ];
}

function isLatin1(text: string): boolean {
  return Buffer.from(text, 'latin1').toString('latin1') === text;
}
