/**
 * Makes `dist/coffer`, one file that runs with no Node on the machine, from the bundle and the Node that
 * runs this, stripped where that can be done.
 *
 * What V8 compiled for the frequent commands goes along, for
 * a quicker start (scripts/code-cache.ts).
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assetsWithCaches, build } from './executable-assets.ts';
import { licenseOfNode } from './licenses.ts';
import { HERE, settings } from './single-executable.ts';
import { strip, stripperFor } from './strip.ts';

interface Packager {
  readonly default: (
    entry: string,
    options: {
      readonly targets: readonly {
        readonly nodeRange: string;
        readonly platform: string;
        readonly arch: string;
        readonly output: string;
      }[];
      readonly nodePath: string;
      readonly seaConfig: object;
    },
  ) => Promise<void>;
}

// Its command line downloads the Node that it packs; this takes the one at hand, so that packaging works offline.
const { default: sea } = createRequire(import.meta.url)('@yao-pkg/pkg/lib-es5/sea.js') as Packager;
const platform = { darwin: 'macos', win32: 'win' }[process.platform as string] ?? 'linux';

const root = fileURLToPath(new URL('..', import.meta.url));
const output = join(root, 'dist', process.platform === 'win32' ? 'coffer.exe' : 'coffer');
const directory = mkdtempSync(join(tmpdir(), 'coffer-package-'));

try {
  build(root);
  const assets = assetsWithCaches(root, directory, licenseOfNode());
  rmSync(output, { force: true });
  await sea(join(root, 'scripts/executable.cjs'), {
    targets: [{ nodeRange: `node${process.version.slice(1)}`, platform, arch: process.arch, output }],
    nodePath: slimNode(),
    seaConfig: { ...settings(HERE), assets },
  });
} finally {
  rmSync(directory, { recursive: true, force: true });
}
process.stdout.write(`${output} (${Math.round(statSync(output).size / 2 ** 20)} MiB)\n`);

/** The Node that runs, without what it does not need if there is a tool for it. */
function slimNode(): string {
  const stripper = stripperFor(process.arch);
  if (stripper === undefined) {
    process.stderr.write('package: no "strip" of binutils is here, so the file is larger than it need be\n');
    return process.execPath;
  }
  const stripped = join(directory, 'node');
  strip(stripper, process.execPath, stripped);
  return stripped;
}
