import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  Distribution,
  fieldOf,
  type Pinned,
  type Processor,
  pinnedPackages,
  pinsOf,
} from './distribution.ts';
import { madeFor } from './downloads.ts';
import { sha256 } from './hash.ts';
import { isLinux, type Part, type Release, type System } from './release.ts';
import { gzip, type Member, type Members, membersOf, tar } from './tarball.ts';

/** Architectures in the terms of images. */
const PROCESSORS: Readonly<Record<System['arch'], Processor>> = { x64: 'amd64', arm64: 'arm64' };

/** User ID of images without root. */
const USER = 65532;
const SECOND = 1_000_000_000;

/**
 * Files that are kept of a package: only its libraries and its license. Node does not need tables for character set
 * conversion.
 */
const KEPT = /^(?:usr\/)?lib(?:64)?\/|^usr\/share\/doc\/[^/]+(?:\/copyright)?$/;
const LEFT_OUT = /\/(?:gconv|audit)\//;

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

export const imageName = ({ version }: Pick<Release, 'version'>): string => `coffer-${version}-oci.tar`;

/**
 * Builds an image for both architectures as an archive of the OCI layout (opencontainers/image-spec 1.1,
 * image-layout.md), without a daemon; `docker load` reads its `manifest.json`. It contains the executable with its
 * libraries, and no shell.
 * @see docs/decisions/0228
 */
export const ociImage: Part = async (release) => {
  const blobs: Record<string, Member> = {};
  const store = (mediaType: string, content: Buffer): Descriptor => {
    const digest = sha256(content);
    blobs[`blobs/sha256/${digest}`] = { content };
    return { mediaType, digest: `sha256:${digest}`, size: content.length };
  };
  const json = (mediaType: string, document: object): Descriptor =>
    store(mediaType, Buffer.from(JSON.stringify(document)));

  const manifests: object[] = [];
  const loadable: object[] = [];
  for (const system of release.systems.filter(isLinux)) {
    const processor = PROCESSORS[system.arch];
    const plain = await tar(rootOf(release, system), release.epoch);
    const layer = store('application/vnd.oci.image.layer.v1.tar+gzip', gzip(plain));
    const config = json(
      'application/vnd.oci.image.config.v1+json',
      configOf(release, processor, sha256(plain)),
    );
    const manifest = json('application/vnd.oci.image.manifest.v1+json', {
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      config,
      layers: [layer],
      annotations: labelsOf(release),
    });
    manifests.push({ ...manifest, platform: platformOf(processor) });
    loadable.push({
      Config: pathOf(config),
      RepoTags: [`coffer:${release.version}-${processor}`],
      Layers: [pathOf(layer)],
    });
  }
  if (loadable.length === 0) {
    process.stdout.write('  none, because there is no executable for Linux in this release\n');
    return;
  }
  const index = json('application/vnd.oci.image.index.v1+json', {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests,
    annotations: labelsOf(release),
  });
  const named = {
    ...index,
    annotations: {
      'org.opencontainers.image.ref.name': release.version,
      // Annotation of containerd, and so of Docker, which otherwise expects the full name.
      'io.containerd.image.name': `docker.io/library/coffer:${release.version}`,
    },
  };
  const text = (document: object): Member => ({ content: Buffer.from(JSON.stringify(document)) });
  const layout: Members = {
    ...blobs,
    'oci-layout': text({ imageLayoutVersion: '1.0.0' }),
    'index.json': text({
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.index.v1+json',
      manifests: [named],
    }),
    'manifest.json': text(loadable),
  };
  writeFileSync(join(release.directory, imageName(release)), await tar(layout, release.epoch));
};

const pathOf = ({ digest }: Descriptor): string => `blobs/${digest.replace(':', '/')}`;

const platformOf = (processor: Processor): object =>
  processor === 'arm64'
    ? { architecture: 'arm64', os: 'linux', variant: 'v8' }
    : { architecture: 'amd64', os: 'linux' };

