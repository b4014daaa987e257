/**
 * Makes everything that is handed out, from this checkout, into `dist/release`: twice the same bytes from the same commit.
 * Nothing is published.
 *
 * The parts run in this order; each is a file of `scripts/release/`.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gitHubAction } from './release/action.ts';
import { debian } from './release/debian.ts';
import { executables } from './release/executables.ts';
import { installScript } from './release/install-script.ts';
import { npmPackage } from './release/npm.ts';
import { ociImage } from './release/oci.ts';
import { homebrewFormula, scoopManifest } from './release/package-managers.ts';
import type { Part, Release } from './release/release.ts';
import { billOfMaterials } from './release/sbom.ts';
import { sums } from './release/sums.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

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
  // Over all the others.
  sums,
};

const epoch = (): number => {
  const given = process.env['SOURCE_DATE_EPOCH'];
  return Number(given ?? execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }));
};

const directory = join(root, 'dist', 'release');
const scratch = mkdtempSync(join(tmpdir(), 'coffer-release-'));
const release: Release = { root, version, epoch: epoch(), directory, scratch };
// Some of the parts alone, by name: for whoever works on one. The later ones want what the earlier ones made.
const wanted = process.argv.slice(2);

try {
  rmSync(directory, { recursive: true, force: true });
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
