import { describe, expect, it } from 'vitest';
import { upgradeText } from '../../src/cli/commands/storeless.ts';

const BY_HAND =
  'run install.sh of the new release again, or replace the executable (from a checkout: git pull && npm ci && npm run package, then copy dist/coffer)';

describe('a copy of the program', () => {
  it.each([
    ['/usr/lib/node_modules/coffer/bin/coffer', [], 'npm install -g ./coffer-VERSION.tgz'],
    [
      '/home/ada/app/node_modules/coffer/bin/coffer',
      ['/home/ada/app/package.json'],
      'npm install ./coffer-VERSION.tgz',
    ],
    ['/opt/homebrew/Cellar/coffer/0.2.0/bin/coffer', [], 'brew upgrade coffer'],
    ['/usr/bin/coffer', ['/usr/lib/systemd/system/coffer.service'], 'apt install ./coffer_VERSION_ARCH.deb'],
    ['/usr/bin/coffer', [], 'use the package manager that installed it'],
    ['/home/ada/coffer/bin/coffer', ['/home/ada/coffer/.git'], 'git pull, then npm ci'],
    ['/usr/bin/coffer', ['/.dockerenv'], 'pull a newer image'],
    ['/home/ada/.local/bin/coffer', [], BY_HAND],
    ['/usr/local/bin/coffer', ['/.dockerenv'], BY_HAND],
  ])('at %s, where there is %j, is upgraded by "%s"', (program, there: readonly string[], text) => {
    expect(upgradeText(program, (path) => there.includes(path))).toBe(text);
  });
});
