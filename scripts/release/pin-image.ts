/**
 * Pins the distribution packages of the image in the versions offered today. Run and commit it when a release reports
 * that the pinned versions are no longer available, and for every security update.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Distribution, fieldOf, PINS_FILE, type Pins, type Processor } from './distribution.ts';
import { sha256Of } from './hash.ts';

/** Packages of the libraries that Node is linked with, and of the license of the last two. */
const NEEDED = ['libc6', 'libstdc++6', 'libgcc-s1', 'gcc-12-base'] as const;

const root = fileURLToPath(new URL('../..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'coffer-pins-'));
const release = readFileSync('/etc/os-release', 'utf8');
const member = (name: string): string => new RegExp(`^${name}="?([^"\n]*)`, 'm').exec(release)?.[1] ?? '';

const offered = (processor: Processor) =>
  new Distribution(processor, scratch).download(NEEDED).map((file) => ({
    name: fieldOf(file, 'Package'),
    version: fieldOf(file, 'Version'),
    sha256: sha256Of(file),
  }));

try {
  const pins: Pins = {
    distribution: { id: member('ID'), version: member('VERSION_ID') },
    packages: { amd64: offered('amd64'), arm64: offered('arm64') },
  };
  writeFileSync(join(root, PINS_FILE), `${JSON.stringify(pins, null, 2)}\n`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
