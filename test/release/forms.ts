/**
 * Every form for Linux x64, used as the README says and measured: the single executable, the Debian package, the npm package installed and by npx, the image.
 * The package is also installed on a Debian of its own, by `debian.ts`.
 */
import { ok } from 'node:assert/strict';
import { chownSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileFor } from '../../scripts/release/downloads.ts';
import { nameFor, type System, wantedSystems } from '../../scripts/release/release.ts';
import { type Bench, benchIn, type Checks, releasedFile, version } from './bench.ts';
import { unpacked } from './executables.ts';
import { useFiveMinutes } from './five-minutes.ts';
import { container } from './image.ts';
import { type Form, tableOf } from './measured.ts';

export const HERE: System = { platform: 'linux', arch: 'x64' };

type Installed = Omit<Form, 'title'>;

const sizeOf = (name: string): number => statSync(releasedFile(name)).size;
const TARBALL = `coffer-${version}.tgz`;

function emptyFolder(bench: Bench, name = 'work'): string {
  const directory = join(bench.directory, name);
  mkdirSync(directory, { recursive: true });
  return directory;
}

async function executable(bench: Bench): Promise<Installed> {
  const path = await unpacked(bench, HERE);
  const environment = { PATH: '/nowhere', HOME: emptyFolder(bench, 'home') };
  return {
    downloadBytes: sizeOf(fileFor({ version }, HERE)),
    directory: dirname(path),
    command: [path],
    environment,
    work: emptyFolder(bench),
  };
}

async function debianPackage(bench: Bench): Promise<Installed> {
  const name = `coffer_${version}_amd64.deb`;
  const directory = emptyFolder(bench, 'debian');
  await bench.run('dpkg-deb', ['--extract', releasedFile(name), directory]);
  const command = [join(directory, 'usr/bin/coffer')];
  const environment = { PATH: '/nowhere', HOME: emptyFolder(bench, 'home') };
  return {
    downloadBytes: sizeOf(name),
    directory,
    command,
    environment,
    work: emptyFolder(bench),
  };
}

/** With the Node that is installed, which the package needs and does not bring. */
async function npmPackage(bench: Bench): Promise<Installed> {
  const directory = emptyFolder(bench, 'prefix');
  const quietly = ['--no-audit', '--no-fund', '--offline', '--loglevel=error'];
  const tarball = releasedFile(TARBALL);
  await bench.run('npm', ['install', '--global', '--prefix', directory, ...quietly, tarball]);
  const PATH = `${dirname(process.execPath)}:/usr/bin:/bin`;
  return {
    downloadBytes: sizeOf(TARBALL),
    directory,
    command: [join(directory, 'bin/coffer')],
    environment: { PATH, HOME: emptyFolder(bench, 'home') },
    work: emptyFolder(bench),
  };
}

/** npx that is told to end leaves the command running, here the README's server. So all that it starts is ended with it. */
const WITH_ITS_CHILDREN = `setsid "$@" <&0 & child=$!; trap 'kill -- -"$child"' TERM; wait "$child"`;

async function byNpx(bench: Bench): Promise<Installed> {
  const directory = emptyFolder(bench, 'cache');
  const environment = {
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    HOME: emptyFolder(bench, 'home'),
    npm_config_cache: directory,
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
  };
  return {
    downloadBytes: sizeOf(TARBALL),
    directory,
    command: ['bash', '-c', WITH_ITS_CHILDREN, 'npx', 'npx', '--yes', `file:${releasedFile(TARBALL)}`],
    environment,
    work: emptyFolder(bench),
  };
}

/** Its root file system in a chroot, for the user that it says; its directory for the work has one path within and without. */
async function image(bench: Bench): Promise<Installed> {
  const { root: directory, config, layerBytes } = await container(bench, 'amd64');
  const [user = 0, group = 0] = config.User.split(':').map(Number);
  const work = join(bench.directory, 'work');
  const inside = join(directory, work);
  mkdirSync(inside, { recursive: true });
  chownSync(inside, user, group);
  symlinkSync(inside, work);
  const as = [`--setuid=${user}`, `--setgid=${group}`];
  return {
    downloadBytes: layerBytes,
    directory,
    command: ['/usr/bin/unshare', `--root=${directory}`, `--wd=${work}`, ...as, ...config.Entrypoint],
    environment: Object.fromEntries(config.Env.map((line) => line.split('=') as [string, string])),
    work,
  };
}

const FORMS: Readonly<Record<string, (bench: Bench) => Promise<Installed>>> = {
  'single executable': executable,
  'Debian package': debianPackage,
  'npm package, installed': npmPackage,
  'npm package, by npx': byNpx,
  'image (amd64) in a chroot': image,
};

/** A bench for one form among others, with a directory of its own. */
const benchOf = (bench: Bench, name: string): Bench => {
  const directory = join(bench.directory, name.replace(/\W+/g, '-'));
  mkdirSync(directory);
  return benchIn({ ...bench, directory }, bench.finally);
};

export const checks: Checks = {
  ...Object.fromEntries(
    Object.entries(FORMS).map(([name, install]) => [
      `the README's five minutes: ${name}`,
      async (bench: Bench) => useFiveMinutes(bench, await install(bench)),
    ]),
  ),
  'the Debian package has the executable of the download': async (bench) => {
    const { command } = await debianPackage(bench);
    const path = await unpacked(bench, HERE);
    ok(readFileSync(command[0] ?? '').equals(readFileSync(path)));
  },
  'how large each form is, and how long its commands take': async (bench) => {
    const forms: Form[] = [];
    for (const [name, install] of Object.entries(FORMS))
      forms.push({ title: name, ...(await install(benchOf(bench, name))) });
    console.log(await tableOf(bench, forms));
    const others = wantedSystems().map(async (system) => {
      const path = await unpacked(benchOf(bench, nameFor({ version }, system)), system);
      return [fileFor({ version }, system), statSync(path).size] as const;
    });
    for (const [file, bytes] of await Promise.all(others)) {
      console.log(`${file}: ${statSync(releasedFile(file)).size} bytes to download, ${bytes} the executable`);
    }
  },
};
