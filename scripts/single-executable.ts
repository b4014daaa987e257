import { createRequire } from 'node:module';
import { devNull } from 'node:os';

/**
 * One file of a script and the Node that is running.
 *
 * The packager's command line downloads the Node that it packs; its function takes the one at hand, so that packaging works
 * offline and what is shipped is the binary that was tested.
 */

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
    readonly execArgvExtension: 'none';
    readonly execArgv: readonly string[];
    readonly assets: Readonly<Record<string, string>>;
  };
}

const { default: sea } = createRequire(import.meta.url)('@yao-pkg/pkg/lib-es5/sea.js') as {
  readonly default: (entry: string, options: SeaOptions) => Promise<void>;
};

const platform = process.platform === 'darwin' ? 'macos' : process.platform === 'win32' ? 'win' : 'linux';

/**
 * What is set here is so that nothing in the environment gets code into the process, or has Node tell what is in it.
 * @param assets files that the script reads by `node:sea`, by name.
 * @see docs/decisions/0114
 */
export function makeExecutable(
  entry: string,
  output: string,
  assets: Readonly<Record<string, string>> = {},
): Promise<void> {
  return sea(entry, {
    targets: [{ nodeRange: `node${process.version.slice(1)}`, platform, arch: process.arch, output }],
    nodePath: process.execPath,
    seaConfig: {
      // A main script with a cache of its own is never taken from the directory that NODE_COMPILE_CACHE names.
      useCodeCache: true,
      // NODE_OPTIONS could load any code, and open a debugger, beside the keys.
      execArgvExtension: 'none',
      execArgv: [
        // A short command ends before so much is allocated; with the smaller default it pays for one collection.
        '--min-semi-space-size=4',
        // Else that signal opens a debugger on a port of the machine, for whoever is on it: keys and all.
        '--disable-sigusr1',
        // Else OPENSSL_CONF could name a library to load.
        `--openssl-config=${devNull}`,
      ],
      assets,
    },
  });
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
