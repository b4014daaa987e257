import { globSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine } from './client.ts';

/** Has packages of the distribution, unpacked in a folder and not installed: their services are not started. @returns the folder */
export async function debianPackages(
  machine: Machine,
  name: string,
  packages: readonly string[],
): Promise<string> {
  const directory = machine.folder(`debian/${name}`);
  for (const old of globSync('*.deb', { cwd: directory })) rmSync(join(directory, old));
  await machine.need('apt-get', ['download', '-q', ...packages], { directory });
  const root = machine.folder(`debian/${name}/root`);
  for (const file of globSync('*.deb', { cwd: directory })) {
    await machine.need('dpkg', ['-x', join(directory, file), root]);
  }
  return root;
}
