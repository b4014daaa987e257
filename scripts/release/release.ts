/** What every part of a release is given. */
export interface Release {
  /** The checkout. */
  readonly root: string;
  /** Of Coffer, as in package.json. */
  readonly version: string;
  /** The time that every file in the release carries, in seconds since 1970: that of the commit, or SOURCE_DATE_EPOCH. */
  readonly epoch: number;
  /** Where the finished files go. */
  readonly directory: string;
  /** Where a part may leave what the next ones take up; gone afterwards. */
  readonly scratch: string;
}

/** Makes some of the files of a release: the same bytes whenever and wherever it is run on the same checkout. */
export type Part = (release: Release) => Promise<void>;

/** A system that there is a single executable for. */
export interface System {
  readonly platform: 'linux' | 'macos' | 'windows';
  readonly arch: 'x64' | 'arm64';
}

export const SYSTEMS: readonly System[] = [
  { platform: 'linux', arch: 'x64' },
  { platform: 'linux', arch: 'arm64' },
  { platform: 'macos', arch: 'arm64' },
  { platform: 'macos', arch: 'x64' },
  { platform: 'windows', arch: 'x64' },
];

/** What the files for a system begin with: `coffer-0.2.0-linux-x64`. */
export const nameFor = ({ version }: Release, { platform, arch }: System): string =>
  `coffer-${version}-${platform}-${arch}`;

/** The single executable for a system, before it is packed: in the scratch directory. */
export const executableFor = (release: Release, system: System): string =>
  `${release.scratch}/${nameFor(release, system)}${system.platform === 'windows' ? '.exe' : ''}`;
