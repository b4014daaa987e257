/**
 * Builds `dist/coffer`, a single executable that does not need an installed Node, from the bundle and the running Node,
 * stripped if possible.
 *
 * The V8 code cache of the frequent commands is included, for a faster start (scripts/code-cache.ts).
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assetsWithCaches, build } from './executable-assets.ts';
import { licenseOfNode } from './licenses.ts';
import { HERE, MAX_EXECUTABLE_BYTES, settings } from './single-executable.ts';
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

// The packager's command line would download the Node that it packs; this uses the running one, so that packaging works
// offline.
const { default: sea } = createRequire(import.meta.url)('@yao-pkg/pkg/lib-es5/sea.js') as Packager;
const platform = { darwin: 'macos', win32: 'win' }[process.platform as string] ?? 'linux';

const root = fileURLToPath(new URL('..', import.meta.url));
const output = join(root, 'dist', process.platform === 'win32' ? 'coffer.exe' : 'coffer');
const directory = mkdtempSync(join(tmpdir(), 'coffer-package-'));
const stripper = stripperFor(process.arch);

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
const { size } = statSync(output);
process.stdout.write(`${output} (${size} bytes)\n`);
if (stripper !== undefined && size > MAX_EXECUTABLE_BYTES) {
  process.stderr.write(`package: the file is larger than it may be (${MAX_EXECUTABLE_BYTES} bytes)\n`);
  process.exitCode = 1;
}

/** Returns the running Node, without unnecessary parts if a tool to strip it is installed. */
function slimNode(): string {
  if (stripper === undefined) {
    process.stderr.write('package: no "strip" of binutils is here, so the file is larger than it need be\n');
    return process.execPath;
  }
  const stripped = join(directory, 'node');
  strip(stripper, process.execPath, stripped);
  return stripped;
}
