/** Hashes of all files of a release, and Coffer's own signatures of them. */
import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Part, Release } from './release.ts';

const LIST = 'SHA256SUMS';
/** Files that are not in the list: itself, and the keys to verify it with. */
const ABOUT = [LIST, 'release.allowed_signers', 'release.minisign.pub'] as const;
/** Identity of the key in the allowed signers file. */
export const IDENTITY = 'coffer-release';

/**
 * Signs with the key of the store that the environment names (COFFER_STORE, COFFER_ADDR and so on), under the name in
 * COFFER_RELEASE_KEY. Without a name, a temporary key is used.
 * @see docs/decisions/0223
 */
export const sums: Part = async (release) => {
  const named = process.env['COFFER_RELEASE_KEY'] ?? '';
  if (named !== '') return sign(release, named, process.env);
  const environment: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    HOME: release.scratch,
    COFFER_STORE: join(release.scratch, 'store'),
  };
  environment['COFFER_MASTER_KEY'] = coffer(release, environment, 'keygen').trim();
  coffer(release, environment, 'init', '--quiet');
  coffer(release, environment, 'transit', 'keys', 'create', 'throw-away', '--type', 'ed25519');
  sign(release, 'throw-away', environment);
  process.stdout.write(
    `The sums are signed with a key that nobody keeps, not with the releaser's: name that in COFFER_RELEASE_KEY.\n`,
  );
};

function sign(release: Release, key: string, environment: NodeJS.ProcessEnv): void {
  const { directory, version } = release;
  const path = (name: string): string => join(directory, name);
  for (const name of readdirSync(directory)) {
    if (ABOUT.some((about) => name.startsWith(about))) rmSync(path(name));
  }
  const files = readdirSync(directory).sort().map(path);
  if (files.length === 0)
    throw new Error('there is nothing in dist/release to sign: the other parts come first');
  const list = ['--key', key, '--manifest', path(LIST), '--force'];
  coffer(release, environment, 'sign', ...files, ...list);
  const comment = `Coffer ${version}`;
  coffer(release, environment, 'sign', ...files, ...list, '--format', 'minisign', '--comment', comment);
  const shown = (...parameters: readonly string[]): string =>
    coffer(release, environment, 'transit', 'keys', 'public', key, ...parameters);
  const signers = shown('--format', 'allowed-signers', '--identity', IDENTITY);
  writeFileSync(path('release.allowed_signers'), signers);
  writeFileSync(path('release.minisign.pub'), shown('--format', 'minisign'));
}

const coffer = ({ root }: Release, environment: NodeJS.ProcessEnv, ...words: readonly string[]): string =>
  execFileSync(process.execPath, [join(root, 'bin/coffer'), ...words], {
    env: environment,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
