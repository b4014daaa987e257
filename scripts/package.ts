/**
 * Makes `dist/coffer`, one file that runs with no Node on the machine, from the bundle and the Node that
 * runs this, stripped where that can be done.
 *
 * What V8 compiled for the frequent commands goes along, for
 * a quicker start (scripts/code-cache.ts).
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assetsWithCaches, build } from './executable-assets.ts';
import { licenseOfNode } from './licenses.ts';
import { HERE, makeExecutable } from './single-executable.ts';
import { strip, stripperFor } from './strip.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const output = join(root, 'dist', process.platform === 'win32' ? 'coffer.exe' : 'coffer');
const directory = mkdtempSync(join(tmpdir(), 'coffer-package-'));

try {
  build(root);
  const assets = assetsWithCaches(root, directory, licenseOfNode());
  rmSync(output, { force: true });
  await makeExecutable(join(root, 'scripts/executable.cjs'), output, assets, { ...HERE, node: slimNode() });
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
