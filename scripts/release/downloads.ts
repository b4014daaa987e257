/** Downloads for users: an executable with its accompanying files, reproducible. */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { LICENSES } from '../licenses.ts';
import { sha256Of } from './hash.ts';
import { nameFor, type Release, type System } from './release.ts';
import { type Members, membersOf, tar } from './tarball.ts';

const run = promisify(execFile);
const FILE = 0o644;

/** Whether the download is a `.zip` with an `.exe`. */
const isWindows = ({ platform }: System): boolean => platform === 'windows';
const commandOf = (system: System): string => (isWindows(system) ? 'coffer.exe' : 'coffer');

/** Returns the file name of the download for a system. */
export const fileFor = (release: Pick<Release, 'version'>, system: System): string =>
  `${nameFor(release, system)}${isWindows(system) ? '.zip' : '.tar.xz'}`;

/** Returns the directory of an unpacked download, which has its name. */
const folderFor = (release: Release, system: System): string =>
  join(release.scratch, 'downloads', nameFor(release, system));

/** Returns the path of the single executable for a system, and creates its directory. */
export function placeForExecutable(release: Release, system: System): string {
  mkdirSync(folderFor(release, system), { recursive: true });
  return join(folderFor(release, system), commandOf(system));
}

/**
 * Packs the executable of a system: as `.tar.xz`, or `.zip` for Windows.
 * @param licenses text of all licenses, including Node's
 */
export async function pack(release: Release, system: System, licenses: string): Promise<void> {
  const folder = folderFor(release, system);
  writeFileSync(join(folder, LICENSES), licenses);
  const name = nameFor(release, system);
  const command = commandOf(system);
  const content = (path: string): { readonly content: Buffer } => ({ content: readFileSync(path) });
  const members: Members = {
    ...membersOf(join(release.root, 'completions'), `${name}/completions/`),
    ...Object.fromEntries(
      ['README.md', 'LICENSE'].map((file) => [`${name}/${file}`, content(join(release.root, file))]),
    ),
    [`${name}/${LICENSES}`]: content(join(folder, LICENSES)),
    [`${name}/${command}`]: { ...content(join(folder, command)), executable: true },
  };
  await (isWindows(system) ? zip : tarXz)(release, members, fileFor(release, system));
}

async function tarXz({ epoch, directory }: Release, members: Members, file: string): Promise<void> {
  const output = openSync(join(directory, file), 'w', FILE);
  // One thread: with several, xz divides its output into different blocks.
  const packer = spawn('xz', ['-6', '--threads=1'], { stdio: ['pipe', output, 'inherit'] });
  const ended = once(packer, 'close');
  packer.stdin?.end(await tar(members, epoch));
  const [status] = await ended;
  closeSync(output);
  if (status !== 0) throw new Error(`xz ended with ${status}`);
}

async function zip({ epoch, directory, scratch }: Release, members: Members, file: string): Promise<void> {
  const parent = join(scratch, 'downloads');
  const names = Object.keys(members).sort();
  for (const name of names) {
    const member = members[name];
    const path = join(parent, name);
    mkdirSync(dirname(path), { recursive: true });
    if (member !== undefined && 'content' in member) writeFileSync(path, member.content);
    chmodSync(path, FILE);
    utimesSync(path, epoch, epoch);
  }
  await run('zip', ['-q', '-X', '-D', '-9', join(directory, file), ...names], { cwd: parent });
}

/** Files built for a system. */
export interface Made {
  readonly executable: string;
  /** File with the licenses of everything in it. */
  readonly licenses: string;
}

/**
 * Returns the files that this run has built for a system, otherwise those that an earlier run has packed.
 * @throws if there are neither
 */
export function madeFor(release: Release, system: System): Made {
  const folder = folderFor(release, system);
  if (!existsSync(folder)) {
    const download = join(release.directory, fileFor(release, system));
    if (!existsSync(download)) throw new Error(`there is no ${download}: the part "executables" makes it`);
    mkdirSync(dirname(folder), { recursive: true });
    execFileSync('tar', ['-xJf', download, '-C', dirname(folder)]);
  }
  return { executable: join(folder, commandOf(system)), licenses: join(folder, LICENSES) };
}

export interface Download {
  readonly system: System;
  readonly file: string;
  /** SHA-256 hash of the file, in hex. */
  readonly sha256: string;
}

/** Returns the existing downloads of a release. */
export const downloadsOf = (release: Release): readonly Download[] =>
  release.systems.map((system) => {
    const file = fileFor(release, system);
    return { system, file, sha256: sha256Of(join(release.directory, file)) };
  });
