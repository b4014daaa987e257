/**
 * Shows that a release is what it should be: `npm run test:release`, as root on Debian 12 for x64. It makes the release twice and compares all bytes, looks at
 * every form of it and uses those for Linux (`packages.ts`), installs the Debian package on a fresh Debian (`debian.ts`), and has the manual read (`manual.ts`).
 * It takes an hour on two cores, installs what it needs of Debian's packages, and compiles what signs for macOS if that is not there.
 *
 * - COFFER_RELEASE_SYSTEMS=linux-x64,linux-arm64: these executables alone, as for the release itself
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sha256Of } from '../../scripts/release/hash.ts';
import { wantedSystems } from '../../scripts/release/release.ts';
import { startServerProcess } from '../servers/server-process.ts';
import { root } from './bench.ts';

/** What the release and all that looks at it want of Debian. */
const PACKAGES = [
  ...[
    'binutils',
    'binutils-aarch64-linux-gnu',
    'curl',
    'debootstrap',
    'dpkg-dev',
    'lintian',
    'man-db',
    'mandoc',
  ],
  ...[
    'minisign',
    'openssh-client',
    'osslsigncode',
    'python3-pip',
    'python3-venv',
    'qemu-user-static',
    'ruby',
  ],
  ...['shellcheck', 'skopeo', 'unzip', 'wget', 'xz-utils', 'zip'],
];
/** As a stranger's machine may be, whose files nobody else may read. */
const ELSEWHERE = {
  TZ: 'XYZ-11',
  LC_ALL: 'tr_TR.UTF-8',
  XZ_OPT: '-0',
  TAR_OPTIONS: '--format=pax',
  UMASK: '077',
};

const scratch = mkdtempSync(join(tmpdir(), 'coffer-test-release-'));
const store = join(scratch, 'store');
const environment: NodeJS.ProcessEnv = {
  ...process.env,
  COFFER_STORE: store,
  COFFER_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  COFFER_RELEASE_KEY: 'release',
};
const tally = { passed: 0, failed: 0 };

function tell(title: string, passed: boolean): void {
  tally[passed ? 'passed' : 'failed'] += 1;
  console.log(`${passed ? 'ok  ' : 'FAIL'} ${title}`);
}

const coffer = (...words: readonly string[]): string =>
  execFileSync(process.execPath, [join(root, 'bin/coffer'), ...words], {
    env: environment,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });

/** Makes the release of a checkout, or parts of it anew. @returns the SHA-256 of every file. */
function release(
  checkout: string,
  env: NodeJS.ProcessEnv,
  parts: readonly string[] = [],
): ReadonlyMap<string, string> {
  const made = ['-c', 'umask "$UMASK" && exec npm run -s release "$@"', 'release', ...parts];
  execFileSync('sh', made, { cwd: checkout, env, stdio: ['ignore', 'inherit', 'inherit'] });
  const directory = join(checkout, 'dist/release');
  return new Map(readdirSync(directory).map((name) => [name, sha256Of(join(directory, name))]));
}

/** Whether two releases have the same files; which ones are not the same is shown. */
function same(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean {
  const names = [...new Set([...one.keys(), ...other.keys()])].sort();
  const different = names.filter((name) => one.get(name) !== other.get(name));
  for (const name of different) console.log(`     another one: ${name}`);
  return one.size > 0 && different.length === 0;
}

/** What is under version control here as it is now, and the packages. */
function copyOfCheckout(): string {
  const copy = join(scratch, 'some where else');
  const listed = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', listed, { cwd: root, encoding: 'utf8' }).split('\0');
  for (const name of files.filter((file) => file !== '')) {
    mkdirSync(dirname(join(copy, name)), { recursive: true });
    cpSync(join(root, name), join(copy, name));
  }
  execFileSync('cp', ['--archive', join(root, 'node_modules'), join(copy, 'node_modules')]);
  return copy;
}

/** Signed with the same key, but by a server that has it. */
async function releaseElsewhere(): Promise<ReadonlyMap<string, string>> {
  const token = coffer('token', 'create', '--policy', 'root').trim();
  const serve = [join(root, 'bin/coffer'), 'serve', '--listen', '127.0.0.1:0'];
  const server = await startServerProcess(serve, { environment });
  try {
    const { COFFER_STORE, COFFER_MASTER_KEY, ...rest } = environment;
    const epoch = execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }).trim();
    return release(copyOfCheckout(), {
      ...rest,
      ...ELSEWHERE,
      SOURCE_DATE_EPOCH: process.env['SOURCE_DATE_EPOCH'] ?? epoch,
      COFFER_ADDR: server.address,
      COFFER_TOKEN: token,
    });
  } finally {
    await server.stop();
  }
}

/** @returns whether a script beside this one ended well; what it prints is shown. */
const passes = (script: string): boolean =>
  spawnSync(process.execPath, [join(root, 'test/release', script)], { stdio: 'inherit' }).status === 0;

try {
  execFileSync('apt-get', ['install', '-y', '-q', ...PACKAGES], { stdio: ['ignore', 'ignore', 'inherit'] });
  const forMac = wantedSystems().some(({ platform }) => platform === 'macos');
  if (forMac && spawnSync('which', ['rcodesign']).status !== 0) {
    execFileSync('cargo', ['install', 'apple-codesign@0.29.0', '--locked'], { stdio: 'inherit' });
  }
  execFileSync(process.execPath, [join(root, 'scripts/build.ts')], { stdio: 'inherit' });
  coffer('init', '--quiet');
  coffer('transit', 'keys', 'create', 'release', '--type', 'ed25519');
  const first = release(root, { ...environment, UMASK: '022' });
  for (const [name, sum] of first) console.log(`     ${sum}  ${name}`);
  const anew = release(root, { ...environment, UMASK: '022' }, ['npm', 'sbom', 'install', 'sums']);
  tell('parts that are made anew have the same bytes, and leave the others', same(first, anew));
  tell(
    `the ${first.size} files of a release have the same bytes when they are made once more, elsewhere`,
    same(first, await releaseElsewhere()),
  );
  for (const script of ['packages.ts', 'debian.ts', 'manual.ts']) tell(script, passes(script));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
console.log(`release: ${tally.passed} passed, ${tally.failed} failed`);
process.exitCode = tally.failed === 0 ? 0 : 1;
