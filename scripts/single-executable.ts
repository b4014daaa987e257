import { createRequire } from 'node:module';

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
    readonly execArgv: readonly string[];
    readonly assets: Readonly<Record<string, string>>;
  };
}

const { default: sea } = createRequire(import.meta.url)('@yao-pkg/pkg/lib-es5/sea.js') as {
  readonly default: (entry: string, options: SeaOptions) => Promise<void>;
};

const platform = process.platform === 'darwin' ? 'macos' : process.platform === 'win32' ? 'win' : 'linux';

/** @param assets files that the script reads by `node:sea`, by name. */
export function makeExecutable(
  entry: string,
  output: string,
  assets: Readonly<Record<string, string>> = {},
): Promise<void> {
  return sea(entry, {
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
      assets,
    },
  });
}
