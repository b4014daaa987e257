import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addressFor, addressOfReleases } from './address.ts';
import { downloadsOf } from './downloads.ts';
import type { Part, Release } from './release.ts';
import { gzip, membersOf, tar } from './tarball.ts';

export const actionName = ({ version }: Pick<Release, 'version'>): string =>
  `coffer-action-${version}.tar.gz`;

/**
 * Builds the GitHub action as the files of a separate repository: those of `action/`, and `pinned`, which has the
 * location of this version and the SHA-256 hashes of its downloads. So a user who pins the action by its commit has
 * pinned the executables.
 * @see docs/decisions/0229
 */
export const gitHubAction: Part = async (release) => {
  const lines = [
    `${release.version}  version`,
    `${addressFor(addressOfReleases(), release)}  address`,
    ...downloadsOf(release).map(({ file, sha256 }) => `${sha256}  ${file}`),
  ];
  const members = {
    ...membersOf(join(release.root, 'action')),
    LICENSE: { content: readFileSync(join(release.root, 'LICENSE')) },
    pinned: { content: Buffer.from(lines.map((line) => `${line}\n`).join('')) },
  };
  writeFileSync(join(release.directory, actionName(release)), gzip(await tar(members, release.epoch)));
};
