/** Builds the single executables and their downloads. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { type Assets, assetsWithCaches, build, plainAssets } from '../executable-assets.ts';
import { COMPRESSED_LICENSES, sectionOfNode } from '../licenses.ts';
import { makeExecutable } from '../single-executable.ts';
import { strip, stripperFor } from '../strip.ts';
import { pack, placeForExecutable } from './downloads.ts';
import { type NodeBinary, nodeBinaryFor } from './node-binaries.ts';
import { isLinux, nameFor, type Part, type Release, type System } from './release.ts';
import { debian, requireTools } from './tools.ts';

const TOOLS: Readonly<Record<System['platform'], Readonly<Record<string, string>>>> = {
  linux: {
    'x86_64-linux-gnu-strip': debian('binutils'),
    'aarch64-linux-gnu-strip': debian('binutils-aarch64-linux-gnu'),
    tar: debian('tar'),
    xz: debian('xz-utils'),
  },
  macos: {
    rcodesign: '"cargo install apple-codesign@0.29.0 --locked" makes it',
    pip: debian('python3-pip'),
    unzip: debian('unzip'),
  },
  windows: { osslsigncode: debian('osslsigncode'), zip: debian('zip') },
};

/** Identifier in the signature for macOS. */
const IDENTIFIER = 'coffer';

export const executables: Part = async (release) => {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(
      'a release is made on Linux x64, because V8 compiles what goes into the executable for that',
    );
  }
  const { systems } = release;
  requireTools(Object.assign({}, ...systems.map(({ platform }) => TOOLS[platform])));
  build(release.root);
  const packing: Promise<void>[] = [];
  for (const system of systems) {
    const node = nodeBinaryFor(release, system);
    const assets = assetsFor(release, system, node);
    const onto = {
      platform: system.platform,
      node: prepared(release, system, node),
      foreign: !isHere(system),
    };
    const output = placeForExecutable(release, system);
    await makeExecutable(join(release.root, 'scripts/executable.cjs'), output, assets, onto);
    if (system.platform === 'macos') signForMac(output);
    packing.push(
      pack(release, system, brotliDecompressSync(readFileSync(assets[COMPRESSED_LICENSES] ?? '')).toString()),
    );
  }
  await Promise.all(packing);
};

const isHere = (system: System): boolean => isLinux(system) && system.arch === process.arch;

function assetsFor(release: Release, system: System, { version, license }: NodeBinary): Assets {
  const directory = join(release.scratch, 'assets', nameFor(release, system));
  mkdirSync(directory, { recursive: true });
  const section = sectionOfNode(version, license);
  if (!isHere(system)) return plainAssets(release.root, directory, section);
  if (version !== process.versions.node) {
    throw new Error(
      `this is Node ${process.versions.node}, and the one that is put in ${version}: V8 would refuse its cache`,
    );
  }
  return assetsWithCaches(release.root, directory, section);
}

/** Prepares a Node: without unnecessary parts, or without a signature that would become invalid. */
function prepared(release: Release, system: System, { path }: NodeBinary): string {
  const output = join(release.scratch, 'nodes', nameFor(release, system));
  if (isLinux(system)) {
    strip(stripperFor(system.arch) ?? '', path, output);
    return output;
  }
  if (system.platform === 'windows') {
    // The vendor's signature applies to the original file.
    execFileSync('osslsigncode', ['remove-signature', '-in', path, '-out', output], { stdio: 'pipe' });
    return output;
  }
  return path;
}

/**
 * Signs an executable for macOS. Apple silicon runs nothing unsigned; an ad-hoc signature is enough, unless a browser
 * has quarantined the file. postject removes Node's signature, which is no longer valid.
 */
function signForMac(file: string): void {
  const signed = `${file}.signed`;
  execFileSync('rcodesign', ['sign', '--binary-identifier', IDENTIFIER, file, signed], { stdio: 'pipe' });
  renameSync(signed, file);
}
