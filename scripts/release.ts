/**
 * Builds all published files from this checkout in `dist/release`: on the same release of Debian, the same bytes for
 * the same commit and signing key. Nothing is published.
 *
 * The parts run in this order; each is a file of `scripts/release/`. Single parts can be named: `npm run release debian
 * sums`. They use what an earlier run has left in `dist/release`.
 *
 * - COFFER_RELEASE_SYSTEMS=linux-x64,windows-x64: for a trial, only these
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { epochOf } from './epoch.ts';
import { gitHubAction } from './release/action.ts';
import { debian } from './release/debian.ts';
import { executables } from './release/executables.ts';
import { installScript } from './release/install-script.ts';
import { npmPackage } from './release/npm.ts';
import { ociImage } from './release/oci.ts';
import { homebrewFormula, scoopManifest } from './release/package-managers.ts';
import { type Part, type Release, wantedSystems } from './release/release.ts';
import { billOfMaterials } from './release/sbom.ts';
import { sums } from './release/sums.ts';

const PARTS: Readonly<Record<string, Part>> = {
  executables,
  debian,
  npm: npmPackage,
  oci: ociImage,
  sbom: billOfMaterials,
  homebrew: homebrewFormula,
  scoop: scoopManifest,
  action: gitHubAction,
  install: installScript,
  // Covers all other parts.
  sums,
};
/** Environment variables that would change parameters of the programs used. */
const PARAMETERS = [
  ...['TAR_OPTIONS', 'XZ_OPT', 'XZ_DEFAULTS', 'GZIP', 'ZIPOPT', 'UNZIP', 'NODE_OPTIONS'],
  ...['DPKG_DEB_THREADS_MAX', 'DPKG_DEB_COMPRESSOR_TYPE', 'DPKG_DEB_COMPRESSOR_LEVEL'],
];
const OTHERS_MAY_READ = 0o022;

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
const wanted = process.argv.slice(2);
const strangers = wanted.filter((name) => !(name in PARTS));
if (strangers.length > 0) {
  process.stderr.write(
    `release: there is no part "${strangers.join('", "')}"; there are ${Object.keys(PARTS).join(', ')}\n`,
  );
  process.exit(2);
}

for (const name of PARAMETERS) delete process.env[name];
Object.assign(process.env, { TZ: 'UTC', LC_ALL: 'C.UTF-8' });
process.umask(OTHERS_MAY_READ);

const directory = join(root, 'dist', 'release');
const scratch = mkdtempSync(join(tmpdir(), 'coffer-release-'));
try {
  const systems = wantedSystems();
  const release: Release = { root, version, epoch: epochOf(root), directory, scratch, systems };
  if (wanted.length === 0) rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  for (const [name, part] of Object.entries(PARTS)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    process.stdout.write(`${name}\n`);
    await part(release);
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
for (const name of readdirSync(directory)) {
  process.stdout.write(`${String(statSync(join(directory, name)).size).padStart(12)}  ${name}\n`);
}
