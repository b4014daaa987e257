import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addressFor, addressOfReleases } from './address.ts';
import { downloadsOf } from './downloads.ts';
import type { Part, Release } from './release.ts';
import { gzip, membersOf, tar } from './tarball.ts';

export const actionName = ({ version }: Pick<Release, 'version'>): string =>
  `coffer-action-${version}.tar.gz`;

/**
 * The action for GitHub, as the files of a repository of its own: those of `action/`, and `pinned`, which says where this version is and the
 * SHA-256 sums of its downloads. Who pins the action by its commit has pinned the executables.
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
