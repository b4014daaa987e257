import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Client, checksOf, type Machine } from './client.ts';

const python = (folder: string): string => join(folder, 'bin/python');

/** Has packages from PyPI in a folder of their own. @returns the folder */
export async function installPackage(machine: Machine, name: string, version: string): Promise<string> {
  const folder = machine.folder(`${name}-${version}`);
  await machine.need('python3', ['-m', 'venv', folder]);
  const requirements = join(folder, 'requirements.txt');
  writeFileSync(requirements, `${name}==${version}\n`);
  const pip = ['-m', 'pip', '--disable-pip-version-check', '-q', 'install', '-r', requirements];
  await machine.need(python(folder), pip);
  return folder;
}

/** A client library for Python, with the `program.py` of a folder of this suite, which runs the check of a title. */
export const pythonLibrary = (
  folder: string,
  title: string,
  version: string,
  titles: readonly string[],
): Client => ({
  title,
  version,
  minutes: 5,
  secure: true,
  install: (machine) => installPackage(machine, folder, version),
  checks: checksOf(titles, (installed) => [
    python(installed),
    fileURLToPath(new URL(`${folder}/program.py`, import.meta.url)),
  ]),
});
