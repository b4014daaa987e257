import { deepEqual, equal, match } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Unavailable } from '../clients/client.ts';
import { type Bench, type Checks, releasedFile, version, wants } from './bench.ts';

interface Descriptor {
  readonly digest: string;
  readonly size: number;
  readonly platform?: { readonly architecture: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Image {
  readonly directory: string;
  json<Document>(descriptor: Descriptor): Document;
  /** The manifest of a processor. */
  manifest(architecture: string): { readonly config: Descriptor; readonly layers: readonly Descriptor[] };
}

const read = <Document>(path: string): Document => JSON.parse(readFileSync(path, 'utf8')) as Document;
const archive = (): string => releasedFile(`coffer-${version}-oci.tar`);

async function unpacked(bench: Bench): Promise<Image> {
  const directory = join(bench.directory, 'layout');
  mkdirSync(directory);
  await bench.run('tar', ['-xf', archive(), '-C', directory]);
  const path = ({ digest }: Descriptor): string => join(directory, 'blobs', digest.replace(':', '/'));
  const json = <Document>(descriptor: Descriptor): Document => {
    const bytes = readFileSync(path(descriptor));
    equal(`sha256:${createHash('sha256').update(bytes).digest('hex')}`, descriptor.digest);
    equal(bytes.length, descriptor.size);
    return JSON.parse(bytes.toString()) as Document;
  };
  const { manifests } = read<{ manifests: readonly [Descriptor] }>(join(directory, 'index.json'));
  // By which containerd calls it, and the programs that ask for a tag.
  deepEqual(manifests[0].annotations, {
    'org.opencontainers.image.ref.name': version,
    'io.containerd.image.name': `docker.io/library/coffer:${version}`,
  });
  const index = json<{ manifests: readonly Descriptor[] }>(manifests[0]);
  return {
    directory,
    json,
    manifest(architecture) {
      const found = index.manifests.find(({ platform }) => platform?.architecture === architecture);
      if (found === undefined) throw new Error(`the image has nothing for ${architecture}`);
      return json(found);
    },
  };
}

interface Config {
  readonly architecture: string;
  readonly config: {
    readonly User: string;
    readonly Env: readonly string[];
    readonly Entrypoint: readonly string[];
    readonly Volumes: object;
    readonly Healthcheck: { readonly Test: readonly string[] };
  };
  readonly rootfs: { readonly diff_ids: readonly string[] };
}

/** The file system of a container, and what it is started with. */
export async function container(
  bench: Bench,
  architecture: string,
): Promise<{ root: string; config: Config['config']; layerBytes: number }> {
  if (process.getuid?.() !== 0) throw new Unavailable('only root can unpack an image with its owners');
  const image = await unpacked(bench);
  const { config, layers } = image.manifest(architecture);
  const root = join(bench.directory, architecture);
  mkdirSync(root);
  for (const { digest } of layers) {
    await bench.run('tar', ['-xzpf', join(image.directory, 'blobs', digest.replace(':', '/')), '-C', root]);
  }
  const layerBytes = layers.reduce((sum, { size }) => sum + size, 0);
  return { root, config: image.json<Config>(config).config, layerBytes };
}

const jail = (root: string, user: string, command: readonly string[]): string[] => [
  '/usr/sbin/chroot',
  `--userspec=${user}`,
  root,
  ...command,
];

export const checks: Checks = {
  'each digest and size in the image is true, and both processors are in it': async (bench) => {
    const image = await unpacked(bench);
    for (const architecture of ['amd64', 'arm64']) {
      const { config, layers } = image.manifest(architecture);
      const { architecture: told, rootfs } = image.json<Config>(config);
      equal(told, architecture);
      for (const [index, { digest, size }] of layers.entries()) {
        const path = join(image.directory, 'blobs', digest.replace(':', '/'));
        equal(statSync(path).size, size);
        match(await bench.run('sha256sum', [path]), new RegExp(`^${digest.slice('sha256:'.length)} `));
        const plain = await bench.run('sh', ['-c', `gzip -dc ${path} | sha256sum`]);
        equal(`sha256:${plain.slice(0, 64)}`, rootfs.diff_ids[index]);
      }
    }
  },
  'skopeo reads the image for each processor, in both ways that programs load one': async (bench) => {
    await wants(bench, 'skopeo');
    for (const architecture of ['amd64', 'arm64']) {
      for (const name of [
        `oci-archive:${archive()}:${version}`,
        `docker-archive:${archive()}:coffer:${version}-${architecture}`,
      ]) {
        const told = await bench.run('skopeo', ['--override-arch', architecture, 'inspect', name]);
        equal((JSON.parse(told) as { Architecture: string }).Architecture, architecture);
      }
    }
  },
  'the image makes a store and serves it for a user that is not root, and knows its health': async (
    bench,
  ) => {
    const { root, config } = await container(bench, 'amd64');
    const environment = Object.fromEntries(config.Env.map((line) => line.split('=') as [string, string]));
    const coffer = async (words: readonly string[], more = {}): Promise<string> => {
      const [program = '', ...rest] = jail(root, config.User, [...config.Entrypoint, ...words]);
      return bench.run(program, rest, { ...environment, ...more });
    };
    equal(config.User, '65532:65532');
    deepEqual(config.Volumes, { '/data': {} });
    equal(await coffer(['version']), `coffer ${version}\n`);
    const secret = { COFFER_MASTER_KEY: (await coffer(['keygen'])).trim() };
    await coffer(['init'], secret);
    await coffer(['transit', 'keys', 'create', 'orders'], secret);
    equal(statSync(join(root, 'data/store')).uid, 65532);
    const [program = '', ...serve] = jail(root, config.User, [
      ...config.Entrypoint,
      'serve',
      '--listen',
      '127.0.0.1:0',
    ]);
    const child = spawn(program, serve, {
      env: { ...environment, ...secret },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    bench.finally(() => void child.kill('SIGKILL'));
    let address = '';
    child.stdout.on('data', (text: Buffer) => {
      address += text.toString();
    });
    while (!address.includes('\n')) {
      if (child.exitCode !== null) throw new Error('the server in the image ended');
      await pause(50, undefined, { signal: bench.signal });
    }
    address = address.trim();
    match(await bench.run('curl', ['-sS', '--fail', `${address}/v1/sys/health`]), /"sealed":false/);
    const [kind, ...test] = config.Healthcheck.Test;
    equal(kind, 'CMD');
    const check = (at: string): string[] =>
      jail(
        root,
        config.User,
        test.map((word) => word.replace(/^http:.*/, at)),
      );
    const [chroot = '', ...healthy] = check(address);
    await bench.run(chroot, healthy, environment);
    await bench.refused(chroot, check('http://127.0.0.1:1').slice(1), environment);
  },
  'the executable for arm64 finds all that it is linked with': async (bench) => {
    await wants(bench, 'qemu-aarch64-static', 'qemu-user-static');
    const { root } = await container(bench, 'arm64');
    const told = await bench.run('qemu-aarch64-static', [
      '-L',
      root,
      join(root, 'usr/bin/coffer'),
      'version',
    ]);
    equal(told, `coffer ${version}\n`);
  },
};
