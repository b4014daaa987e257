import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { utf8 } from '../../ground/bytes.ts';
import { attempt, failingAs } from '../../ground/errors.ts';
import { version as number } from '../../ground/version.ts';
import { diskError } from '../../store/backends/files/disk-errors.ts';
import { generateMasterKey } from '../../store/master-key.ts';
import { type OwnCommand, switching } from '../command.ts';
import { outPlaceOf } from '../files/out-file.ts';
import { jsonText, printResult } from '../files/output.ts';
import { COPY, copyOption, outOptions } from '../parse/operation-spec.ts';
import { clipboardFor } from '../processes/clipboard-for.ts';

export const keygen: OwnCommand = {
  options: [copyOption, ...outOptions],
  details:
    'A master key unlocks a store. It is 32 random bytes in base64. Set it in COFFER_MASTER_KEY, or write it to a file with --out and set COFFER_MASTER_KEY_FILE to that file.',
  examples: [
    ['export COFFER_MASTER_KEY=$(coffer keygen)', 'Put the key in the environment, e.g. in CI'],
    ['coffer keygen --out master.key', 'Write the key to a file that only you can read'],
  ],
  async run(session, { options }) {
    const file = await outPlaceOf(session, options);
    const clipboard = options.has(COPY) ? await clipboardFor(session) : undefined;
    const data = { master_key: generateMasterKey() };
    if (clipboard !== undefined) {
      await clipboard.copy(utf8(data.master_key));
      return;
    }
    const shape = { result: { member: 'master_key', as: 'text' } } as const;
    await printResult(session, data, shape, { file, keepBase64: true });
  },
};

export const version: OwnCommand = {
  options: [switching('licenses', 'Print third-party licenses instead of the version.')],
  details:
    'On a terminal, also says how to upgrade this installation. Otherwise the same as "coffer --version". With -o json, prints an object with only the version number.',
  examples: [
    ['coffer version', 'Print the version'],
    ['coffer version -o json', 'Print the version for a script'],
    ['coffer version --licenses | less', 'Show the full third-party licenses'],
  ],
  async run(session, { options }) {
    const {
      streams: { out },
      settings: { format },
    } = session;
    const isJson = format === 'json';
    if (options.has('licenses')) {
      const licenses = thirdPartyLicenses();
      out.write(isJson ? jsonText({ licenses }, out.isTerminal) : licenses);
    } else {
      out.write(isJson ? jsonText({ version: number }, out.isTerminal) : `coffer ${number}\n`);
      if (!isJson) session.remark(`To upgrade this copy: ${upgradeText(installedAs())}.`);
    }
  },
};

/** Returns the path of this program, by which it is known how it was installed. */
function installedAs(): string {
  const [, script = ''] = process.argv;
  const file = process.getBuiltinModule('node:sea').isSea() ? process.execPath : script;
  return attempt(() => realpathSync(file)) ?? file;
}

const LICENSES = 'THIRD-PARTY-LICENSES';

/** Returns the third-party licences. The bundler makes the file; in the single executable it is a compressed asset. */
function thirdPartyLicenses(): string {
  const sea = process.getBuiltinModule('node:sea');
  if (sea.isSea()) {
    const { brotliDecompressSync } = process.getBuiltinModule('node:zlib');
    return brotliDecompressSync(Buffer.from(sea.getRawAsset(`${LICENSES}.br`))).toString();
  }
  const [, program = ''] = process.argv;
  const file = join(dirname(realpathSync(program)), '..', 'dist', LICENSES);
  return failingAs(
    (error) => diskError(error, 'read', file),
    () => readFileSync(file, 'utf8'),
  );
}

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
  const [project] = path.split('/node_modules/coffer/');
  // The directory of packages for all projects has no such file beside it.
  if (project !== path)
    return `npm install ${exists(`${project}/package.json`) ? '' : '-g '}./coffer-VERSION.tgz`;
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
