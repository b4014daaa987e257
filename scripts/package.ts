/**
 * Makes `dist/coffer`, one file that runs with no Node on the machine, from the bundle and the Node binary of the
 * npm package `node`.
 *
 * The packager's command line downloads the Node that it packs; its function takes the one that is running, so that packaging
 * works offline and what is shipped is the binary that was tested. Compiled code goes along for a quicker start.
 */
import { execFileSync } from 'node:child_process';
import { rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
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

execFileSync(process.execPath, [join(root, 'scripts/build.ts')], { stdio: 'inherit' });
rmSync(output, { force: true });
await sea(join(root, 'dist/coffer.cjs'), {
  targets: [{ nodeRange: `node${process.version.slice(1)}`, platform, arch: process.arch, output }],
  nodePath: process.execPath,
  seaConfig: { useCodeCache: true, assets: { 'coffer-more.cjs': join(root, 'dist/coffer-more.cjs') } },
});
process.stdout.write(`${output} (${Math.round(statSync(output).size / 2 ** 20)} MiB)\n`);
