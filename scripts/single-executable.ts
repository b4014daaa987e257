import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * One file of a script and a Node binary, for this system or another one, and the same bytes whenever it is made. The packager that
 * `scripts/package.ts` uses makes such files, too, but runs the Node that it packs, and takes no flags for it.
 */

const POSTJECT = fileURLToPath(new URL('../node_modules/postject/dist/cli.js', import.meta.url));
/** What Node looks for in itself, and what it is followed by says whether anything was put in. Of Node's documentation. */
export const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
const EXECUTABLE = 0o755;

export type Platform = 'linux' | 'macos' | 'windows';

export interface Onto {
  readonly platform: Platform;
  readonly node: string;
  /** Whether it runs with another V8 than the one that is running now, or on another processor. */
  readonly foreign: boolean;
}

/** The Node that runs. */
export const HERE: Onto = {
  platform: process.platform === 'darwin' ? 'macos' : process.platform === 'win32' ? 'windows' : 'linux',
  node: process.execPath,
  foreign: false,
};

/** What Node reads nothing from. */
const emptyDevice = (platform: Platform): string => (platform === 'windows' ? '\\\\.\\nul' : '/dev/null');

/**
 * What is set here is so that nothing in the environment gets code into the process, or has Node tell what is in it.
 * @see docs/decisions/0114
 */
export const settings = ({ platform, foreign }: Onto) => ({
  disableExperimentalSEAWarning: true,
  // A main script with a cache of its own is never taken from the directory that NODE_COMPILE_CACHE names.
  useCodeCache: true,
  // NODE_OPTIONS could load any code, and open a debugger, beside the keys.
  execArgvExtension: 'none',
  execArgv: [
    // A short command ends before so much is allocated; with the smaller default it pays for one collection.
    '--min-semi-space-size=4',
    // A signal opens a debugger, for whoever is on the machine: keys and all. It comes to nothing on an address that no machine has,
    // until the main script has put it off. (With --disable-sigusr1 the signal stays blocked, and so in what `exec` becomes.)
    '--inspect-port=192.0.2.1:9229',
    // Else OPENSSL_CONF could name a library to load.
    `--openssl-config=${emptyDevice(platform)}`,
    // It would say that V8 refuses the cache, which it is meant to.
    ...(foreign ? ['--disable-warning=Warning'] : []),
  ],
});

/**
 * What V8 is told while it makes the cache of the main script. With another seed its tables are in another order at every run.
 * For another V8 the cache is one that all refuse, because of a flag that only this one has: then all compile the script alike.
 */
const flags = ({ foreign }: Onto): readonly string[] => [
  '--random-seed=1',
  ...(foreign ? ['--max-lazy'] : []),
];

/**
 * The same bytes for the same input.
 * @param assets files that the script reads by `node:sea`, by name.
 */
export async function makeExecutable(
  entry: string,
  output: string,
  assets: Readonly<Record<string, string>> = {},
  onto: Onto = HERE,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'coffer-executable-'));
  const run = (...parameters: readonly string[]): void => {
    execFileSync(process.execPath, parameters, {
      cwd: directory,
      // Nothing else in the environment may change what V8 compiles.
      env: { PATH: process.env['PATH'], HOME: directory },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  };
  try {
    // Its path as it is said here is in the file, and must not tell whose directory it was.
    copyFileSync(entry, join(directory, 'main.cjs'));
    const config = { main: 'main.cjs', output: 'blob', ...settings(onto), assets };
    writeFileSync(join(directory, 'config.json'), JSON.stringify(config));
    run(...flags(onto), '--experimental-sea-config', 'config.json');
    copyFileSync(onto.node, output);
    chmodSync(output, EXECUTABLE);
    const segment = onto.platform === 'macos' ? ['--macho-segment-name', 'NODE_SEA'] : [];
    run(POSTJECT, output, 'NODE_SEA_BLOB', 'blob', '--sentinel-fuse', FUSE, ...segment);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The parts of the command, as `scripts/bundle.ts` writes them; each is an asset of its own name. */
export const PARTS = ['coffer.cjs', 'coffer-more.cjs', 'coffer-serve.cjs', 'coffer-yaml.cjs'] as const;

/** A part as a function for `Script`, which gives no `require` of its own; in Latin-1, one byte a character. */
export function wrapped(part: string): Buffer {
  const text = `(function(require,module){${part}\n})`;
  const bytes = Buffer.from(text, 'latin1');
  if (bytes.toString('latin1') !== text) throw new Error('a part has characters that are not Latin-1');
  return bytes;
}
