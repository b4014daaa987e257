/**
 * Makes `dist/coffer`, one file that runs with no Node on the machine, from the bundle and the Node binary of the
 * npm package `node`.
 *
 * The packager wants to download its Node from the project's site. It is given a cache of its own, under `dist`, in which
 * that version already lies, so that packaging works offline and what is shipped is the binary that was tested.
 */
import { execFileSync } from 'node:child_process';
import { constants, copyFileSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const home = join(root, 'dist/packager');
const platform = process.platform === 'darwin' ? 'macos' : process.platform === 'win32' ? 'win' : 'linux';
const release = `node-${process.version}-${process.platform}-${process.arch}`;
const nodeRange = `node${process.version.slice(1)}-${platform}-${process.arch}`;
const output = join(root, 'dist', platform === 'win' ? 'coffer.exe' : 'coffer');

fillCache();
execFileSync(process.execPath, [join(root, 'scripts/build.ts')], { stdio: 'inherit' });
rmSync(output, { force: true });
// An absolute entry without a package.json beside it selects the packager's plain mode: no walking of dependencies.
execFileSync(
  process.execPath,
  [
    join(root, 'node_modules/@yao-pkg/pkg/lib-es5/bin.js'),
    '--sea',
    'coffer.cjs',
    '-t',
    nodeRange,
    '-o',
    output,
  ],
  { cwd: join(root, 'dist'), stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, HOME: home } },
);
rmSync(home, { recursive: true, force: true });
process.stdout.write(`${output} (${Math.round(statSync(output).size / 2 ** 20)} MiB)\n`);

/** Lays the running Node where the packager looks, marked as downloaded and unpacked. */
function fillCache(): void {
  const cache = join(home, '.pkg-cache/sea');
  const bin = join(cache, release, 'bin');
  mkdirSync(bin, { recursive: true });
  copyFileSync(process.execPath, join(bin, 'node'), constants.COPYFILE_FICLONE);
  for (const marker of [`${release}.tar.gz`, `${release}.tar.gz.ok`]) writeFileSync(join(cache, marker), '');
  writeFileSync(join(bin, 'node.ok'), '');
}
