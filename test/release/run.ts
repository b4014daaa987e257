/**
 * Makes the release twice and looks at every form of the single executable: `npm run test:release`, on Debian for Linux x64. It takes half an hour on
 * two cores, and installs what it needs of Debian's packages.
 *
 * - COFFER_RELEASE_SYSTEMS=linux-x64,linux-arm64: some alone, as for the release itself
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readMachO } from './mach-o.ts';

const MIB = 2 ** 20;
const MAX_EXECUTABLE_BYTES = 104 * MIB;
const MAX_DOWNLOAD_BYTES = 28 * MIB;
const IDENTITY = 'coffer-release';
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
const PACKAGES = [
  'binutils',
  'binutils-aarch64-linux-gnu',
  'minisign',
  'openssh-client',
  'osslsigncode',
  'qemu-user-static',
  'unzip',
  'xz-utils',
  'zip',
];
const ARM_LIBRARIES = ['libc6', 'libstdc++6', 'libgcc-s1', 'libatomic1'].map((name) => `${name}:arm64`);

const root = fileURLToPath(new URL('../..', import.meta.url));
const released = join(root, 'dist/release');
const scratch = mkdtempSync(join(tmpdir(), 'coffer-test-release-'));
const environment: NodeJS.ProcessEnv = {
  ...process.env,
  COFFER_STORE: join(scratch, 'store'),
  COFFER_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  COFFER_RELEASE_KEY: 'release',
};
const tally = { passed: 0, failed: 0 };

const run = (program: string, parameters: readonly string[], directory = scratch): string =>
  execFileSync(program, parameters, {
    cwd: directory,
    env: environment,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });

const coffer = (...words: readonly string[]): string =>
  run(process.execPath, [join(root, 'bin/coffer'), ...words], released);

function check(title: string, look: () => void): void {
  try {
    look();
    tally.passed += 1;
    console.log(`ok   ${title}`);
  } catch (error) {
    tally.failed += 1;
    console.log(`FAIL ${title}\n${error instanceof Error ? error.message : String(error)}`);
  }
}

function must(condition: boolean, otherwise: string): void {
  if (!condition) throw new Error(otherwise);
}

/** Makes the release. @returns the SHA-256 of every file. */
function release(): ReadonlyMap<string, string> {
  execFileSync(process.execPath, [join(root, 'scripts/release.ts')], { env: environment, stdio: 'inherit' });
  return new Map(
    readdirSync(released).map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(released, name)))
        .digest('hex'),
    ]),
  );
}

/** Unpacks a download. @returns the path of the executable in it. */
function unpacked(archive: string): string {
  const windows = archive.endsWith('.zip');
  const path = join(released, archive);
  if (windows) run('unzip', ['-q', path]);
  else run('tar', ['-xJf', path]);
  const name = archive.replace(/\.(tar\.xz|zip)$/, '');
  const files = readdirSync(join(scratch, name)).sort().join();
  const executable = windows ? 'coffer.exe' : 'coffer';
  must(files === `LICENSE,README.md,THIRD-PARTY-LICENSES,${executable},completions`, `there is ${files}`);
  return join(scratch, name, executable);
}

/** Node sets the character after its name for the place when something is put into it. */
const mustBeFilled = (file: Buffer): void => must(file.includes(`${FUSE}:1`), 'nothing was put into it');

function lookAtMac(arch: string, path: string): void {
  const file = readFileSync(path);
  const { arch: found, segments, signature } = readMachO(file);
  must(found === arch, `it is for ${found}`);
  must(segments.includes('NODE_SEA'), `of its segments ${segments} none is NODE_SEA`);
  must(signature !== undefined && signature.bytes > 0, 'it has no signature');
  must(signature !== undefined && signature.at + signature.bytes <= file.length, 'its signature is cut off');
  mustBeFilled(file);
}

