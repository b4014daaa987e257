/** What people download: an executable with what belongs to it, the same bytes for the same files. */
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

/** The one whose download is a `.zip` with an `.exe` in it. */
const isWindows = ({ platform }: System): boolean => platform === 'windows';
const commandOf = (system: System): string => (isWindows(system) ? 'coffer.exe' : 'coffer');

/** The name of the download for a system. */
export const fileFor = (release: Pick<Release, 'version'>, system: System): string =>
  `${nameFor(release, system)}${isWindows(system) ? '.zip' : '.tar.xz'}`;

/** What lies in a download, as it is unpacked: a folder of the download's name. */
const folderFor = (release: Release, system: System): string =>
  join(release.scratch, 'downloads', nameFor(release, system));

/** Where the single executable for a system is to be made, in a folder that is there then. */
export function placeForExecutable(release: Release, system: System): string {
  mkdirSync(folderFor(release, system), { recursive: true });
  return join(folderFor(release, system), commandOf(system));
}

/**
 * Packs the executable of a system: as `.tar.xz`, for Windows as `.zip`.
 * @param licenses the text of all licenses, that of Node included.
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
  // One thread: with several, xz cuts its output into other blocks.
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

/** What was made for a system. */
export interface Made {
  readonly executable: string;
  /** The file with the licenses of all that is in it. */
  readonly licenses: string;
}

/**
 * What this run has made for a system, else what an earlier one has packed.
 * @throws when there is neither.
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
  /** Of the file, as hex. */
  readonly sha256: string;
}

/** The downloads of a release, as they lie in it already. */
export const downloadsOf = (release: Release): readonly Download[] =>
  release.systems.map((system) => {
    const file = fileFor(release, system);
    return { system, file, sha256: sha256Of(join(release.directory, file)) };
  });
