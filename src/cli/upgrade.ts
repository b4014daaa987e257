import { existsSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';

/**
 * Says how a copy of this program is upgraded, for the way it was installed. No path of a package manager is asked for,
 * which would take seconds: each has its own directories.
 * @param program real path of the executable, or of the script for Node
 * @param exists whether a path exists
 */
export function upgradeText(program: string, exists: (path: string) => boolean = existsSync): string {
  const path = program.split(sep).join('/');
  const root = dirname(dirname(program));
  if (/\/_npx\//.test(path)) return 'npx uses the version that you name, e.g. npx ./coffer-VERSION.tgz';
  if (/\/node_modules\/coffer\//.test(path)) return 'npm install -g ./coffer-VERSION.tgz';
  if (/\/(?:Cellar|linuxbrew|homebrew)\//.test(path)) return 'brew upgrade coffer';
  if (/\/scoop\//i.test(path)) return 'scoop update coffer';
  if (/^\/usr\/bin\/coffer$/.test(path)) {
    // Only our Debian package has this file. lintian would take a path of dpkg's own database for a misuse of it.
    if (exists('/usr/lib/systemd/system/coffer.service')) return 'apt install ./coffer_VERSION_ARCH.deb';
    // The place in our image. Any container has the mark, also one where the program was installed by hand elsewhere.
    return exists('/.dockerenv') ? 'pull a newer image' : 'use the package manager that installed it';
  }
  if (exists(join(root, '.git'))) return 'git pull, then npm ci';
  return 'run install.sh of the new release again, or replace the executable (from a checkout: git pull && npm ci && npm run package, then copy dist/coffer)';
}