function lookAtWindows(path: string): void {
  const file = readFileSync(path);
  must(file.toString('latin1', 0, 2) === 'MZ', 'it is no program for Windows');
  must(file.includes(Buffer.from('NODE_SEA_BLOB', 'utf16le')), 'it has no resource NODE_SEA_BLOB');
  mustBeFilled(file);
  const said = spawnSync('osslsigncode', ['verify', path], { encoding: 'utf8' });
  must(`${said.stdout}${said.stderr}`.includes('No signature found'), 'it has the signature of another file');
}

/** Debian's C library for arm64, unpacked. */
function armLibraries(): string {
  const directory = join(scratch, 'arm64');
  const libraries = join(directory, 'root');
  mkdirSync(libraries, { recursive: true });
  run('dpkg', ['--add-architecture', 'arm64']);
  run('apt-get', ['update', '-q']);
  run('apt-get', ['download', '-q', ...ARM_LIBRARIES], directory);
  for (const name of readdirSync(directory).filter((file) => file.endsWith('.deb'))) {
    run('dpkg', ['-x', join(directory, name), libraries]);
  }
  return libraries;
}

function lookAt(archive: string): void {
  check(`${archive} has what belongs to it, and works`, () => {
    const executable = unpacked(archive);
    if (archive.includes('-macos-'))
      return lookAtMac(archive.includes('arm64') ? 'arm64' : 'x64', executable);
    if (archive.includes('-windows-')) return lookAtWindows(executable);
    const runner = archive.includes('-arm64.') ? ['/usr/bin/qemu-aarch64-static', '-L', armLibraries()] : [];
    run('bash', [join(root, '.ci/smoke'), executable, ...runner]);
    const { size } = statSync(executable);
    must(size <= MAX_EXECUTABLE_BYTES, `the executable has ${size} bytes`);
    const download = statSync(join(released, archive)).size;
    must(download <= MAX_DOWNLOAD_BYTES, `the download has ${download} bytes`);
  });
}

try {
  run('apt-get', ['install', '-y', '-q', ...PACKAGES]);
  execFileSync(process.execPath, [join(root, 'scripts/build.ts')], { stdio: 'inherit' });
  mkdirSync(released, { recursive: true });
  coffer('init', '--quiet');
  coffer('transit', 'keys', 'create', 'release', '--type', 'ed25519');
  const first = release();
  const second = release();
  check('a release has the same bytes when it is made once more', () => {
    const names = [...new Set([...first.keys(), ...second.keys()])];
    const different = names.filter((name) => first.get(name) !== second.get(name));
    must(first.size > 0 && different.length === 0, `these differ: ${different.join(', ')}`);
  });
  const list = join(released, 'SHA256SUMS');
  const signers = ['release.allowed_signers', '-I', IDENTITY, '-s', 'SHA256SUMS.sig'];
  check('the sums are those of the files', () => {
    run('sha256sum', ['--check', '--quiet', '--strict', list], released);
  });
  check('ssh-keygen takes the signature', () => {
    run('bash', ['-c', `ssh-keygen -Y verify -n file -f ${signers.join(' ')} < SHA256SUMS`], released);
  });
  check('minisign takes the signature', () => {
    run('minisign', ['-V', '-p', 'release.minisign.pub', '-m', 'SHA256SUMS'], released);
  });
  check('Coffer takes both signatures, and the sums', () => {
    coffer('verify', 'SHA256SUMS', 'SHA256SUMS.minisig', '--public-key', 'release.minisign.pub');
    const allowed = ['--allowed-signers', 'release.allowed_signers', '--identity', IDENTITY];
    coffer('verify', 'SHA256SUMS', '--manifest', ...allowed);
  });
  for (const name of readdirSync(released)) {
    if (/-(linux|macos|windows)-\w+\.(tar\.xz|zip)$/.test(name)) lookAt(name);
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
console.log(`${tally.passed} passed, ${tally.failed} failed`);
process.exitCode = tally.failed === 0 ? 0 : 1;
