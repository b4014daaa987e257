/**
 * Builds `coffer_VERSION_ARCH.deb` for Debian, Ubuntu and derivatives: the single executable, completions, the manual,
 * systemd units, and a user for the service.
 * @see docs/decisions/0226
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LICENSES } from '../licenses.ts';
import { manualPages } from '../manual/pages.ts';
import { DebianTree, PLAIN, PROGRAM } from './debian-tree.ts';
import { madeFor } from './downloads.ts';
import { isLinux, type Part, type Release, type System } from './release.ts';
import { gzip } from './tarball.ts';

const ARCHITECTURES: Readonly<Record<System['arch'], string>> = { x64: 'amd64', arm64: 'arm64' };
const MAINTAINER = 'Coffer maintainers <maintainers@coffer.example>';
const SCRIPTS = ['postinst', 'prerm', 'postrm'] as const;
/** Configuration files, which upgrades do not overwrite. */
const CONFIGURATION: Readonly<Record<string, string>> = {
  'etc/default/coffer': 'coffer.default',
  'etc/logrotate.d/coffer': 'coffer.logrotate',
};
const UNITS: Readonly<Record<string, string>> = {
  'usr/lib/systemd/system/coffer.service': 'coffer.service',
  'usr/lib/systemd/user/coffer-agent@.socket': 'coffer-agent@.socket',
  'usr/lib/systemd/user/coffer-agent@.service': 'coffer-agent@.service',
};
const COMPLETIONS: Readonly<Record<string, string>> = {
  'usr/share/bash-completion/completions/coffer': 'coffer.bash',
  'usr/share/zsh/vendor-completions/_coffer': 'coffer.zsh',
  'usr/share/fish/vendor_completions.d/coffer.fish': 'coffer.fish',
};
const DOCUMENTS = 'usr/share/doc/coffer';
/**
 * Compression options of dpkg-deb. A higher level would need 65 MiB of memory instead of 9 to install. One thread: with
 * several, xz divides its output into different blocks.
 */
const COMPRESSION = ['-Zxz', '-z6', '--threads-max=1'] as const;

/** Dependencies as dpkg-shlibdeps of Debian 12 finds them in the executable; test/release compares them. */
export const LIBRARIES = ['libc6 (>= 2.34)', 'libgcc-s1 (>= 3.4)', 'libstdc++6 (>= 10.2)'] as const;

/** Builds a package for each Linux architecture with an executable. Needs `dpkg-deb`. */
export const debian: Part = async (release) => {
  for (const system of release.systems.filter(isLinux)) {
    await debianPackage(release, system);
  }
};

async function debianPackage(release: Release, system: System): Promise<void> {
  const { version, epoch, directory, scratch } = release;
  const architecture = ARCHITECTURES[system.arch];
  const tree = new DebianTree(join(scratch, `debian-${architecture}`), epoch);
  await fill(tree, release, system);
  tree.write('DEBIAN/control', control(version, architecture, tree.installedKiB()));
  tree.write('DEBIAN/md5sums', tree.md5sums());
  tree.write(
    'DEBIAN/conffiles',
    Object.keys(CONFIGURATION)
      .map((path) => `/${path}\n`)
      .join(''),
  );
  for (const name of SCRIPTS) tree.copy(`DEBIAN/${name}`, own(release, name), PROGRAM);
  tree.setTimes();
  const file = join(directory, `coffer_${version}_${architecture}.deb`);
  execFileSync('dpkg-deb', [...COMPRESSION, '--root-owner-group', '--build', tree.directory, file], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  chmodSync(file, PLAIN);
}

const own = ({ root }: Release, name: string): string => join(root, 'scripts/release/debian', name);

async function fill(tree: DebianTree, release: Release, system: System): Promise<void> {
  const { root, version, epoch } = release;
  const { executable, licenses } = madeFor(release, system);
  const gzipped = (content: string): Buffer => gzip(content, 9);
  const text = (path: string): string => readFileSync(join(root, path), 'utf8');
  tree.copy('usr/bin/coffer', executable, PROGRAM);
  tree.link('usr/bin/age-plugin-coffer', 'coffer');
  for (const [path, name] of Object.entries({ ...CONFIGURATION, ...UNITS }))
    tree.copy(path, own(release, name));
  for (const [path, name] of Object.entries(COMPLETIONS)) tree.copy(path, join(root, 'completions', name));
  for (const [name, page] of await manualPages({ version, epoch })) {
    tree.write(`usr/share/man/man${name.slice(-1)}/${name}.gz`, gzipped(page));
  }
  tree.copy('usr/share/lintian/overrides/coffer', own(release, 'lintian-overrides'));
  tree.copy(`${DOCUMENTS}/README.Debian`, own(release, 'README.Debian'));
  tree.write(`${DOCUMENTS}/copyright`, COPYRIGHT);
  tree.write(`${DOCUMENTS}/changelog.gz`, gzipped(changelog(version, epoch)));
  tree.write(`${DOCUMENTS}/CHANGELOG.md.gz`, gzipped(text('CHANGELOG.md')));
  tree.write(`${DOCUMENTS}/${LICENSES}.gz`, gzipped(readFileSync(licenses, 'utf8')));
}

const control = (version: string, architecture: string, installedKiB: number): string => `Package: coffer
Version: ${version}
Architecture: ${architecture}
Maintainer: ${MAINTAINER}
Installed-Size: ${installedKiB}
Depends: adduser, ${LIBRARIES.join(', ')}
Suggests: age, logrotate, p11-kit-modules
Section: utils
Priority: optional
Description: encryption with named keys, and an organization's tags, in one command
 Coffer keeps named, versioned keys in a store that is sealed on disk, and
 encrypts, decrypts, signs and verifies with them without ever showing a key:
 what Vault and OpenBao call transit, compatible with both. It encrypts values
 in .env, YAML and JSON files, and lends keys to ssh, git, age, sops and
 PKCS #11.
 .
 It also keeps the tags of an organization's workspaces, as Terraform
 Enterprise does. It needs no server; "coffer serve" is one.
`;

/** Formats the changelog for Debian's tools. The changes themselves are in the other file. */
const changelog = (version: string, epoch: number): string => `coffer (${version}) stable; urgency=medium

  * See CHANGELOG.md.gz in this directory.

 -- ${MAINTAINER}  ${new Date(epoch * 1000).toUTCString().replace('GMT', '+0000')}
`;

const COPYRIGHT = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: coffer
Comment: The program contains Node.js and works of others; the license of
 each is in THIRD-PARTY-LICENSES.gz in this directory.

Files: *
Copyright: 2026 The authors of Coffer
License: Apache-2.0
 On Debian systems the text of the license is in
 /usr/share/common-licenses/Apache-2.0.
`;