const labelsOf = ({ version, epoch }: Release): Readonly<Record<string, string>> => ({
  'org.opencontainers.image.title': 'coffer',
  'org.opencontainers.image.version': version,
  'org.opencontainers.image.licenses': 'Apache-2.0',
  'org.opencontainers.image.created': timeOf(epoch),
});

const timeOf = (epoch: number): string => new Date(epoch * 1000).toISOString().replace('.000Z', 'Z');

/** Returns the configuration. The health check is a Docker extension of the format, which other tools ignore. */
const configOf = (release: Release, processor: Processor, diffId: string): object => ({
  created: timeOf(release.epoch),
  ...platformOf(processor),
  config: {
    User: `${USER}:${USER}`,
    ExposedPorts: { '8200/tcp': {} },
    Env: ['PATH=/usr/bin', 'HOME=/data', 'COFFER_STORE=/data/store'],
    Entrypoint: ['/usr/bin/coffer'],
    Volumes: { '/data': {} },
    WorkingDir: '/data',
    Labels: labelsOf(release),
    Healthcheck: {
      Test: ['CMD', '/usr/bin/coffer', '--quiet', 'health', '--address', 'http://127.0.0.1:8200'],
      Interval: 30 * SECOND,
      Timeout: 5 * SECOND,
      StartPeriod: 10 * SECOND,
      Retries: 3,
    },
  },
  rootfs: { type: 'layers', diff_ids: [`sha256:${diffId}`] },
  history: [{ created: timeOf(release.epoch), created_by: 'scripts/release/oci.ts' }],
});

function rootOf(release: Release, system: System): Members {
  const processor = PROCESSORS[system.arch];
  const { packages, distribution } = pinsOf(release.root);
  const text = (...lines: readonly string[]): Member => ({
    content: Buffer.from(lines.map((line) => `${line}\n`).join('')),
  });
  const members: Members = {
    ...librariesOf(release, processor, packages[processor]),
    'etc/passwd': text('root:x:0:0:root:/:/nologin', `coffer:x:${USER}:${USER}:coffer:/data:/nologin`),
    'etc/group': text('root:x:0:', `coffer:x:${USER}:`),
    // Host names: the file first, as usual.
    'etc/nsswitch.conf': text('hosts: files dns'),
    'etc/os-release': text(`ID=${distribution.id}`, `VERSION_ID="${distribution.version}"`),
    'tmp/': { directory: 0o1777 },
    'data/': { directory: 0o700, owner: USER },
    'usr/bin/coffer': { content: readFileSync(madeFor(release, system).executable), executable: true },
    'usr/bin/age-plugin-coffer': { link: 'coffer' },
  };
  return { ...directoriesOf(Object.keys(members)), ...members };
}

/** Returns the directories of the paths, each before its content. */
const directoriesOf = (paths: readonly string[]): Members =>
  Object.fromEntries(
    paths.flatMap((path) =>
      path
        .split('/')
        .slice(0, -1)
        .map((_, index, parts): [string, Member] => [
          `${parts.slice(0, index + 1).join('/')}/`,
          { directory: 0o755 },
        ]),
    ),
  );

/** Unpacks the libraries of the distribution's packages, each with its metadata, which vulnerability scanners read. */
function librariesOf(release: Release, processor: Processor, pins: readonly Pinned[]): Members {
  const directory = join(release.scratch, `image-${processor}`);
  mkdirSync(directory, { recursive: true });
  const notes: Record<string, Member> = {};
  for (const file of pinnedPackages(pins, new Distribution(processor, release.scratch))) {
    execFileSync('dpkg-deb', ['--extract', file, directory]);
    const control = execFileSync('dpkg-deb', ['--field', file]);
    notes[`var/lib/dpkg/status.d/${fieldOf(file, 'Package')}`] = { content: control };
  }
  const kept = Object.entries(membersOf(directory)).filter(
    ([path]) => KEPT.test(path) && !LEFT_OUT.test(path),
  );
  return { ...Object.fromEntries(kept), ...notes };
}
