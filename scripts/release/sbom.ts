import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { packagesIn } from '../licenses.ts';
import { type Processor, pinsOf } from './distribution.ts';
import { nodeVersionFor } from './node-binaries.ts';
import { partsOfNode } from './node-parts.ts';
import type { Part, Release, System } from './release.ts';

interface Component {
  readonly type: 'application' | 'library' | 'platform' | 'container';
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly [member: string]: unknown;
}

interface Dependency {
  readonly ref: string;
  readonly dependsOn: readonly string[];
}

interface Inventory {
  readonly components: readonly Component[];
  readonly dependencies: readonly Dependency[];
}

/** Licenses as SPDX expressions, which the distribution does not provide. */
const LICENSES_OF_IMAGE: Readonly<Record<string, string>> = {
  'gcc-12-base': 'GPL-3.0-or-later WITH GCC-exception-3.1',
  libc6: 'LGPL-2.1-or-later',
  'libgcc-s1': 'GPL-3.0-or-later WITH GCC-exception-3.1',
  'libstdc++6': 'GPL-3.0-or-later WITH GCC-exception-3.1',
};

export const sbomName = ({ version }: Pick<Release, 'version'>): string => `coffer-${version}.cdx.json`;

/**
 * Builds the SBOM (CycloneDX 1.6, JSON) of everything published with Coffer: the packages in its bundles, Node with its
 * components, and the other parts of the image. Its serial number is derived from its content, so that it is
 * reproducible.
 */
export const billOfMaterials: Part = async (release) => {
  const packages = await bundled(release.root);
  const node = nodesOf(release);
  const image = imageOf(release);
  const coffer = {
    type: 'application',
    'bom-ref': 'coffer',
    name: 'coffer',
    version: release.version,
    ...licensed('Apache-2.0'),
    purl: `pkg:npm/coffer@${release.version}`,
  };
  const direct = packages.components.map((component) => component['bom-ref']);
  const content = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: new Date(release.epoch * 1000).toISOString().replace('.000Z', 'Z'),
      component: coffer,
    },
    components: [...packages.components, ...node.components, ...image.components],
    dependencies: [
      { ref: 'coffer', dependsOn: [...direct, ...node.dependencies.map(({ ref }) => ref)] },
      ...packages.dependencies,
      ...node.dependencies,
      ...image.dependencies,
    ],
  };
  const document = { ...content, serialNumber: numberOf(JSON.stringify(content)) };
  writeFileSync(join(release.directory, sbomName(release)), `${JSON.stringify(document, null, 2)}\n`);
};

/** Returns a UUID of version 8 (RFC 9562, section 5.8) from the hash of a text. */
function numberOf(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return `urn:uuid:${bytes.toString('hex').replace(/(.{8})(.{4})(.{4})(.{4})(.*)/, '$1-$2-$3-$4-$5')}`;
}

const licensed = (license: string): object => ({
  licenses: / (?:OR|WITH) /.test(license) ? [{ expression: license }] : [{ license: { id: license } }],
});

/** Returns the packages bundled in the command or the library, each with its dependencies. */
async function bundled(root: string): Promise<Inventory> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['src/main.ts', 'src/library.ts'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outdir: 'dist',
    metafile: true,
    write: false,
    logLevel: 'error',
  });
  const { packages: locked } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly integrity?: string }>>;
  };
  const folders = packagesIn(Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs)));
  const manifests = new Map(folders.map((folder) => [folder, manifestOf(join(root, folder))]));
  const components: Component[] = [];
  const dependencies: Dependency[] = [];
  for (const [folder, { name, version, license, dependencies: named = {} }] of manifests) {
    const purl = purlOf(name, version);
    const integrity = /^sha512-(.+)$/.exec(locked[folder]?.integrity ?? '')?.[1];
    if (integrity === undefined) throw new Error(`package-lock.json has no SHA-512 of ${folder}`);
    components.push({
      type: 'library',
      'bom-ref': purl,
      name,
      version,
      ...licensed(license),
      hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity, 'base64').toString('hex') }],
      purl,
    });
    const found = Object.keys(named).flatMap((wanted) => {
      const manifest = manifests.get(resolved(root, folder, wanted) ?? '');
      return manifest === undefined ? [] : [purlOf(manifest.name, manifest.version)];
    });
    dependencies.push({ ref: purl, dependsOn: found.sort() });
  }
  return { components, dependencies };
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const manifestOf = (directory: string): Manifest =>
  JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as Manifest;

