/**
 * Tries the Debian package of a release on a fresh minimal Debian: installed, used as the README has it, served, upgraded, removed, purged. It needs
 * root, minutes, and the archive of Debian.
 *
 *     node test/release/debian.ts [FILE.deb]
 *
 * COFFER_DEBIAN_ROOT may name what debootstrap made of Debian 12 before; a copy of it is used then.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LIBRARIES } from '../../scripts/release/debian.ts';
import { fiveMinutes } from './five-minutes.ts';

const here = fileURLToPath(new URL('../..', import.meta.url));
const [built] = globSync('dist/release/coffer_*_amd64.deb', { cwd: here });
const file = process.argv[2] ?? (built === undefined ? undefined : join(here, built));
if (file === undefined) throw new Error('there is no package: run "npm run release" first');
const scratch = mkdtempSync(join(tmpdir(), 'coffer-debian-'));
const root = join(scratch, 'root');

try {
  compareLibraries(file);
  lint(file);
  fresh(root);
  copyFileSync(file, join(root, 'tmp/coffer.deb'));
  makeEarlier(file, join(root, 'tmp/earlier.deb'));
  for (const [to, from] of [
    ['debian.sh', 'test/release/debian.sh'],
    ['README.md', 'README.md'],
  ] as const) {
    copyFileSync(join(here, from), join(root, 'tmp', to));
  }
  writeFileSync(join(root, 'tmp/five-minutes.sh'), fiveMinutes());
  const inside = ['chroot', root, 'bash', '/tmp/debian.sh'];
  const { status } = spawnSync(
    'unshare',
    ['--mount', '--pid', '--fork', '--kill-child', `--mount-proc=${join(root, 'proc')}`, ...inside],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  process.stdout.write(`debian: ${status === 0 ? 'passed' : 'FAILED'}\n`);
  process.exitCode = status === 0 ? 0 : 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** A Debian 12 with what is essential, and with curl, which the README uses. */
function fresh(directory: string): void {
  const ready = process.env['COFFER_DEBIAN_ROOT'];
  if (ready !== undefined) {
    execFileSync('cp', ['--archive', ready, directory]);
    return;
  }
  if (spawnSync('which', ['debootstrap']).status !== 0) {
    execFileSync('apt-get', ['install', '-y', '-q', 'debootstrap'], { stdio: 'inherit' });
  }
  const { status, stdout } = spawnSync(
    'debootstrap',
    ['--variant=minbase', '--include=curl', 'bookworm', directory],
    {
      encoding: 'utf8',
    },
  );
  if (status !== 0) throw new Error(`debootstrap ended with ${status}: ${stdout.slice(-1000)}`);
}

/** Puts the same package under a lower version into a file: what an upgrade begins with. */
function makeEarlier(packed: string, output: string): void {
  const tree = join(scratch, 'earlier');
  execFileSync('dpkg-deb', ['--raw-extract', packed, tree]);
  const control = join(tree, 'DEBIAN/control');
  writeFileSync(control, readFileSync(control, 'utf8').replace(/^Version: .*$/m, '$&~earlier'));
  execFileSync('dpkg-deb', ['-Znone', '--root-owner-group', '--build', tree, output], { stdio: 'ignore' });
}

/** @throws for what Debian's own checker takes for a fault, and the package does not say why it must be so. */
function lint(packed: string): void {
  const { status, stdout, stderr } = spawnSync('lintian', ['--fail-on', 'error,warning', packed], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
  });
  if (status !== 0) throw new Error(`lintian ended with ${status}\n${stdout}${stderr}`);
  process.stdout.write('ok  lintian finds nothing\n');
}

/** @throws when the executable wants other libraries than the package says. */
function compareLibraries(packed: string): void {
  const unpacked = join(scratch, 'unpacked');
  execFileSync('dpkg-deb', ['-x', packed, unpacked]);
  mkdirSync(join(unpacked, 'debian'));
  writeFileSync(join(unpacked, 'debian/control'), 'Source: coffer\n\nPackage: coffer\nArchitecture: any\n');
  const found = execFileSync('dpkg-shlibdeps', ['-O', 'usr/bin/coffer'], {
    cwd: unpacked,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const wanted = `shlibs:Depends=${LIBRARIES.join(', ')}`;
  if (found.trim() !== wanted) throw new Error(`dpkg-shlibdeps says ${found.trim()}, the package ${wanted}`);
  process.stdout.write('ok  the libraries that the executable wants\n');
}
