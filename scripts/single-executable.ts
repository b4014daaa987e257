import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Builds a single file from a script and a Node binary, for this system or another one, reproducibly. The packager that
 * `scripts/package.ts` uses builds such files as well, but runs the Node that it packs, and passes no flags to it.
 */

const POSTJECT = fileURLToPath(new URL('../node_modules/postject/dist/cli.js', import.meta.url));
/**
 * Marker that Node searches in itself; the character after it tells whether something was injected. From Node's
 * documentation.
 */
export const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
const EXECUTABLE = 0o755;
/** Most that a file for Linux may have, made of a Node that was stripped. */
export const MAX_EXECUTABLE_BYTES = 104 * 2 ** 20;

export type Platform = 'linux' | 'macos' | 'windows';

export interface Onto {
  readonly platform: Platform;
  readonly node: string;
  /** Whether it runs with another V8 than the running one, or on another processor. */
  readonly foreign: boolean;
}

/** Running Node. */
export const HERE: Onto = {
  platform: process.platform === 'darwin' ? 'macos' : process.platform === 'win32' ? 'windows' : 'linux',
  node: process.execPath,
  foreign: false,
};

/** Returns the null device. */
const emptyDevice = (platform: Platform): string => (platform === 'windows' ? '\\\\.\\nul' : '/dev/null');

/**
 * Returns the settings that keep the environment from loading code into the process or exposing its data.
 * @see docs/decisions/0114
 */
export const settings = ({ platform, foreign }: Onto) => ({
  disableExperimentalSEAWarning: true,
  // A main script with a code cache of its own is never read from the directory that NODE_COMPILE_CACHE names.
  useCodeCache: true,
  // NODE_OPTIONS could load any code, and open a debugger, in the process with the keys.
  execArgvExtension: 'none',
  execArgv: [
    // A short command ends before that much is allocated; with the smaller default it would pay for one collection.
    '--min-semi-space-size=4',
    // A signal opens a debugger, with access to all keys, for every user of the machine. On an address that no machine
    // has, that fails until the main script has disabled it. (With --disable-sigusr1 the signal would stay blocked,
    // also in the program that `exec` starts.)
    '--inspect-port=192.0.2.1:9229',
    // OPENSSL_CONF could otherwise name a library to load.
    `--openssl-config=${emptyDevice(platform)}`,
    // It would warn that V8 rejects the cache, which is intended.
    ...(foreign ? ['--disable-warning=Warning'] : []),
  ],
});

/**
 * Returns the V8 flags for creating the cache of the main script. With another seed, its tables would be in another
 * order in each run. For another V8, the cache has a flag that only this V8 has, so that all reject it and compile the
 * script alike.
 */
const flags = ({ foreign }: Onto): readonly string[] => [
  '--random-seed=1',
  ...(foreign ? ['--max-lazy'] : []),
];

/**
 * Builds an executable; the same input gives the same bytes.
 * @param assets files that the script reads with `node:sea`, by name
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
      // No other environment variable may change the code that V8 compiles.
      env: { PATH: process.env['PATH'], HOME: directory },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  };
  try {
    // The path given here is stored in the file, and must not contain a directory of the builder.
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

/** Wraps a part as a function for `Script`, which provides no `require`; in Latin-1, one byte per character. */
export function wrapped(part: string): Buffer {
  const text = `(function(require,module){${part}\n})`;
  const bytes = Buffer.from(text, 'latin1');
  if (bytes.toString('latin1') !== text) throw new Error('a part has characters that are not Latin-1');
  return bytes;
}
