import { copyFileSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Client, checksOf, type Machine, type RunOptions } from './client.ts';

/** The module of this suite's programs in Go, which pins the libraries that they use. */
const here = fileURLToPath(new URL('.', import.meta.url));

/** The version of a library that this suite's programs use. */
function goVersion(module: string): string {
  const version = readFileSync(join(here, 'go.mod'), 'utf8')
    .split('\n')
    .map((line) => line.trim().split(' '))
    .find(([path]) => path === module)?.[1];
  if (version === undefined) throw new Error(`go.mod does not require ${module}`);
  return version.replace(/^v/, '');
}

/** Where Go keeps what it downloads and compiles; without the first flag, nobody could delete it. */
function options(machine: Machine, directory: string): RunOptions {
  return {
    directory,
    environment: {
      GOPATH: machine.folder('go'),
      GOBIN: machine.folder('go/bin'),
      GOCACHE: machine.folder('go-build'),
      GOFLAGS: [process.env['GOFLAGS'] ?? '', '-modcacherw', '-buildvcs=false'].join(' ').trim(),
    },
  };
}

const STRIPPED = '-ldflags=-s -w';

/** Has a command from the module proxy, such as `filippo.io/age/cmd/age@v1.3.1`. @returns its path */
export async function goInstall(machine: Machine, command: string, name: string): Promise<string> {
  await machine.need('go', ['install', STRIPPED, command], options(machine, machine.folder('go')));
  return join(machine.folder('go/bin'), name);
}

/** Builds the program in a folder of this suite. @returns its path */
async function goBuild(
  machine: Machine,
  folder: string,
  { tags = '', name = folder }: { readonly tags?: string; readonly name?: string } = {},
): Promise<string> {
  const program = join(machine.folder('go/bin'), name);
  const where = options(machine, here);
  // Downloads what the program is made of, and no more.
  await machine.need('go', ['list', '-mod=readonly', '-deps', `-tags=${tags}`, `./${folder}`], where);
  await machine.run(
    'go',
    ['build', '-mod=readonly', STRIPPED, `-tags=${tags}`, '-o', program, `./${folder}`],
    where,
  );
  return program;
}

/** Builds the program of a folder that is a module of its own, because what it needs would change what the others are built of. @returns its path */
export async function goModule(machine: Machine, folder: string): Promise<string> {
  const program = join(machine.folder('go/bin'), folder);
  const where = options(machine, join(here, folder));
  await machine.need('go', ['list', '-mod=readonly', '-deps', '.'], where);
  await machine.run('go', ['build', '-mod=readonly', STRIPPED, '-o', program, '.'], where);
  return program;
}

/** A client library for Go, with the program of a folder, which runs the check of a title. */
export const goLibrary = (
  folder: string,
  title: string,
  module: string,
  titles: readonly string[],
  build?: Parameters<typeof goBuild>[2],
): Client => ({
  title,
  version: goVersion(module),
  minutes: 10,
  install: (machine) => goBuild(machine, folder, build),
  checks: checksOf(titles, (program) => [program]),
});

/**
 * Has a command that can't be installed by its name alone, because its module replaces others. Its own `go.mod` and `go.sum` go on pinning what
 * it is built of; where it means a folder of its own repository, the published module of that version is taken.
 * @returns the path of the command
 */
export async function goInstallOfMain(
  machine: Machine,
  { module, version, main, name }: { module: string; version: string; main: string; name: string },
): Promise<string> {
  const directory = machine.folder(`go-mains/${name}`);
  const where = options(machine, directory);
  const downloaded = await machine.need('go', ['mod', 'download', '-json', `${module}@${version}`], {
    ...where,
    directory: machine.folder('go'),
  });
  const { Dir } = JSON.parse(downloaded) as { Dir: string };
  for (const file of ['go.mod', 'go.sum']) {
    rmSync(join(directory, file), { force: true });
    copyFileSync(join(Dir, file), join(directory, file));
  }
  const { Replace } = JSON.parse(await machine.run('go', ['mod', 'edit', '-json'], where)) as {
    Replace: { Old: { Path: string }; New: { Path: string } }[] | null;
  };
  const local = (Replace ?? []).filter(({ New }) => New.Path.startsWith('.'));
  await machine.run(
    'go',
    [
      'mod',
      'edit',
      '-module=coffer.test/main',
      `-require=${module}@${version}`,
      ...local.map(({ Old }) => `-dropreplace=${Old.Path}`),
    ],
    where,
  );
  const command = join(machine.folder('go/bin'), name);
  await machine.need('go', ['build', '-mod=mod', STRIPPED, '-o', command, main], where);
  return command;
}

/**
 * Compiles the tests of a published module, as they are.
 * @param inside the folder of the package in it; default: its root
 * @returns the program; beside it, `source` leads to the module, in which it finds its files
 */
export async function goTests(
  machine: Machine,
  module: string,
  version: string,
  inside = '',
): Promise<string> {
  const directory = machine.folder(`go-tests/${module.split('/').at(-1) ?? module}`);
  const where = options(machine, directory);
  const downloaded = await machine.need('go', ['mod', 'download', '-json', `${module}@${version}`], {
    ...where,
    directory: machine.folder('go'),
  });
  const { Dir } = JSON.parse(downloaded) as { Dir: string };
  const go = /^go \S+$/m.exec(readFileSync(join(Dir, 'go.mod'), 'utf8'))?.[0] ?? '';
  writeFileSync(
    join(directory, 'go.mod'),
    `module coffer.test/main\n\n${go}\n\nrequire ${module} ${version}\n`,
  );
  const program = join(directory, 'own.test');
  await machine.need('go', ['test', '-mod=mod', '-c', '-o', program, join(module, inside)], where);
  rmSync(join(directory, 'source'), { force: true });
  symlinkSync(Dir, join(directory, 'source'));
  return program;
}
