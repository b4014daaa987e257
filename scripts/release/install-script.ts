import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addressOfReleases } from './address.ts';
import { downloadsOf } from './downloads.ts';
import type { Part, Release } from './release.ts';
import { IDENTITY } from './sums.ts';

/**
 * Builds `install.sh`, a script for users without a package manager, with the hashes of this version and the public key
 * of all versions.
 */
export const installScript: Part = async (release) => {
  const sums = downloadsOf(release).map(({ file, sha256 }) => `${sha256}  ${file}`);
  const { allowedSigners, minisign } = publicKeys(release);
  const values: Readonly<Record<string, string>> = {
    VERSION: release.version,
    RELEASES: addressOfReleases(),
    SUMS: sums.join('\n'),
    ALLOWED_SIGNERS: allowedSigners,
    SIGNER: IDENTITY,
    MINISIGN_KEY: minisign,
  };
  const template = readFileSync(join(release.root, 'scripts/release/install.sh'), 'utf8');
  const script = template.replace(/@([A-Z_]+)@/g, (_, name: string) => quotable(values[name]));
  writeFileSync(join(release.directory, 'install.sh'), script, { mode: 0o755 });
};

/** Checks a value, which is put between single quotes. */
function quotable(value: string | undefined): string {
  if (value === undefined || value.includes("'"))
    throw new Error('a value for install.sh is missing, or has a quote in it');
  return value;
}

/** Returns the public keys for the signed hashes; empty for a temporary key, which no user should trust. */
function publicKeys({ root }: Release): { readonly allowedSigners: string; readonly minisign: string } {
  const key = process.env['COFFER_RELEASE_KEY'] ?? '';
  if (key === '') {
    process.stdout.write('  without a key to verify with; COFFER_RELEASE_KEY names the releaser’s\n');
    return { allowedSigners: '', minisign: '' };
  }
  const shown = (...format: readonly string[]): string =>
    execFileSync(
      process.execPath,
      [join(root, 'bin/coffer'), 'transit', 'keys', 'public', key, '--format', ...format],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
    ).trim();
  return {
    allowedSigners: shown('allowed-signers', '--identity', IDENTITY),
    // The first line is a comment.
    minisign: shown('minisign').split('\n').at(-1) ?? '',
  };
}
