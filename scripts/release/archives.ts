/** What people download: an executable with what belongs to it, the same bytes for the same files. */
import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, globSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { LICENSES } from '../licenses.ts';
import { executableFor, nameFor, type Release, type System } from './release.ts';

const run = promisify(execFile);
const FILE = 0o644;
const EXECUTABLE = 0o755;

const folderFor = (release: Release, system: System): string =>
  join(release.scratch, 'archives', nameFor(release, system));

/** The file with the licenses of all that is in an executable, that of its Node included, once it has been packed. */
export const licensesFor = (release: Release, system: System): string =>
  join(folderFor(release, system), LICENSES);

/**
 * Packs the executable of a system: as `.tar.xz`, for Windows as `.zip`.
 * @param licenses the text of all licenses, that of Node included.
 */
export async function pack(release: Release, system: System, licenses: string): Promise<void> {
  const name = nameFor(release, system);
  const folder = folderFor(release, system);
  const parent = dirname(folder);
  mkdirSync(folder, { recursive: true });
  const windows = system.platform === 'windows';
  copyFileSync(executableFor(release, system), join(folder, windows ? 'coffer.exe' : 'coffer'));
  for (const file of ['README.md', 'LICENSE']) copyFileSync(join(release.root, file), join(folder, file));
  cpSync(join(release.root, 'completions'), join(folder, 'completions'), { recursive: true });
  writeFileSync(licensesFor(release, system), licenses);
  await (windows ? zip : tar)(release, parent, name);
}

async function tar({ epoch, directory }: Release, parent: string, name: string): Promise<void> {
  chmodSync(join(parent, name, 'coffer'), EXECUTABLE);
  const same = ['--sort=name', `--mtime=@${epoch}`, '--owner=0', '--group=0', '--numeric-owner'];
  // One thread: with several, xz cuts its output into other blocks.
  const parameters = ['--format=ustar', '--mode=u=rwX,go=rX', ...same, '-I', 'xz -6 --threads=1'];
  await run('tar', [...parameters, '-C', parent, '-cf', join(directory, `${name}.tar.xz`), name]);
}

async function zip({ epoch, directory }: Release, parent: string, name: string): Promise<void> {
  const files = globSync(`${name}/**`, { cwd: parent, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(parent.length + 1))
    .sort();
  for (const file of files) {
    chmodSync(join(parent, file), FILE);
    utimesSync(join(parent, file), epoch, epoch);
  }
  await run('zip', ['-q', '-X', '-D', '-9', join(directory, `${name}.zip`), ...files], {
    cwd: parent,
    // It writes the time of the clock on the wall.
    env: { ...process.env, TZ: 'UTC' },
  });
}
