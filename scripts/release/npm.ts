import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { Part, Release } from './release.ts';
import { gzip, type Member, type Members, membersOf, tar } from './tarball.ts';

interface Manifest {
  readonly files: readonly string[];
  readonly [member: string]: unknown;
}

/** Files that npm adds to each package, regardless of `files`. */
const ALWAYS = ['README.md', 'LICENSE', 'CHANGELOG.md'] as const;
const IMPORTED = /(?:\bfrom |\bimport\()\s*["'](\.[^"']+)["']/g;

/**
 * Builds the package as npm would, `coffer-VERSION.tgz`, without the parts that only a checkout needs: scripts, and
 * packages already in the bundles. Installing it runs no scripts and fetches no other packages.
 */
export const npmPackage: Part = async (release) => {
  execFileSync(process.execPath, [join(release.root, 'scripts/build.ts')], { stdio: 'inherit' });
  const manifest = JSON.parse(readFileSync(join(release.root, 'package.json'), 'utf8')) as Manifest;
  const members = {
    ...Object.assign({}, ...[...ALWAYS, ...manifest.files].map((path) => shipped(release, path))),
    ...declarations(join(release.root, 'dist/types'), 'library.d.ts', 'package/dist/types/'),
    'package/package.json': { content: Buffer.from(`${JSON.stringify(published(manifest), null, 2)}\n`) },
  };
  writeFileSync(join(release.directory, npmName(release)), gzip(await tar(members, release.epoch)));
};

export const npmName = ({ version }: Pick<Release, 'version'>): string => `coffer-${version}.tgz`;

function published(manifest: Manifest): object {
  const { scripts, dependencies, devDependencies, ...rest } = manifest;
  return rest;
}

function shipped({ root }: Release, path: string): Members {
  const place = join(root, path);
  if (path === 'dist/types') return {};
  if (statSync(place).isDirectory()) return membersOf(place, `package/${path}/`);
  return { [`package/${path}`]: { content: readFileSync(place) } };
}

/**
 * Collects the declarations that are imported by others; the compiler writes one for each source. They refer to each
 * other by the names of the JavaScript files.
 */
function declarations(directory: string, entry: string, under: string): Members {
  const found: Record<string, Member> = {};
  const add = (file: string): void => {
    const name = `${under}${relative(directory, file)}`;
    if (name in found) return;
    const text = readFileSync(file, 'utf8');
    found[name] = {
      content: Buffer.from(text.replace(IMPORTED, (all) => all.replace(/\.ts(["'])$/, '.js$1'))),
    };
    for (const [, specifier = ''] of text.matchAll(IMPORTED)) {
      add(resolve(dirname(file), specifier.replace(/\.ts$/, '.d.ts')));
    }
  };
  add(join(directory, entry));
  return found;
}