const purlOf = (name: string, version: string): string => `pkg:npm/${name.replace('@', '%40')}@${version}`;

/** Resolves a dependency of a package in a directory: below it, next to it, or further up. */
function resolved(root: string, folder: string, name: string): string | undefined {
  for (let place = folder; place !== '.'; place = dirname(place)) {
    const candidate = join(place, 'node_modules', name);
    if (existsSync(join(root, candidate))) return candidate;
  }
  const candidate = join('node_modules', name);
  return existsSync(join(root, candidate)) ? candidate : undefined;
}

/**
 * Returns the Node of each executable. The npm package runs with the installed one. Only the running Node can tell its
 * components; within a line they hardly differ.
 */
function nodesOf({ systems }: Release): Inventory {
  const parts = partsOfNode(process.versions).map(
    (part): Component => ({
      type: 'library',
      'bom-ref': `node/${part.name}`,
      name: part.name,
      version: part.version,
      ...licensed(part.license),
      cpe: part.cpe === undefined ? undefined : `cpe:2.3:a:${part.cpe}:${part.version}:*:*:*:*:*:*:*`,
      purl: `pkg:generic/${part.name}@${part.version}`,
    }),
  );
  const versions = [...new Set(systems.map(nodeVersionFor))].sort();
  const nodes = versions.map(
    (version): Component => ({
      type: 'platform',
      'bom-ref': `node@${version}`,
      name: 'node',
      version,
      description: `Of the executables for ${systemsWith(systems, version)}.`,
      ...licensed('MIT'),
      cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
      purl: `pkg:generic/node@${version}`,
    }),
  );
  const inside = parts.map((part) => part['bom-ref']);
  return {
    components: [...nodes, ...parts],
    dependencies: nodes.map((node) => ({
      ref: node['bom-ref'],
      dependsOn: node.version === process.versions.node ? inside : [],
    })),
  };
}

const systemsWith = (systems: readonly System[], version: string): string =>
  systems
    .filter((system) => nodeVersionFor(system) === version)
    .map(({ platform, arch }) => `${platform} ${arch}`)
    .join(', ');

/** Returns the parts of the image other than the executable. */
function imageOf(release: Release): Inventory {
  const { distribution, packages } = pinsOf(release.root);
  const qualified = (processor: Processor): string =>
    `?arch=${processor}&distro=${distribution.id}-${distribution.version}`;
  const components = (['amd64', 'arm64'] as const).flatMap((processor) =>
    packages[processor].map(({ name, version, sha256 }): Component => {
      const license = LICENSES_OF_IMAGE[name];
      if (license === undefined) throw new Error(`under which license is ${name}?`);
      const purl = `pkg:deb/${distribution.id}/${encodeURIComponent(name)}@${encodeURIComponent(version)}${qualified(processor)}`;
      return {
        type: 'library',
        'bom-ref': purl,
        name,
        version,
        ...licensed(license),
        hashes: [{ alg: 'SHA-256', content: sha256 }],
        purl,
      };
    }),
  );
  const image: Component = {
    type: 'container',
    'bom-ref': 'image',
    name: 'coffer',
    version: release.version,
    description: 'The image for containers.',
  };
  const inside = components.map((component) => component['bom-ref']);
  return {
    components: [image, ...components],
    dependencies: [{ ref: 'image', dependsOn: ['coffer', ...inside] }],
  };
}
